// Gathers and scatters by coordinates.
#include "lowering/placement.h"

#include <algorithm>
#include <numeric>

namespace torchere::lowering {

namespace {

int64_t placeRank(const Placement &placement) {
  return Context::rank(placement.coordinates) - 1;
}

/// The slices' dimensions among those of the result.
Integers sliceDimensions(const Placement &placement, int64_t rank) {
  Integers dimensions;
  int64_t count = rank - static_cast<int64_t>(placement.axes.size());
  for (int64_t i = 0; i < count; ++i)
    dimensions.push_back(i < placement.position ? i : i + placeRank(placement));
  return dimensions;
}

} // namespace

Dims slicesShape(Context &cx, mlir::Value value, const Placement &placement) {
  Dims slice;
  for (auto [axis, dim] : llvm::enumerate(cx.shape(value)))
    if (!llvm::is_contained(placement.axes, static_cast<int64_t>(axis)))
      slice.push_back(dim);
  Dims places = cx.shape(placement.coordinates);
  slice.insert(slice.begin() + placement.position, places.begin(), places.end() - 1);
  return slice;
}

Placement elementsAlong(Context &cx, mlir::Value index, int64_t axis) {
  Dims shape = cx.shape(index);
  Dims column = shape;
  column.push_back(Dim(1));
  Values columns;
  for (int64_t i = 0; i < Context::rank(index); ++i) {
    mlir::Value coordinate = i == axis ? cx.convert(index, DType::I64) : cx.iota(shape, DType::I64, i);
    columns.push_back(cx.reshape(coordinate, column));
  }
  Placement placement;
  placement.coordinates = cx.concatenate(columns, Context::rank(index));
  placement.axes.resize(Context::rank(index));
  std::iota(placement.axes.begin(), placement.axes.end(), 0);
  return placement;
}

Placement slicesAlong(Context &cx, mlir::Value index, int64_t axis) {
  Dims column = cx.shape(index);
  column.push_back(Dim(1));
  return {cx.reshape(index, column), {axis}, axis};
}

mlir::Value gatherSlices(Context &cx, mlir::Value value, const Placement &placement) {
  Dims result = slicesShape(cx, value, placement);
  Dims sizes = cx.shape(value);
  for (int64_t axis : placement.axes) {
    if (sizes[axis].is(0)) // there is no place that could be read
      return cx.full(int64_t{0}, Context::dtype(value), result);
    sizes[axis] = 1;
  }
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      cx.builder().getContext(), sliceDimensions(placement, Context::rank(value)),
      /*collapsedSliceDims=*/placement.axes, /*operandBatchingDims=*/{}, /*startIndicesBatchingDims=*/{},
      /*startIndexMap=*/placement.axes, /*indexVectorDim=*/placeRank(placement));
  mlir::Type type = cx.tensorType(result, Context::elementType(value));
  mlir::NamedAttribute dimensions = cx.attribute("dimension_numbers", numbers);
  mlir::NamedAttribute sorted = cx.attribute("indices_are_sorted", cx.builder().getBoolAttr(false));
  if (!llvm::all_of(sizes, [](const Dim &dim) { return dim.isConstant(); }))
    return cx.withShape(
        cx.create<stablehlo::DynamicGatherOp>(type, {value, placement.coordinates, cx.shapeTensor(sizes)},
                                              {dimensions, sorted}),
        result);
  Integers constants;
  for (const Dim &dim : sizes)
    constants.push_back(dim.constant());
  return cx.withShape(
      cx.create<stablehlo::GatherOp>(type, {value, placement.coordinates},
                                     {dimensions, cx.integersAttribute("slice_sizes", constants), sorted}),
      result);
}

mlir::Value scatterSlices(Context &cx, mlir::Value value, const Placement &placement, mlir::Value updates,
                          RegionBody body) {
  mlir::OpBuilder &builder = cx.builder();
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      builder.getContext(), sliceDimensions(placement, Context::rank(value)),
      /*insertedWindowDims=*/placement.axes, /*inputBatchingDims=*/{}, /*scatterIndicesBatchingDims=*/{},
      /*scatterDimsToOperandDims=*/placement.axes, /*indexVectorDim=*/placeRank(placement));
  mlir::OperationState operation(cx.loc(), stablehlo::ScatterOp::getOperationName());
  operation.addOperands({value, placement.coordinates, updates});
  operation.addTypes(value.getType());
  operation.addAttribute("scatter_dimension_numbers", numbers);
  auto *block = new mlir::Block;
  operation.addRegion()->push_back(block);
  mlir::Type scalar = mlir::RankedTensorType::get({}, Context::elementType(value));
  block->addArguments({scalar, scalar}, {cx.loc(), cx.loc()});
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    mlir::Value result = body(builder, cx.loc(), block->getArguments());
    stablehlo::ReturnOp::create(builder, cx.loc(), mlir::ValueRange{result});
  }
  return cx.withShape(builder.create(operation)->getResult(0), cx.shape(value));
}

mlir::Value takeUpdate(mlir::OpBuilder &, mlir::Location, mlir::ValueRange operands) {
  return operands[1];
}

} // namespace torchere::lowering
