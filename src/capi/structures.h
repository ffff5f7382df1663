// Checks of the C ABI's structures and pointers.
#pragma once

#include "base/error.h"

#include <torchere/torchere.h>

#include <span>
#include <string>
#include <string_view>

namespace torchere::capi {

/// More elements of a list than this are taken for a wrong count. Inputs of a function have the same limit.
inline constexpr size_t listLimit = 1 << 20;
/// Beyond what any program's tensors have.
inline constexpr size_t rankLimit = 1024;

/// A pointer that must not be null, `name` being the parameter's.
template <class T> Status checkGiven(T *pointer, const char *name) {
  if (!pointer)
    return invalidArgument("[{}] null pointer: expected an address", name);
  return {};
}

/// All structures are as in their first version. One that grows gets a least size of its own here, and what
/// older callers do not have counts as zero.
template <class T> Status checkStructure(const T *structure, const char *name) {
  TORCHERE_TRY(checkGiven(structure, name));
  if (structure->struct_size != sizeof(T))
    return invalidArgument("[{}] wrong struct_size: got {}, expected {}", name, structure->struct_size,
                           sizeof(T));
  return {};
}

template <class T> Result<std::span<T>> checkList(T *elements, size_t count, const char *name) {
  if (count == 0)
    return std::span<T>();
  if (count > listLimit)
    return invalidArgument("[{}] too many elements: got {}, expected at most {}", name, count, listLimit);
  TORCHERE_TRY(checkGiven(elements, name));
  for (size_t i = 0; i < count; ++i)
    TORCHERE_TRY(checkStructure(&elements[i], name));
  return std::span<T>(elements, count);
}

inline Result<std::string_view> checkText(const char *text, const char *name) {
  TORCHERE_TRY(checkGiven(text, name));
  return std::string_view(text);
}

inline Status checkIndex(size_t index, size_t count, const char *name) {
  if (index >= count)
    return fail(ErrorCode::OutOfRange, "[{}] no such index: got {}, expected less than {}", name, index,
                count);
  return {};
}

} // namespace torchere::capi
