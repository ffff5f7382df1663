// Lists of arguments, in memory of a program.
#pragma once

#include "program/program.h"

#include <span>

namespace torchere::program {

/// The elements, stored in `memory`, as one argument.
inline Argument storeList(Arena &memory, std::span<const Argument> elements, bool isTuple = false) {
  std::span<const Argument> stored = memory.store(elements);
  ArgumentList list{stored.data(), static_cast<uint32_t>(stored.size()), isTuple};
  return {memory.store(list)};
}

} // namespace torchere::program
