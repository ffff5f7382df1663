// Implements the predicates and the compatibility of element_types.h.
#include "stablehlo/element_types.h"

#include "stablehlo/constraint.h"

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

Type elementType(Type type) {
  return getElementTypeOrSelf(type);
}

bool areCompatible(Type left, Type right) {
  auto leftTensor = dyn_cast<RankedTensorType>(left);
  auto rightTensor = dyn_cast<RankedTensorType>(right);
  if (!leftTensor || !rightTensor)
    return left == right;
  return leftTensor.getElementType() == rightTensor.getElementType() &&
         succeeded(verifyCompatibleShape(leftTensor, rightTensor));
}

bool areCompatible(TypeRange left, TypeRange right) {
  return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto pair) {
           return areCompatible(std::get<0>(pair), std::get<1>(pair));
         });
}

LogicalResult inferMostPreciseType(StringRef op, std::optional<Location> location, ValueRange operands,
                                   SmallVectorImpl<Type> &types) {
  auto first = dyn_cast<RankedTensorType>(operands.front().getType());
  if (!first)
    return violation(location, op, "C1", "operand is ", operands.front().getType(),
                     ", expected a ranked tensor");
  SmallVector<int64_t> shape(first.getShape());
  for (Value operand : operands.drop_front()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !areCompatible(type, first.clone(shape)))
      return violation(location, op, "C1", "operands have incompatible types: ", first.clone(shape), " and ",
                       operand.getType());
    for (auto [known, size] : llvm::zip(shape, type.getShape()))
      if (ShapedType::isDynamic(known))
        known = size;
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType(), first.getEncoding()));
  return success();
}

} // namespace torchere::stablehlo
