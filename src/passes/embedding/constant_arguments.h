// Arguments of a module that become constants in it.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <cstddef>
#include <span>

namespace torchere::passes {

/// The value of an argument of @main: its elements, dense and row major, a byte for each bool.
struct ArgumentValue {
  size_t argument = 0;
  std::span<const std::byte> elements;
};

/// Replaces arguments of @main, whose types must be static, by constants; the others keep their order. The
/// module's context keeps the constants as long as it lives.
TORCHERE_EXPORT Status embedArguments(stablehlo::Module &module, std::span<const ArgumentValue> values);

} // namespace torchere::passes
