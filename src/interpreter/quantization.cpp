// Implements conversions between quantized values and numbers.
#include "interpreter/quantization.h"

#include "stablehlo/element_type_conversion.h"
#include "stablehlo/text_of.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <algorithm>

using namespace mlir;

namespace torchere::interpreter {

namespace {

/// A quantized element type: one scale and zero point, or one for each index of a dimension.
class Quantization {
public:
  static Result<Quantization> of(quant::QuantizedType type) {
    std::optional<ElementType> storage = stablehlo::storedTypeOf(type),
                               expressed = stablehlo::elementTypeOf(type.getExpressedType());
    auto perTensor = dyn_cast<quant::UniformQuantizedType>(type);
    auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
    if (!storage || !expressed || (!perTensor && !perAxis))
      return fail(ErrorCode::Unimplemented, "elements of type {} cannot be interpreted",
                  stablehlo::textOf(type));
    Quantization made;
    made.storage = *storage;
    made.expressed = *expressed;
    made.least = made.numberOf(type.getStorageTypeMin());
    made.greatest = made.numberOf(type.getStorageTypeMax());
    if (perAxis) {
      made.dimension = perAxis.getQuantizedDimension();
      llvm::append_range(made.scales, perAxis.getScales());
      llvm::append_range(made.zeroPoints, perAxis.getZeroPoints());
    } else {
      made.scales.push_back(perTensor.getScale());
      made.zeroPoints.push_back(perTensor.getZeroPoint());
    }
    return made;
  }

  Result<Tensor> dequantized(const Tensor &stored) const {
    return mapped(stored, expressed, [&](const Element &element, size_t index) {
      int64_t difference = element.asSigned() - zeroPoints[index];
      return multiply(numberOf(difference), Element::number(expressed, scales[index]));
    });
  }

  Result<Tensor> quantized(const Tensor &numbers) const {
    return mapped(numbers, storage, [&](const Element &element, size_t index) {
      Element scaled = divide(element, Element::number(expressed, scales[index]));
      Element shifted = add(scaled, numberOf(zeroPoints[index]));
      return convert(roundToEven(minimum(maximum(shifted, least), greatest)), storage);
    });
  }

private:
  Element numberOf(int64_t integer) const { return Element::number(expressed, static_cast<double>(integer)); }

  /// Visits each element with the index of its scale.
  template <class Function>
  Result<Tensor> mapped(const Tensor &tensor, ElementType type, Function function) const {
    int64_t inner = 1, count = static_cast<int64_t>(scales.size());
    for (int64_t after = dimension + 1; count > 1 && after < tensor.rank(); ++after)
      inner *= tensor.shape()[after];
    TORCHERE_ASSIGN(Tensor result, Tensor::create(type, tensor.shape()));
    for (int64_t position = 0; position < result.count(); ++position)
      result.set(position, function(tensor.at(position), static_cast<size_t>(position / inner % count)));
    return result;
  }

  ElementType storage = ElementType::I8, expressed = ElementType::F32;
  Element least, greatest; ///< the bounds of the storage type, as numbers of the expressed type
  int64_t dimension = 0;   ///< along which the scales vary
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
};

quant::QuantizedType quantizedType(Type type) {
  return dyn_cast<quant::QuantizedType>(getElementTypeOrSelf(type));
}

using Conversion = Result<Tensor> (Quantization::*)(const Tensor &) const;

Result<Values> convertAll(Values values, TypeRange declared, Conversion conversion) {
  for (auto [value, type] : llvm::zip_equal(values, declared))
    if (auto quantized = quantizedType(type); quantized && value.isTensor()) {
      TORCHERE_ASSIGN(Quantization quantization, Quantization::of(quantized));
      TORCHERE_ASSIGN(Tensor converted, (quantization.*conversion)(value.tensor()));
      value = Value(std::move(converted));
    }
  return values;
}

} // namespace

bool hasQuantizedTypes(Operation &op) {
  auto isQuantized = [](Type type) { return static_cast<bool>(quantizedType(type)); };
  return llvm::any_of(op.getOperandTypes(), isQuantized) || llvm::any_of(op.getResultTypes(), isQuantized);
}

Result<Values> dequantize(Values values, TypeRange declared) {
  return convertAll(std::move(values), declared, &Quantization::dequantized);
}

Result<Values> quantize(Values values, TypeRange declared) {
  return convertAll(std::move(values), declared, &Quantization::quantized);
}

} // namespace torchere::interpreter
