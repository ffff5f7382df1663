// CHLO's broadcasting ops: inference.
#include "stablehlo/chlo_dialect.h"
#include "stablehlo/constraint.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/chlo_broadcast.cpp.inc"

namespace torchere::chlo {

using stablehlo::Reporter;

void addBroadcastOps(CHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/chlo_broadcast.cpp.inc"
      >();
}

namespace {

using Shape = SmallVector<int64_t>;

/// The size that two sizes broadcast to; nothing when they do not. An unknown size gives way to one above 1.
std::optional<int64_t> broadcastSize(int64_t a, int64_t b) {
  if (a == b || b == 1)
    return a;
  if (a == 1)
    return b;
  if (!stablehlo::isKnown(a))
    return b;
  if (!stablehlo::isKnown(b))
    return a;
  return std::nullopt;
}

/// Stretches `shape` by the sizes of an operand whose dimension i lies at dimensions[i].
LogicalResult stretch(const Reporter &reporter, Shape &shape, RankedTensorType operand,
                      ArrayRef<int64_t> dimensions) {
  for (auto [size, dimension] : llvm::zip(operand.getShape(), dimensions)) {
    std::optional<int64_t> stretched = broadcastSize(shape[dimension], size);
    if (!stretched)
      return reporter.violation("", "operands do not broadcast: dimension ", dimension, " of the result has ",
                                shape[dimension], " elements in one and ", size, " in another");
    shape[dimension] = *stretched;
  }
  return success();
}

/// Shapes aligned at their ends.
FailureOr<Shape> alignedShape(const Reporter &reporter, ValueRange operands) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = std::max(rank, cast<RankedTensorType>(operand.getType()).getRank());
  Shape shape(rank, 1);
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(
            stretch(reporter, shape, type, llvm::to_vector(llvm::seq<int64_t>(rank - type.getRank(), rank)))))
      return failure();
  }
  return shape;
}

} // namespace

LogicalResult inferBroadcastType(StringRef op, std::optional<Location> location, ValueRange operands,
                                 std::optional<ArrayRef<int64_t>> dimensions, Type element,
                                 SmallVectorImpl<Type> &types) {
  Reporter reporter(location, op);
  auto lhs = cast<RankedTensorType>(operands[0].getType());
  auto rhs = cast<RankedTensorType>(operands[1].getType());
  if (lhs.getElementType() != rhs.getElementType())
    return reporter.violation("", "element types of lhs and rhs differ: got ", lhs.getElementType(), " and ",
                              rhs.getElementType());
  FailureOr<Shape> shape;
  if (!dimensions) {
    shape = alignedShape(reporter, operands);
  } else {
    RankedTensorType larger = lhs.getRank() > rhs.getRank() ? lhs : rhs;
    RankedTensorType smaller = lhs.getRank() > rhs.getRank() ? rhs : lhs;
    if (failed(reporter.size("", "broadcast_dimensions", dimensions->size(), smaller.getRank())) ||
        failed(reporter.inRange("", "broadcast_dimensions", *dimensions, larger.getRank())) ||
        failed(reporter.unique("", "broadcast_dimensions", *dimensions)))
      return failure();
    shape = Shape(larger.getShape());
    if (failed(stretch(reporter, *shape, smaller, *dimensions)))
      return failure();
  }
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, element ? element : lhs.getElementType()));
  return success();
}

LogicalResult BroadcastComplexOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Type part = stablehlo::elementType(adaptor.getLhs().getType());
  if (!part.isF32() && !part.isF64())
    return stablehlo::violation(location, getOperationName(), "", "operands have elements of type ", part,
                                ", expected f32 or f64");
  return inferBroadcastType(getOperationName(), location, adaptor.getOperands(),
                            adaptor.getBroadcastDimensions(), ComplexType::get(part), types);
}

LogicalResult BroadcastCompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferBroadcastType(getOperationName(), location, adaptor.getOperands(),
                            adaptor.getBroadcastDimensions(), IntegerType::get(context, 1), types);
}

LogicalResult BroadcastSelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Reporter reporter(location, getOperationName());
  Type onTrue = stablehlo::elementType(adaptor.getOnTrue().getType());
  Type onFalse = stablehlo::elementType(adaptor.getOnFalse().getType());
  if (onTrue != onFalse)
    return reporter.violation("", "element types of on_true and on_false differ: got ", onTrue, " and ",
                              onFalse);
  FailureOr<Shape> shape = alignedShape(reporter, adaptor.getOperands());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, onTrue));
  return success();
}

} // namespace torchere::chlo
