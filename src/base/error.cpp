// Error and Result: names of the codes and the text of an error.
#include "base/error.h"

namespace torchere {

const char *errorCodeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::Cancelled:
    return "CANCELLED";
  case ErrorCode::Unknown:
    return "UNKNOWN";
  case ErrorCode::InvalidArgument:
    return "INVALID_ARGUMENT";
  case ErrorCode::DeadlineExceeded:
    return "DEADLINE_EXCEEDED";
  case ErrorCode::NotFound:
    return "NOT_FOUND";
  case ErrorCode::AlreadyExists:
    return "ALREADY_EXISTS";
  case ErrorCode::PermissionDenied:
    return "PERMISSION_DENIED";
  case ErrorCode::ResourceExhausted:
    return "RESOURCE_EXHAUSTED";
  case ErrorCode::FailedPrecondition:
    return "FAILED_PRECONDITION";
  case ErrorCode::Aborted:
    return "ABORTED";
  case ErrorCode::OutOfRange:
    return "OUT_OF_RANGE";
  case ErrorCode::Unimplemented:
    return "UNIMPLEMENTED";
  case ErrorCode::Internal:
    return "INTERNAL";
  case ErrorCode::Unavailable:
    return "UNAVAILABLE";
  case ErrorCode::DataLoss:
    return "DATA_LOSS";
  case ErrorCode::Unauthenticated:
    return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

std::string Error::text() const {
  return where.empty() ? message : message + "; at " + where;
}

} // namespace torchere
