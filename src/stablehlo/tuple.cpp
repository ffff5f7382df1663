// Tuples: inference and folds.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/tuple.cpp.inc"

namespace torchere::stablehlo {

void addTupleOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/tuple.cpp.inc"
      >();
}

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(TupleType::get(context, adaptor.getVal().getTypes()));
  return success();
}

LogicalResult TupleOp::verify() {
  // Its text has no place for operand types other than the tuple's.
  auto expected = TupleType::get(getContext(), getVal().getTypes());
  if (getType() == expected)
    return success();
  return violation(*this, "C1", "result is ", getType(), ", expected ", expected);
}

LogicalResult GetTupleElementOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto tuple = cast<TupleType>(adaptor.getOperand().getType());
  auto index = static_cast<int32_t>(adaptor.getIndex());
  if (failed(Reporter(location, getOperationName()).inRange("C1", "index", index, tuple.size())))
    return failure();
  types.push_back(tuple.getType(index));
  return success();
}

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  if (!tuple)
    return {};
  Value element = tuple.getVal()[getIndex()];
  return element.getType() == getType() ? element : OpFoldResult();
}

} // namespace torchere::stablehlo
