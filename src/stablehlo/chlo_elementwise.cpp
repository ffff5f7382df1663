// CHLO's elementwise functions: inference.
#include "stablehlo/chlo_dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/chlo_elementwise.cpp.inc"

namespace torchere::chlo {

void addElementwiseOps(CHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/chlo_elementwise.cpp.inc"
      >();
}

static LogicalResult inferPredicate(Value operand, SmallVectorImpl<Type> &types) {
  types.push_back(cast<ShapedType>(operand.getType()).clone(IntegerType::get(operand.getContext(), 1)));
  return success();
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}

LogicalResult IsNegInfOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}

LogicalResult IsPosInfOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(adaptor.getOperand(), types);
}

} // namespace torchere::chlo
