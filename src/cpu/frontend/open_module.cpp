// Implements OpenModule.
#include "cpu/frontend/open_module.h"

#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

using interpreter::EntryArgument;
using interpreter::unknownSize;

OpenModule::OpenModule(stablehlo::Module given, interpreter::EntryPoint entry, const Target &target)
    : module(std::move(given)), entryPoint(std::move(entry)), target(target) {
  this->target.isFlat = flattenOpen(module, entryPoint.name);
  mlir::ModuleOp op = *module.implementation().module;
  if (auto function = op.lookupSymbol<mlir::func::FuncOp>(entryPoint.name))
    function.setName("main"); // as refineShapes() has it: a module without a main has one function
  if (this->target.isFlat) {
    unfused = module.clone();
    fuseOpen(module, "main");
  }
}

BoundSizes boundSizesOf(const interpreter::EntryPoint &entry,
                        std::span<const interpreter::Tensor *const> arguments) {
  BoundSizes sizes;
  for (size_t index = 0; index < arguments.size(); ++index) {
    const EntryArgument &argument = entry.arguments[index];
    for (size_t i = 0; i < argument.type.shape.size(); ++i)
      if (argument.type.shape[i] == unknownSize)
        sizes.push_back(arguments[index]->shape()[i]);
    if (argument.isInShapes)
      sizes.push_back(arguments[index]->integers().front());
  }
  return sizes;
}

std::vector<passes::ArgumentShape> boundShapesOf(const interpreter::EntryPoint &entry,
                                                 const BoundSizes &sizes) {
  std::vector<passes::ArgumentShape> shapes;
  size_t next = 0;
  for (const EntryArgument &argument : entry.arguments) {
    passes::ArgumentShape &shape = shapes.emplace_back();
    for (int64_t size : argument.type.shape)
      shape.sizes.push_back(size == unknownSize ? sizes[next++] : size);
    if (argument.isInShapes)
      shape.value = sizes[next++];
  }
  return shapes;
}

Result<stablehlo::Module> OpenModule::bind(const BoundSizes &sizes, ModuleUse use) const {
  bool isUnfused = use == ModuleUse::Interpretation && unfused;
  stablehlo::Module bound = isUnfused ? unfused->clone() : module.clone();
  TORCHERE_TRY(passes::refineShapes(bound, boundShapesOf(entryPoint, sizes), passes::UnknownSizes::Kept));
  return bound;
}

} // namespace torchere::cpu
