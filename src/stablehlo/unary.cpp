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

/// The operand's type with real elements.
static Type realType(Value operand) {
  auto type = cast<ShapedType>(operand.getType());
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  return complex ? type.clone(complex.getElementType()) : type;
}

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(realType(adaptor.getOperand()));
  return success();
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(realType(adaptor.getOperand()));
  return success();
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(realType(adaptor.getOperand()));
  return success();
}

/// What real and imag give of a number that is real already, or made of its parts.
template <class Op> static OpFoldResult foldPart(Op op, Value part) {
  return part && part.getType() == op.getType() ? part : OpFoldResult();
}

OpFoldResult RealOp::fold(FoldAdaptor) {
  auto complex = getOperand().getDefiningOp<ComplexOp>();
  return foldPart(*this, complex ? complex.getLhs() : getOperand());
}

OpFoldResult ImagOp::fold(FoldAdaptor) {
  auto complex = getOperand().getDefiningOp<ComplexOp>();
  return foldPart(*this, complex ? complex.getRhs() : Value());
}

LogicalResult ReducePrecisionOp::verify() {
  Reporter reporter(*this);
  int64_t exponentBits = static_cast<int32_t>(getExponentBits());
  int64_t mantissaBits = static_cast<int32_t>(getMantissaBits());
  return failure(failed(reporter.atLeast("C2", "exponent_bits", exponentBits, 1)) ||
                 failed(reporter.atLeast("C3", "mantissa_bits", mantissaBits, 0)));
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
