// Messages of failed functions, and names of codes, versions and dtypes.
#include "capi/failure.h"

#include "capi/dtypes.h"

#include <string>

namespace torchere::capi {

static std::string &threadMessage() {
  static thread_local std::string message;
  return message;
}

torchere_status keepError(ErrorCode code, const char *message) noexcept {
  try {
    threadMessage() = message;
  } catch (...) { // no memory for the text
    threadMessage().clear();
  }
  return static_cast<torchere_status>(code);
}

torchere_status keepError(const Error &error) noexcept {
  try {
    return keepError(error.code, error.text().c_str());
  } catch (...) {
    return keepError(error.code, "");
  }
}

} // namespace torchere::capi

using namespace torchere;
using namespace torchere::capi;

const char *torchere_error_message(void) {
  return threadMessage().c_str();
}

const char *torchere_status_name(torchere_status status) {
  if (status == TORCHERE_OK)
    return "OK";
  bool isCode = status >= TORCHERE_CANCELLED && status <= TORCHERE_UNAUTHENTICATED;
  return errorCodeName(isCode ? static_cast<ErrorCode>(status) : ErrorCode::Unknown);
}

const char *torchere_version(void) {
  return TORCHERE_VERSION;
}

size_t torchere_dtype_size(torchere_dtype dtype) {
  std::optional<DType> known = dtypeOf(dtype);
  return known ? byteSize(*known) : 0;
}

const char *torchere_dtype_name(torchere_dtype dtype) {
  std::optional<DType> known = dtypeOf(dtype);
  return known ? dtypeInfo(*known).torchName.data() : ""; // the table's names are literals
}
