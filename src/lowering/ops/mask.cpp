// Ops that read or write elements in the order in which a mask names them.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/scan.h"
#include "lowering/selection.h"

namespace torchere::lowering {

namespace {

/// self with the elements that the mask names replaced by those of the source, one after the other.
mlir::Value maskedScatter(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value self = toResultShape(cx, args.tensor("self"), type.dtype);
  mlir::Value mask = toResultShape(cx, args.tensor("mask"), DType::Bool);
  mlir::Value source = flattened(cx, cx.convert(args.tensor("source"), type.dtype));
  if (cx.size(source, 0).is(0)) // then the mask is empty
    return self;
  mlir::Value places = numberOfSet(cx, flattened(cx, mask));
  mlir::Value taken = gatherSlices(cx, atLeastOne(cx, source, 0), slicesAlong(cx, places, 0));
  return cx.select(mask, cx.reshape(taken, type.shape), self);
}

/// The elements that the mask names, one after the other, in a tensor of the source's shape, then zeros.
mlir::Value maskedScatterBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  mlir::Value gradient = args.tensor("grad_output");
  Dims shape = cx.shape(gradient);
  mlir::Value mask = flattened(cx, cx.broadcastTo(cx.convert(args.tensor("mask"), DType::Bool), shape));
  Dim count = cx.product(type.shape);
  mlir::Value places = numberOfSet(cx, mask);
  mlir::Value outside = cx.broadcastTo(cx.sizeTensor(count), cx.shape(places));
  mlir::Value zeros = cx.full(int64_t{0}, type.dtype, {count});
  Placement placement = slicesAlong(cx, cx.select(mask, places, outside), 0);
  return cx.reshape(scatterSlices(cx, zeros, placement, flattened(cx, gradient), takeUpdate), type.shape);
}

} // namespace

void addMask(OpTable &table) {
  table.add("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", maskedScatter);
  table.add("aten::masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
            maskedScatterBackward);
}

} // namespace torchere::lowering
