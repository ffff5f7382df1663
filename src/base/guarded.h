// guarded(): exceptions as errors, where nothing may be thrown: through an ABI, or out of a thread.
#pragma once

#include "base/error.h"

#include <exception>
#include <new>
#include <system_error>

namespace torchere {

/// The Status or Result of `work`. ResourceExhausted for want of memory or threads; Internal for what else it
/// throws.
template <class Work> auto guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return fail(ErrorCode::ResourceExhausted, "no memory");
  } catch (const std::system_error &error) { // threads are what is asked of the system by way of exceptions
    bool isShort = error.code() == std::errc::resource_unavailable_try_again;
    return fail(isShort ? ErrorCode::ResourceExhausted : ErrorCode::Internal, "{}{}",
                isShort ? "no further thread: " : "", error.what());
  } catch (const std::exception &exception) {
    return fail(ErrorCode::Internal, "{}", exception.what());
  }
}

} // namespace torchere
