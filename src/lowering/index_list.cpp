// Lists of index tensors: broadcasting, negative indices, and the position of the indexed dimensions in the
// result.
#include "lowering/index_list.h"

#include "lowering/selection.h"

#include <algorithm>

namespace torchere::lowering {

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

namespace {

mlir::Value countedFromStart(Context &cx, mlir::Value index, Dim size) {
  mlir::Value wide = cx.convert(index, DType::I64);
  mlir::Value isNegative =
      cx.compare(stablehlo::ComparisonDirection::LT, wide, cx.fullLike(int64_t{0}, wide));
  mlir::Value length = cx.broadcastTo(cx.sizeTensor(size), cx.shape(wide));
  return cx.select(isNegative, cx.elementwise<stablehlo::AddOp>({wide, length}), wide);
}

bool isMask(mlir::Value index) {
  DType dtype = Context::dtype(index);
  return dtype == DType::Bool || dtype == DType::U8;
}

} // namespace

bool hasMask(const Values &indices) {
  return llvm::any_of(indices, [](mlir::Value index) { return index && isMask(index); });
}

Result<Placement> placementOf(Context &cx, mlir::Value value, const Values &indices) {
  Placement placement;
  Values given;
  int64_t axis = 0;
  for (mlir::Value index : indices) {
    if (!index) {
      ++axis;
      continue;
    }
    Values columns = {index};
    if (isMask(index)) {
      if (Context::rank(index) == 0)
        return cx.unimplemented("a mask without dimensions: expected at least one");
      mlir::Value mask = cx.convert(index, DType::Bool);
      columns = coordinatesOf(cx, placesOfSet(cx, flattened(cx, mask)), cx.shape(mask));
    }
    for (mlir::Value column : columns) {
      placement.axes.push_back(axis);
      given.push_back(isMask(index) ? column : countedFromStart(cx, column, cx.size(value, axis)));
      ++axis;
    }
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
