// Elementwise ops of one operand: inference, verifiers and folds.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/unary.cpp.inc"

namespace torchere::stablehlo {

void addUnaryOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/unary.cpp.inc"
      >();
}

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto operand = cast<ShapedType>(adaptor.getOperand().getType());
  Type element = operand.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  types.push_back(operand.clone(element));
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(cast<ShapedType>(adaptor.getX().getType()).clone(IntegerType::get(context, 1)));
  return success();
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand, Type elementType) {
  build(builder, state, cast<ShapedType>(operand.getType()).clone(elementType), operand);
}

LogicalResult ConvertOp::verify() {
  if (failed(verifyCompatibleShape(getOperand().getType(), getType())))
    return violation(*this, "C1", "shapes of operand and result differ: got ", getOperand().getType(),
                     " and ", getType());
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

} // namespace torchere::stablehlo
