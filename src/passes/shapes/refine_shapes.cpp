// Implements refineShapes: from stablehlo::Module to shape refinement on MLIR.
#include "passes/shapes/refine_shapes.h"

#include "passes/shapes/dynamism.h"
#include "passes/shapes/function_refinement.h"
#include "passes/shapes/shape_assertions.h"
#include "passes/shapes/type_refinement.h"
#include "stablehlo/bounds.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/module_implementation.h"
#include "stablehlo/text_of.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace torchere::passes {

namespace {

/// The type of argument `index` of @main with another shape.
Result<Type> argumentType(func::FuncOp main, size_t index, const ArgumentShape &argument) {
  Type declared = main.getArgument(index).getType();
  auto tensor = dyn_cast<RankedTensorType>(declared);
  if (!tensor)
    return invalidArgument("[main] argument {} has no shape to refine: it is {}", index,
                           stablehlo::textOf(declared));
  for (int64_t size : argument.sizes)
    if (size < 0)
      return invalidArgument("[main] argument {} has a negative size: got {}", index, size);
  if (failed(verifyCompatibleShape(argument.sizes, tensor.getShape())))
    return invalidArgument("[main] shape of argument {} does not fit: got [{}], expected one of {}", index,
                           fmt::join(argument.sizes, ", "), stablehlo::textOf(declared));
  return stablehlo::withShape(tensor, argument.sizes);
}

/// Replaces argument `index` of @main by a constant.
Status specialise(func::FuncOp main, size_t index, int64_t value) {
  BlockArgument argument = main.getArgument(index);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
  if (!element || type.getRank() != 0 || !llvm::isIntN(element.getWidth(), value))
    return invalidArgument("[main] argument {} cannot have the value {}: it is {}", index, value,
                           stablehlo::textOf(argument.getType()));
  OpBuilder builder = OpBuilder::atBlockBegin(&main.front());
  auto constant = DenseElementsAttr::get(type, APInt(element.getWidth(), static_cast<uint64_t>(value), true));
  argument.replaceAllUsesWith(stablehlo::ConstantOp::create(builder, argument.getLoc(), constant));
  return {};
}

/// Shapes are known now: checks assertions about them, drops shape operands of custom calls.
LogicalResult checkAndClean(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && isStaticFunction(function) &&
        (failed(checkShapeAssertions(function)) || failed(canonicalizeDynamism(function))))
      return failure();
  return success();
}

/// What to do about a size that depends on data; `op` is the first one that has it.
Error unknownSize(Operation *op) {
  std::string name = op->getName().getStringRef().str(), file, scope;
  op->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (named && !named.getName().strref().starts_with("{")) // a node's metadata
      (named.getName().strref().starts_with("aten.") ? name : scope) = named.getName().str();
    if (auto line = dyn_cast<FileLineColLoc>(part))
      file =
          fmt::format("{}:{}", llvm::sys::path::filename(line.getFilename().strref()).str(), line.getLine());
    return WalkResult::advance();
  });
  return {ErrorCode::Unimplemented,
          fmt::format("[{}] a size depends on the data, and the plugin runs fixed sizes only: got {} (to do: "
                      "run it on the plugin \"torchere_cpu\", the default; or keep a fixed size: "
                      "torch.where instead of x[mask], torch.nonzero_static instead of nonzero)",
                      name, stablehlo::textOf(*llvm::find_if_not(op->getResultTypes(), isStaticType))),
          scope.empty() || file.empty() ? file : file + " in " + scope};
}

} // namespace

Status refineShapes(stablehlo::Module &module, const std::vector<ArgumentShape> &arguments,
                    UnknownSizes unknownSizes) {
  ModuleOp op = *module.implementation().module;
  auto main = op.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return invalidArgument("[main] the module has no such function");
  if (main.getNumArguments() != arguments.size())
    return invalidArgument("[main] wrong number of argument shapes: got {}, expected {}", arguments.size(),
                           main.getNumArguments());
  for (size_t index = 0; index < arguments.size(); ++index) {
    TORCHERE_ASSIGN(Type type, argumentType(main, index, arguments[index]));
    main.getArgument(index).setType(type);
    if (arguments[index].value)
      TORCHERE_TRY(specialise(main, index, *arguments[index].value));
  }
  stablehlo::DiagnosticText diagnostics(*op.getContext());
  FailureOr<Operation *> unknown = refineFrom(op, main);
  if (succeeded(unknown) && *unknown && unknownSizes == UnknownSizes::Refused)
    return tl::unexpected(unknownSize(*unknown));
  if (failed(unknown) || failed(checkAndClean(op)) || failed(verify(op)))
    return invalidArgument("[main] the shapes at hand make no valid module: {}", diagnostics.take());
  return {};
}

bool isStatic(const stablehlo::Module &module) {
  return isStaticModule(*module.implementation().module);
}

} // namespace torchere::passes
