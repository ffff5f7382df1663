// expandQuantizedTypes: quantized tensors as the integers that they store.
#include "passes/chlo/formula.h"
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

/// The formulas of one quantized type, on tensors of one shape.
class Quantization {
public:
  Quantization(OpBuilder &builder, Location location, quant::QuantizedType type, Value tensor)
      : builder(builder), location(location), type(type), formula(builder, location, tensor) {}

  Value quantized(Value numbers) {
    Elements x(formula, numbers);
    Elements scaled = x / scales(x); // each number by a statement: their order is that of the text
    Elements shifted = scaled + zeroPoints(x);
    Elements bounded = minimum(maximum(shifted, static_cast<double>(type.getStorageTypeMin())),
                               static_cast<double>(type.getStorageTypeMax()));
    Value rounded = bounded.apply<stablehlo::RoundNearestEvenOp>();
    return formula.convert(rounded,
                           stablehlo::mlirTypeOf(*stablehlo::storedTypeOf(type), builder.getContext()));
  }

  Value dequantized(Value stored) {
    Elements x(formula, formula.convert(stored, type.getExpressedType()));
    Elements shifted = x - zeroPoints(x);
    return shifted * scales(x);
  }

private:
  Elements scales(const Elements &like) {
    if (auto single = dyn_cast<quant::UniformQuantizedType>(type))
      return like.constant(single.getScale());
    return alongAxis(like, cast<quant::UniformQuantizedPerAxisType>(type).getScales());
  }

  Elements zeroPoints(const Elements &like) {
    if (auto single = dyn_cast<quant::UniformQuantizedType>(type))
      return like.constant(static_cast<double>(single.getZeroPoint()));
    ArrayRef<int64_t> points = cast<quant::UniformQuantizedPerAxisType>(type).getZeroPoints();
    return alongAxis(like, SmallVector<double>(points));
  }

  /// One number for each index of the quantized dimension.
  Elements alongAxis(const Elements &like, ArrayRef<double> numbers) {
    auto shape = cast<RankedTensorType>(Value(like).getType());
    auto expressed = cast<FloatType>(shape.getElementType());
    SmallVector<APFloat> values;
    for (double number : numbers) {
      bool isInexact = false;
      values.emplace_back(number).convert(expressed.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                                          &isInexact);
    }
    auto vector = RankedTensorType::get({static_cast<int64_t>(values.size())}, expressed);
    Value constant = stablehlo::ConstantOp::create(builder, location, DenseElementsAttr::get(vector, values))
                         ->getResult(0);
    int64_t axis = cast<quant::UniformQuantizedPerAxisType>(type).getQuantizedDimension();
    NamedAttribute mapping =
        builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({axis}));
    return like.with(stablehlo::BroadcastInDimOp::create(builder, location, TypeRange{shape},
                                                         ValueRange{constant}, {mapping})
                         ->getResult(0));
  }

  OpBuilder &builder;
  Location location;
  quant::QuantizedType type;
  FormulaBuilder formula;
};

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
      stored[to] =
          isBits ? from : Quantization(builder, op->getLoc(), quantizedTypeOf(to), from).quantized(from);
    } else {
      bool isBits = isa<stablehlo::BitcastConvertOp>(op);
      Value integers = stored[from];
      to.replaceAllUsesWith(
          isBits
              ? integers
              : Quantization(builder, op->getLoc(), quantizedTypeOf(from), integers).dequantized(integers));
    }
    replaced.push_back(op);
  });
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

} // namespace torchere::passes
