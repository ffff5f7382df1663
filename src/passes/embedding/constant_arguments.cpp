// Arguments of a module that become constants in it.
#include "passes/embedding/constant_arguments.h"

#include "stablehlo/module_implementation.h"
#include "stablehlo/text_of.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace torchere::passes {

/// The size of an element in memory; 0 for a type that has none.
static size_t elementSize(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementSize(complex.getElementType());
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 0;
}

static Result<DenseElementsAttr> literalOf(BlockArgument argument, const ArgumentValue &value) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  size_t size = type && type.hasStaticShape() ? elementSize(type.getElementType()) : 0;
  if (size == 0 || static_cast<size_t>(type.getNumElements()) * size != value.elements.size())
    return invalidArgument("[main] argument {} cannot be a constant of {} bytes: it is {}", value.argument,
                           value.elements.size(), stablehlo::textOf(argument.getType()));
  ArrayRef<char> bytes(reinterpret_cast<const char *>(value.elements.data()), value.elements.size());
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> bits; // MLIR packs i1
  for (char byte : bytes)
    bits.push_back(byte != 0);
  return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
}

Status embedArguments(stablehlo::Module &module, std::span<const ArgumentValue> values) {
  ModuleOp op = *module.implementation().module;
  auto main = op.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return invalidArgument("[module] no function to be called: expected @main");
  OpBuilder builder = OpBuilder::atBlockBegin(&main.front());
  llvm::BitVector embedded(main.getNumArguments());
  for (const ArgumentValue &value : values) {
    if (value.argument >= main.getNumArguments() || embedded.test(static_cast<unsigned>(value.argument)))
      return invalidArgument("[main] no such argument to embed: got {}, expected less than {}, each once",
                             value.argument, main.getNumArguments());
    BlockArgument argument = main.getArgument(static_cast<unsigned>(value.argument));
    TORCHERE_ASSIGN(DenseElementsAttr literal, literalOf(argument, value));
    embedded.set(static_cast<unsigned>(value.argument));
    if (!argument.use_empty())
      argument.replaceAllUsesWith(stablehlo::ConstantOp::create(builder, argument.getLoc(), literal));
  }
  if (failed(main.eraseArguments(embedded)))
    return fail(ErrorCode::Internal, "[main] its arguments could not be removed");
  return module.verify();
}

} // namespace torchere::passes
