// Elementwise ops of two and three operands: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/bounds.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"
#include "stablehlo/quantized_types.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/binary.cpp.inc"

namespace torchere::stablehlo {

void addBinaryOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/binary.cpp.inc"
      >();
}

//===- add ----------------------------------------------------------------===//

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  Type left = lhs.getElementType(), right = rhs.getElementType();
  if (!isQuantized(left) || !isQuantized(right))
    return inferMostPreciseType(getOperationName(), location, adaptor.getOperands(), types);
  // Scales per axis in one operand are enough for the result to have them.
  if (failed(verifyCompatibleShape(lhs, rhs)))
    return violation(location, getOperationName(), "C1", "shapes of lhs and rhs differ: got ", lhs, " and ",
                     rhs);
  SmallVector<int64_t> shape(lhs.getShape());
  for (auto [known, size] : llvm::zip(shape, rhs.getShape()))
    if (!isKnown(known))
      known = size;
  types.push_back(withShape(lhs, shape).clone(isPerAxisQuantized(right) ? right : left));
  return success();
}

LogicalResult AddOp::verify() {
  return verifyQuantizedAdd(Reporter(*this), getLhs().getType().getElementType(),
                            getRhs().getType().getElementType(), getType().getElementType());
}

//===- complex ------------------------------------------------------------===//

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SmallVector<Type> part;
  if (failed(inferMostPreciseType(getOperationName(), location, adaptor.getOperands(), part)))
    return failure();
  auto type = cast<RankedTensorType>(part.front());
  types.push_back(type.clone(ComplexType::get(type.getElementType())));
  return success();
}

//===- compare ------------------------------------------------------------===//

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                      ComparisonDirection direction, ComparisonType type) {
  build(builder, state, lhs, rhs, ComparisonDirectionAttr::get(builder.getContext(), direction),
        type == ComparisonType::NOTYPE ? ComparisonTypeAttr()
                                       : ComparisonTypeAttr::get(builder.getContext(), type));
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!haveSameBaseline(lhs.getElementType(), rhs.getElementType()))
    return violation(location, getOperationName(), "C1", "element types of lhs and rhs differ: got ",
                     lhs.getElementType(), " and ", rhs.getElementType());
  if (failed(verifyCompatibleShape(lhs, rhs)))
    return violation(location, getOperationName(), "C2", "shapes of lhs and rhs differ: got ", lhs, " and ",
                     rhs);
  SmallVector<Type> operand;
  if (failed(inferMostPreciseType(getOperationName(), location, adaptor.getOperands(), operand)))
    return failure();
  types.push_back(cast<ShapedType>(operand.front()).clone(IntegerType::get(context, 1)));
  return success();
}

//===- select -------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Type onTrue = adaptor.getOnTrue().getType();
  Type onFalse = adaptor.getOnFalse().getType();
  if (!haveCompatibleBaselines(onTrue, onFalse))
    return violation(location, getOperationName(), "C2", "types of on_true and on_false differ: got ", onTrue,
                     " and ", onFalse);
  return inferMostPreciseType(getOperationName(), location, adaptor.getOperands().drop_front(), types);
}

LogicalResult SelectOp::verify() {
  auto pred = getPred().getType();
  if (pred.getRank() != 0 && failed(verifyCompatibleShape(pred, getOnTrue().getType())))
    return violation(*this, "C1", "pred is neither a scalar nor of the shape of on_true: got ", pred, " and ",
                     getOnTrue().getType());
  return success();
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  auto pred = dyn_cast_if_present<SplatElementsAttr>(adaptor.getPred());
  if (!pred)
    return {};
  Value chosen = pred.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
  return chosen.getType() == getType() ? chosen : OpFoldResult();
}

//===- clamp --------------------------------------------------------------===//

LogicalResult ClampOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOperand().getType());
  return success();
}

LogicalResult ClampOp::verify() {
  auto operand = getOperand().getType();
  auto verifyBound = [&](StringRef constraint, StringRef name, RankedTensorType bound) -> LogicalResult {
    if (bound.getRank() != 0 && failed(verifyCompatibleShape(bound, operand)))
      return violation(*this, constraint, name, " is neither a scalar nor of the shape of operand: got ",
                       bound, " and ", operand);
    if (!haveSameBaseline(bound.getElementType(), operand.getElementType()))
      return violation(*this, "C3", "element types of ", name, " and operand differ: got ",
                       bound.getElementType(), " and ", operand.getElementType());
    return success();
  };
  return failure(failed(verifyBound("C1", "min", getMin().getType())) ||
                 failed(verifyBound("C2", "max", getMax().getType())));
}

} // namespace torchere::stablehlo
