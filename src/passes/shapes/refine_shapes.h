// Specialising a module to the shapes of its arguments.
#pragma once

#include "base/error.h"
#include "stablehlo/module.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace torchere::passes {

/// One shape for an argument of @main: a size, 0 or more, for each dimension. A 0-d integer may have a value
/// as well, for which the module is then specialised; it stays an argument, which nothing reads.
struct ArgumentShape {
  std::vector<int64_t> sizes;
  std::optional<int64_t> value = {};
};

/// What becomes of sizes that depend on values.
enum class UnknownSizes : bool { Refused, Kept };

/// Refines @main's arguments to these shapes, in order, and propagates them through the module: integer shape
/// arithmetic is folded, dynamic ops become their static forms, every result type becomes static, functions
/// that are called with several shapes are cloned for each, shape assertions are checked, and dead shape
/// computations are removed.
///
/// Fails, with the op's name and location, if a shape does not match the argument's type, if the shapes are
/// inconsistent (an addition of unequal sizes, say) or violate an assertion, or, unless such sizes are kept,
/// if a dimension stays unknown because it depends on values: Unimplemented, with the op's place. The module
/// is then in an unspecified state: refine a clone to keep the original.
TORCHERE_EXPORT Status refineShapes(stablehlo::Module &module, const std::vector<ArgumentShape> &arguments,
                                    UnknownSizes unknownSizes = UnknownSizes::Refused);

/// Whether every type in the module has a known shape, so that refineShapes has nothing to do.
TORCHERE_EXPORT bool isStatic(const stablehlo::Module &module);

} // namespace torchere::passes
