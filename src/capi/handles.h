// Handles: what the C ABI's opaque pointers stand for. A handle is a number that is looked up, never an
// address, so that a stale or invented one is an error.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <memory>

namespace torchere::capi {

/// What a handle is of. Each type of object has one as `kind`, and its noun for errors.
enum class HandleKind : uint8_t { Plugins = 1, Client, Program, Result, Array, Snapshot };

/// A new handle of the object, which lives as long as the handle, and as the calls that are using it.
void *addHandle(HandleKind kind, std::shared_ptr<void> object);
/// The object of a handle. InvalidArgument if the handle is null, of another kind, or not in use. Takes one
/// uncontended lock: threads that use different handles rarely meet.
Result<std::shared_ptr<void>> findHandle(HandleKind kind, const char *noun, const void *handle);
/// Ends a handle. Errors as above.
Status removeHandle(HandleKind kind, const char *noun, const void *handle);

template <class T> typename T::Handle addHandle(std::shared_ptr<T> object) {
  return static_cast<typename T::Handle>(addHandle(T::kind, std::move(object)));
}
template <class T> Result<std::shared_ptr<T>> find(typename T::Handle handle) {
  TORCHERE_ASSIGN(std::shared_ptr<void> object, findHandle(T::kind, T::noun, handle));
  return std::static_pointer_cast<T>(std::move(object));
}
template <class T> Status destroy(typename T::Handle handle) {
  return removeHandle(T::kind, T::noun, handle);
}

} // namespace torchere::capi
