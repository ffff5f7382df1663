// Implements the predicates and the compatibility of element_types.h.
#include "stablehlo/element_types.h"

#include "stablehlo/bounds.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace torchere::stablehlo {

static bool hasIntegerWidth(IntegerType type) {
  switch (type.getWidth()) {
  case 2:
  case 4:
  case 8:
  case 16:
  case 32:
  case 64:
    return true;
  default:
    return false;
  }
}

bool isBoolean(Type type) {
  return type.isSignlessInteger(1);
}

bool isSignedInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && hasIntegerWidth(integer);
}

bool isInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned() && hasIntegerWidth(integer);
}

bool isFloat(Type type) {
  return isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType, Float8E3M4Type, Float8E4M3Type,
             Float8E4M3FNType, Float8E4M3FNUZType, Float8E4M3B11FNUZType, Float8E5M2Type, Float8E5M2FNUZType,
             Float8E8M0FNUType, Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

bool isComplex(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex && isa<Float32Type, Float64Type>(complex.getElementType());
}

/// The constraints of quantized element types that MLIR leaves open: integers of the specification's widths,
/// and (C8), zero points among the numbers stored.
static bool isStorable(quant::QuantizedType type, ArrayRef<int64_t> zeroPoints) {
  auto storage = dyn_cast<IntegerType>(type.getStorageType());
  return storage && !storage.isSigned() && hasIntegerWidth(storage) &&
         llvm::all_of(zeroPoints, [&](int64_t point) {
           return type.getStorageTypeMin() <= point && point <= type.getStorageTypeMax();
         });
}

bool isPerTensorQuantized(Type type) {
  auto quantized = dyn_cast<quant::UniformQuantizedType>(type);
  return quantized && isStorable(quantized, quantized.getZeroPoint());
}

bool isPerAxisQuantized(Type type) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  return quantized && isStorable(quantized, quantized.getZeroPoints());
}

bool isQuantized(Type type) {
  return isPerTensorQuantized(type) || isPerAxisQuantized(type);
}

std::optional<int64_t> quantizedDimension(Type type) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  return quantized ? std::optional<int64_t>(quantized.getQuantizedDimension()) : std::nullopt;
}

bool hasScaleOfEachIndex(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  if (!quantized)
    return true;
  int64_t dimension = quantized.getQuantizedDimension();
  return dimension >= 0 && dimension < type.getRank() &&
         mayEqual(type.getDimSize(dimension), quantized.getScales().size());
}

bool isStaticOrBounded(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  if (type.hasStaticShape())
    return true;
  auto extensions = dyn_cast_if_present<TypeExtensionsAttr>(type.getEncoding());
  return extensions && type.getNumDynamicDims() == 1 && llvm::count_if(extensions.getBounds(), isKnown) == 1;
}

Type expressedType(Type type) {
  auto quantized = dyn_cast<quant::QuantizedType>(type);
  return quantized ? quantized.getExpressedType() : type;
}

Type elementType(Type type) {
  return getElementTypeOrSelf(type);
}

namespace {

using Compatibility = llvm::function_ref<bool(Type, Type)>;

/// Whether two tensors have compatible shapes, and element types that compare as wanted. Other types must be
/// equal.
bool compareTypes(Type left, Type right, Compatibility elements) {
  auto leftTensor = dyn_cast<RankedTensorType>(left);
  auto rightTensor = dyn_cast<RankedTensorType>(right);
  if (!leftTensor || !rightTensor)
    return left == right;
  return elements(leftTensor.getElementType(), rightTensor.getElementType()) &&
         succeeded(verifyCompatibleShape(leftTensor, rightTensor)) && fitBounds(leftTensor, rightTensor);
}

bool compareAll(TypeRange left, TypeRange right, Compatibility elements) {
  return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [&](auto pair) {
           return compareTypes(std::get<0>(pair), std::get<1>(pair), elements);
         });
}

bool isStoredAs(Type type, Type held) {
  auto quantized = dyn_cast<quant::QuantizedType>(type);
  if (!quantized)
    return held == type;
  // MLIR 22 prints u8 for both unsigned storage types, i8 and ui8, so they cannot be distinguished.
  Type storage = quantized.getStorageType();
  return held == storage || (!quantized.isSigned() && held.isUnsignedInteger() &&
                             held.getIntOrFloatBitWidth() == storage.getIntOrFloatBitWidth());
}

} // namespace

bool areCompatible(Type left, Type right) {
  return compareTypes(left, right, std::equal_to<Type>());
}

bool areCompatible(TypeRange left, TypeRange right) {
  return compareAll(left, right, std::equal_to<Type>());
}

bool haveSameBaseline(Type left, Type right) {
  auto first = dyn_cast<quant::QuantizedType>(left), second = dyn_cast<quant::QuantizedType>(right);
  if (left == right || !first || !second)
    return left == right;
  auto firstAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(left);
  auto secondAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(right);
  bool isOneScale = isPerTensorQuantized(left) && isPerTensorQuantized(right);
  bool isSameAxis = firstAxis && secondAxis && quantizedDimension(left) == quantizedDimension(right) &&
                    firstAxis.getScales().size() == secondAxis.getScales().size();
  return (isOneScale || isSameAxis) && first.getFlags() == second.getFlags() &&
         first.getStorageType() == second.getStorageType() &&
         first.getStorageTypeMin() == second.getStorageTypeMin() &&
         first.getStorageTypeMax() == second.getStorageTypeMax() &&
         first.getExpressedType() == second.getExpressedType();
}

bool haveCompatibleBaselines(Type left, Type right) {
  return compareTypes(left, right, haveSameBaseline);
}

bool haveCompatibleBaselines(TypeRange left, TypeRange right) {
  return compareAll(left, right, haveSameBaseline);
}

bool areStoredAs(TypeRange types, TypeRange held) {
  return compareAll(types, held, isStoredAs);
}

LogicalResult inferMostPreciseType(StringRef op, std::optional<Location> location, ValueRange operands,
                                   SmallVectorImpl<Type> &types) {
  auto first = dyn_cast<RankedTensorType>(operands.front().getType());
  if (!first)
    return violation(location, op, "C1", "operand is ", operands.front().getType(),
                     ", expected a ranked tensor");
  if (llvm::all_equal(operands.getTypes())) { // as most are: nothing to compute
    types.push_back(first);
    return success();
  }
  SmallVector<int64_t> shape(first.getShape()), bounds;
  tightenBounds(bounds, first);
  for (Value operand : operands.drop_front()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    RankedTensorType known = withShape(first, shape, bounds);
    if (!type || !haveCompatibleBaselines(type, known))
      return violation(location, op, "C1", "operands have incompatible types: ", known, " and ",
                       operand.getType());
    for (auto [most, size] : llvm::zip(shape, type.getShape()))
      if (!isKnown(most))
        most = size;
    tightenBounds(bounds, type);
  }
  types.push_back(withShape(first, shape, bounds));
  return success();
}

} // namespace torchere::stablehlo
