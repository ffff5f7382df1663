// The edge of the C ABI: errors and exceptions become codes, with the message kept for the thread.
#pragma once

#include "base/error.h"

#include <torchere/torchere.h>

#include <exception>
#include <new>

namespace torchere::capi {

/// Keeps the error's text as the thread's message, and gives its code.
torchere_status keepError(const Error &error) noexcept;
torchere_status keepError(ErrorCode code, const char *message) noexcept;

/// Runs the body of a function of the ABI, which returns a Status.
template <class Body> torchere_status guarded(Body body) noexcept {
  try {
    Status status = body();
    return status ? TORCHERE_OK : keepError(status.error());
  } catch (const std::bad_alloc &) {
    return keepError(ErrorCode::ResourceExhausted, "[memory] none left");
  } catch (const std::exception &exception) {
    return keepError(ErrorCode::Internal, exception.what());
  } catch (...) {
    return keepError(ErrorCode::Internal, "[torchere] an exception of unknown kind");
  }
}

} // namespace torchere::capi
