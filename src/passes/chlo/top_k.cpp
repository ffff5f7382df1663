// The expansion of top_k: a stable sort of the elements with their indices, of which the first k are kept.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"
#include "stablehlo/constraint.h"

using namespace mlir;

namespace torchere::passes {

namespace {

/// Indices along the last dimension.
Value indicesOf(OpBuilder &builder, Location location, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType()).clone(builder.getI32Type());
  IntegerAttr dimension = builder.getI64IntegerAttr(type.getRank() - 1);
  if (type.hasStaticShape())
    return stablehlo::IotaOp::create(builder, location, type, dimension);
  return stablehlo::DynamicIotaOp::create(builder, location, type, shapeOf(builder, location, operand),
                                          dimension);
}

/// Whether the left value comes first: the greater, of floats in their total order, so that NaN is the
/// greatest.
void buildComparator(Region &region, Location location, Type value, Type index) {
  OpBuilder builder(region);
  auto scalar = [](Type element) { return RankedTensorType::get({}, element); };
  Block *block =
      builder.createBlock(&region, {}, {scalar(value), scalar(value), scalar(index), scalar(index)},
                          SmallVector<Location>(4, location));
  auto order =
      isa<FloatType>(value) ? stablehlo::ComparisonType::TOTALORDER : stablehlo::naturalComparison(value);
  Value first = stablehlo::CompareOp::create(builder, location, block->getArgument(0), block->getArgument(1),
                                             stablehlo::ComparisonDirection::GT, order);
  stablehlo::ReturnOp::create(builder, location, first);
}

/// The first k elements along the last dimension.
Value firstOf(OpBuilder &builder, Location location, Value sorted, int64_t k) {
  auto type = cast<RankedTensorType>(sorted.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1);
  limits.back() = k;
  bool areKnown = llvm::all_of(limits, stablehlo::isKnown);
  if (areKnown)
    return stablehlo::SliceOp::create(
        builder, location, type.clone(limits), sorted, builder.getDenseI64ArrayAttr(starts),
        builder.getDenseI64ArrayAttr(limits), builder.getDenseI64ArrayAttr(strides));
  auto vector = [&](ArrayRef<int64_t> values) -> Value {
    auto vectorType = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI32Type());
    return stablehlo::ConstantOp::create(
        builder, location, DenseIntElementsAttr::get(vectorType, llvm::to_vector_of<int32_t>(values)));
  };
  SmallVector<Value> sizes;
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  for (int64_t dimension = 0; dimension + 1 < type.getRank(); ++dimension) {
    Value size = stablehlo::GetDimensionSizeOp::create(builder, location, sorted, dimension);
    sizes.push_back(stablehlo::ReshapeOp::create(builder, location, one, size));
  }
  sizes.push_back(vector(k));
  Value limit = stablehlo::ConcatenateOp::create(builder, location, sizes, 0);
  return stablehlo::RealDynamicSliceOp::create(builder, location, type.clone(limits), sorted, vector(starts),
                                               limit, vector(strides));
}

FailureOr<Values> expandTopK(chlo::TopKOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type element = stablehlo::elementType(op.getOperand().getType());
  if (isa<ComplexType>(element))
    return op.emitOpError("of complex numbers has no expansion to StableHLO: they have no order");
  Value indices = indicesOf(builder, location, op.getOperand());
  SmallVector<Value> inputs = {op.getOperand(), indices};
  int64_t last = op.getOperand().getType().getRank() - 1;
  auto sort = stablehlo::SortOp::create(builder, location, ValueRange(inputs).getTypes(), inputs,
                                        builder.getI64IntegerAttr(last), builder.getBoolAttr(true));
  buildComparator(sort.getComparator(), location, element, builder.getI32Type());
  return Values{firstOf(builder, location, sort.getResult(0), op.getK()),
                firstOf(builder, location, sort.getResult(1), op.getK())};
}

} // namespace

void addTopKExpansion(Expansions &table) {
  addExpansion<chlo::TopKOp>(table, expandTopK);
}

} // namespace torchere::passes
