// OpenModule: a program whose arguments have sizes, or values that sizes depend on, which each call binds.
#pragma once

#include "cpu/frontend/compile.h"
#include "passes/shapes/refine_shapes.h"

namespace torchere::cpu {

/// What a call binds: the open sizes of the arguments, in order, each argument's value after its sizes.
using BoundSizes = std::vector<int64_t>;

/// The arguments have the element types and known sizes of the entry point.
BoundSizes boundSizesOf(const interpreter::EntryPoint &entry,
                        std::span<const interpreter::Tensor *const> arguments);
/// What boundSizesOf() took of each argument, put back.
std::vector<passes::ArgumentShape> boundShapesOf(const interpreter::EntryPoint &entry,
                                                 const BoundSizes &sizes);

class OpenModule {
public:
  OpenModule(stablehlo::Module module, interpreter::EntryPoint entry, const Target &target);

  const interpreter::EntryPoint &entry() const { return entryPoint; }
  const Target &compiledFor() const { return target; }
  /// The module with these sizes. InvalidArgument if they contradict each other or the program's assertions.
  Result<stablehlo::Module> bind(const BoundSizes &sizes, ModuleUse use) const;
  /// Held while the result of bind() is used, and to call it.
  std::unique_lock<std::mutex> lock() const { return std::unique_lock(*target.mutex); }

private:
  stablehlo::Module module; ///< simplified and fused as far as that goes without the sizes
  std::optional<stablehlo::Module> unfused;
  interpreter::EntryPoint entryPoint;
  Target target;
};

} // namespace torchere::cpu
