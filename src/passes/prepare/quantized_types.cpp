// expandQuantizedTypes: quantized tensors as the integers that they store.
#include "passes/chlo/quantized_numbers.h"
#include "passes/prepare/plugin_passes.h"
#include "stablehlo/element_type_conversion.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace torchere::passes {

namespace {

quant::QuantizedType quantizedTypeOf(Value value) {
  return dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(value.getType()));
}

bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

/// Whether the op converts between numbers, or integers, and one quantized type.
bool isConversion(Operation *op) {
  if (!isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp, stablehlo::BitcastConvertOp>(op))
    return false;
  Value from = op->getOperand(0), to = op->getResult(0);
  quant::QuantizedType type = quantizedTypeOf(from) ? quantizedTypeOf(from) : quantizedTypeOf(to);
  if (!isStatic(from) || !isStatic(to) || (quantizedTypeOf(from) && quantizedTypeOf(to)))
    return false;
  Value other = quantizedTypeOf(from) ? to : from;
  Type number = isa<stablehlo::BitcastConvertOp>(op)
                    ? stablehlo::mlirTypeOf(*stablehlo::storedTypeOf(type), op->getContext())
                    : type.getExpressedType();
  return getElementTypeOrSelf(other.getType()) == number &&
         isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(type);
}

/// Whether quantized tensors are made, and read, by nothing but conversions.
bool hasConversionsOnly(ModuleOp module) {
  auto isQuantized = [](Value value) { return quantizedTypeOf(value) != nullptr; };
  return !module
              .walk([&](Operation *op) {
                bool isUser = llvm::any_of(op->getOperands(), isQuantized) ||
                              llvm::any_of(op->getResults(), isQuantized);
                for (Region &region : op->getRegions())
                  for (Block &block : region)
                    if (llvm::any_of(block.getArguments(), isQuantized))
                      return WalkResult::interrupt();
                return isUser && !isConversion(op) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

} // namespace

void expandQuantizedTypes(ModuleOp module) {
  if (!hasConversionsOnly(module))
    return;
  llvm::DenseMap<Value, Value> stored; ///< the integers of each quantized tensor
  SmallVector<Operation *> replaced;
  module.walk([&](Operation *op) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1)
      return;
    Value from = op->getOperand(0), to = op->getResult(0);
    if (!quantizedTypeOf(from) && !quantizedTypeOf(to))
      return;
    OpBuilder builder(op);
    if (quantizedTypeOf(to)) {
      bool isBits = isa<stablehlo::BitcastConvertOp>(op);
      stored[to] = isBits ? from : quantizedNumbers(builder, op->getLoc(), quantizedTypeOf(to), from);
    } else {
      bool isBits = isa<stablehlo::BitcastConvertOp>(op);
      Value integers = stored[from];
      to.replaceAllUsesWith(
          isBits ? integers : dequantizedNumbers(builder, op->getLoc(), quantizedTypeOf(from), integers));
    }
    replaced.push_back(op);
  });
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

} // namespace torchere::passes
