// Lists of index tensors: broadcasting, negative indices, and the position of the indexed dimensions in the
// result.
#include "lowering/index_list.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// The common shape of tensors that are broadcast together.
Dims broadcastShape(Context &cx, const Values &tensors) {
  Dims result;
  for (mlir::Value tensor : tensors) {
    Dims shape = cx.shape(tensor);
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), Dim(1));
    size_t offset = result.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (result[offset + i].is(1))
        result[offset + i] = shape[i];
  }
  return result;
}

mlir::Value countedFromStart(Context &cx, mlir::Value index, Dim size) {
  mlir::Value wide = cx.convert(index, DType::I64);
  mlir::Value isNegative =
      cx.compare(stablehlo::ComparisonDirection::LT, wide, cx.fullLike(int64_t{0}, wide));
  mlir::Value length = cx.broadcastTo(cx.sizeTensor(size), cx.shape(wide));
  return cx.select(isNegative, cx.elementwise<stablehlo::AddOp>({wide, length}), wide);
}

} // namespace

Result<Placement> placementOf(Context &cx, mlir::Value value, const Values &indices) {
  Placement placement;
  Values given;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    DType dtype = Context::dtype(index);
    if (dtype == DType::Bool || dtype == DType::U8)
      return cx.unimplemented(
          "indexing by a mask is not supported: got {}, expected integers (the result's size "
          "depends on the mask's data; torch.where keeps the shape)",
          dtypeInfo(dtype).torchName);
    placement.axes.push_back(static_cast<int64_t>(axis));
    given.push_back(countedFromStart(cx, index, cx.size(value, static_cast<int64_t>(axis))));
  }
  if (given.empty())
    return cx.invalid("no index is given: expected at least one index tensor");
  Dims places = broadcastShape(cx, given);
  Dims column = places;
  column.push_back(Dim(1));
  for (mlir::Value &index : given)
    index = cx.reshape(cx.broadcastTo(index, places), column);
  placement.coordinates = cx.concatenate(given, static_cast<int64_t>(places.size()));
  bool adjacent =
      placement.axes.back() - placement.axes.front() + 1 == static_cast<int64_t>(placement.axes.size());
  placement.position = adjacent ? placement.axes.front() : 0;
  return placement;
}

} // namespace torchere::lowering
