// Implements the formulas of quantized numbers.
#include "passes/chlo/quantized_numbers.h"

#include "passes/chlo/formula.h"
#include "stablehlo/element_type_conversion.h"

using namespace mlir;

namespace torchere::passes {

namespace {

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

Value quantizedNumbers(OpBuilder &builder, Location location, quant::QuantizedType type, Value numbers) {
  return Quantization(builder, location, type, numbers).quantized(numbers);
}

Value dequantizedNumbers(OpBuilder &builder, Location location, quant::QuantizedType type, Value stored) {
  return Quantization(builder, location, type, stored).dequantized(stored);
}

} // namespace torchere::passes
