// Ops that pick elements by index tensors.
#include "lowering/op_table.h"
#include "lowering/placement.h"

namespace torchere::lowering {

namespace {

mlir::Value embedding(Context &cx, const Args &args) {
  return gatherSlices(cx, args.tensor("weight"), slicesAlong(cx, args.tensor("indices"), 0));
}

Result<mlir::Value> indexSelect(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value index = args.tensor("index");
  if (Context::rank(self) == 0)
    return cx.broadcastTo(self, cx.resultType().shape);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(index) == 0)
    index = cx.reshape(index, {Dim(1)});
  return gatherSlices(cx, self, slicesAlong(cx, index, axis));
}

} // namespace

void addIndexing(OpTable &table) {
  table.add(
      "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
      "bool sparse=False) -> Tensor",
      embedding);
  table.add("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", indexSelect);
}

} // namespace torchere::lowering
