// Error and Result: how every function of the core reports failure.
#pragma once

#include "base/export.h"

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace torchere {

/// The canonical codes of absl, gRPC and PJRT, with their numbers.
enum class ErrorCode : int {
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

/// The code's name as gRPC spells it, for example "INVALID_ARGUMENT".
TORCHERE_EXPORT const char *errorCodeName(ErrorCode code);

/// What went wrong. `message` reads `[subject] what is wrong: got X, expected Y`, where the subject is an op
/// ("aten.cat.default"), an argument or a file; `where` is the user's place ("model.py:31 in
/// encoder.layer.0") and is empty when there is none.
struct Error {
  ErrorCode code = ErrorCode::Unknown;
  std::string message;
  std::string where;

  /// The message, followed by "; at <where>" when the place is known.
  TORCHERE_EXPORT std::string text() const;
};

template <class T> using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::NotFound, "[{}] no such file", path);`
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

template <class... Args>
tl::unexpected<Error> invalidArgument(fmt::format_string<Args...> format, Args &&...args) {
  return fail(ErrorCode::InvalidArgument, format, std::forward<Args>(args)...);
}

#define TORCHERE_CONCAT_(a, b) a##b
#define TORCHERE_CONCAT(a, b) TORCHERE_CONCAT_(a, b)

/// TORCHERE_TRY(status): returns the error of a Status (or of a Result whose value is not wanted).
#define TORCHERE_TRY(expression)                                                                             \
  do {                                                                                                       \
    if (auto torchereStatus = (expression); !torchereStatus)                                                 \
      return tl::unexpected<::torchere::Error>(std::move(torchereStatus).error());                           \
  } while (false)

/// TORCHERE_ASSIGN(auto x, result): x is the value, or the error is returned.
#define TORCHERE_ASSIGN(declaration, expression)                                                             \
  TORCHERE_ASSIGN_(TORCHERE_CONCAT(torchereResult, __COUNTER__), declaration, expression)
#define TORCHERE_ASSIGN_(temporary, declaration, expression)                                                 \
  auto temporary = (expression);                                                                             \
  if (!temporary)                                                                                            \
    return tl::unexpected<::torchere::Error>(std::move(temporary).error());                                  \
  declaration = *std::move(temporary)

} // namespace torchere
