// Ops that read elements at the positions given by index tensors: gather and index.
#include "lowering/index_list.h"
#include "lowering/op_table.h"
#include "lowering/selection.h"

namespace torchere::lowering {

namespace {

/// result[i, j, k] = self[index[i, j, k], j, k] for dim 0. `index` may be smaller than self along other
/// dimensions.
Result<mlir::Value> gather(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value index = args.tensor("index");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0) // index is 0, in one element or none
    return cx.broadcastTo(self, cx.shape(index));
  if (Context::rank(index) == 0)
    index = cx.reshape(index, {Dim(1)});
  if (Context::rank(index) != Context::rank(self)) // torch allows it if there is nothing to gather
    return cx.full(int64_t{0}, Context::dtype(self), cx.resultType().shape);
  return cx.reshape(gatherSlices(cx, self, elementsAlong(cx, index, axis)), cx.resultType().shape);
}

/// The dimensions that a mask of several selects from become one, and so does the mask: its places need not
/// be divided into coordinates.
void joinMasked(Context &cx, mlir::Value &self, Values &indices) {
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    mlir::Value &index = indices[axis];
    if (!index || !hasMask({index}) || Context::rank(index) < 2)
      continue;
    Dims shape = cx.shape(self);
    auto first = shape.begin() + static_cast<ptrdiff_t>(axis), last = first + Context::rank(index);
    *first = cx.product({first, last});
    shape.erase(first + 1, last);
    self = cx.reshape(self, shape);
    index = flattened(cx, index);
  }
}

Result<mlir::Value> index(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Values indices = args.optionalTensors("indices");
  joinMasked(cx, self, indices);
  TORCHERE_ASSIGN(Placement placement, placementOf(cx, self, indices));
  if (hasMask(indices))
    for (int64_t axis : placement.axes)
      self = atLeastOne(cx, self, axis);
  return gatherSlices(cx, self, placement);
}

/// self[index] where self counts as one row of elements.
Result<mlir::Value> take(Context &cx, const Args &args) {
  mlir::Value row = flattened(cx, args.tensor("self"));
  TORCHERE_ASSIGN(Placement placement, placementOf(cx, row, {args.tensor("index")}));
  return gatherSlices(cx, row, placement);
}

} // namespace

void addGather(OpTable &table) {
  table.add("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", gather);
  table.addSizedByData("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index);
  table.add("aten::take(Tensor self, Tensor index) -> Tensor", take);
}

} // namespace torchere::lowering
