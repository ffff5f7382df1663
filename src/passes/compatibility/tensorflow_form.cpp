// Implements tensorFlowForm.
#include "passes/compatibility/tensorflow_form.h"

#include "passes/compatibility/composite_calls.h"
#include "passes/compatibility/tensorflow_limits.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/module_implementation.h"
#include "vhlo/portable_artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace torchere::passes {

/// XlaCallModule refines unknown sizes only in a module that says that it has them.
static constexpr llvm::StringLiteral dynamicMark = "jax.uses_shape_polymorphism";
static constexpr int lastZeroMinor = 20; // the releases 0.9 to 0.20, then 1.0

static Result<func::FuncOp> findMain(ModuleOp module, std::string_view name) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return invalidArgument("[{}] the module has no function @main", name);
  return main;
}

static Result<std::vector<MainType>> typesOf(TypeRange types, std::string_view name) {
  std::vector<MainType> result;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::string text;
    llvm::raw_string_ostream stream(text);
    tensor ? tensor.getElementType().print(stream) : type.print(stream);
    if (!tensor)
      return fail(ErrorCode::Unimplemented, "[{}] @main has the type {}, expected tensors", name, text);
    MainType &made = result.emplace_back(MainType{std::move(text), {}});
    for (int64_t size : tensor.getShape())
      made.shape.push_back(ShapedType::isDynamic(size) ? unknownSize : size);
  }
  return result;
}

/// XlaCallModule refines the sizes of calls, but not those of composites.
static Status callComposites(ModuleOp module, std::string_view name) {
  llvm::SmallVector<stablehlo::CompositeOp> composites;
  module.walk([&](stablehlo::CompositeOp op) { composites.push_back(op); });
  for (stablehlo::CompositeOp op : composites) {
    if (op->getNumRegions() != 0)
      return fail(ErrorCode::Unimplemented,
                  "[{}] the composite {} has regions, in a module with unknown sizes: expected none, as "
                  "TensorFlow gets a call of its decomposition",
                  name, op.getNameAttr().getValue().str());
    replaceByCall(op);
  }
  return {};
}

static Status markForTensorFlow(ModuleOp module, func::FuncOp main, std::string_view name) {
  main.setPublic();
  for (unsigned index = 0; index < main.getNumArguments(); ++index)
    for (const char *mark : stablehlo::donationAttributes) // TensorFlow's own tensors may be shared
      main.removeArgAttr(index, StringAttr::get(module.getContext(), mark));
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  bool hasDynamicTypes = module
                             .walk([&](Operation *op) {
                               return llvm::any_of(op->getResultTypes(), isDynamic) ||
                                              llvm::any_of(op->getOperandTypes(), isDynamic)
                                          ? WalkResult::interrupt()
                                          : WalkResult::advance();
                             })
                             .wasInterrupted();
  if (!hasDynamicTypes && !llvm::any_of(main.getArgumentTypes(), isDynamic))
    return {};
  module->setAttr(dynamicMark, BoolAttr::get(module.getContext(), true));
  return callComposites(module, name);
}

/// The releases that artifacts are written for, the oldest first.
static std::vector<vhlo::Version> versions() {
  std::vector<vhlo::Version> result;
  for (vhlo::Version version = vhlo::minimumVersion; version <= vhlo::currentVersion;) {
    result.push_back(version);
    version = version.major == 0 && version.minor == lastZeroMinor
                  ? vhlo::Version{1, 0, 0}
                  : vhlo::Version{version.major, version.minor + 1, 0};
  }
  return result;
}

/// Writes the module for the oldest version that holds it as it is. What one version holds, later ones do.
static Status serializeForOldest(const stablehlo::Module &module, TensorFlowForm &form) {
  std::vector<vhlo::Version> all = versions();
  size_t low = 0, high = all.size() - 1;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (vhlo::serialize(module, {.target = all[middle], .withLocations = false}))
      high = middle;
    else
      low = middle + 1;
  }
  form.version = all[low];
  TORCHERE_ASSIGN(form.bytecode, vhlo::serialize(module, {.target = form.version, .withLocations = false}));
  return {};
}

Result<TensorFlowForm> tensorFlowForm(const stablehlo::Module &module, std::string_view name) {
  stablehlo::Module changed = module.clone();
  ModuleOp root = *changed.implementation().module;
  TORCHERE_ASSIGN(func::FuncOp main, findMain(root, name));
  TORCHERE_TRY(checkTensorFlowLimits(root, name));
  TensorFlowForm form;
  TORCHERE_ASSIGN(form.arguments, typesOf(main.getArgumentTypes(), name));
  TORCHERE_ASSIGN(form.results, typesOf(main.getResultTypes(), name));
  TORCHERE_TRY(markForTensorFlow(root, main, name));
  TORCHERE_TRY(serializeForOldest(changed, form));
  return form;
}

} // namespace torchere::passes
