// Running sums and products along a dimension.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/window.h"

namespace torchere::lowering {

namespace {

/// Element i folds elements 0 to i: a window as long as the axis that ends at i.
template <class Op> Result<mlir::Value> running(Context &cx, const Args &args, const Scalar &initial) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return cx.convert(self, dtype);
  Dim length = cx.size(self, axis);
  if (!length.isConstant())
    return cx.unimplemented("the size of the dimension must be constant: got one known only at run time");
  if (length.constant() <= 1)
    return cx.convert(self, dtype);
  Integers ones(Context::rank(self), 1);
  Integers zeros(Context::rank(self), 0);
  Window window = {ones, ones, zeros, zeros, ones};
  window.size[axis] = length.constant();
  window.low[axis] = length.constant() - 1;
  mlir::Value neutral = cx.constant(initial, Context::dtype(self));
  return cx.convert(reduceWindow<Op>(cx, self, neutral, window, cx.shape(self)), dtype);
}

Result<mlir::Value> runningSum(Context &cx, const Args &args) {
  return running<stablehlo::AddOp>(cx, args, int64_t{0});
}

Result<mlir::Value> runningProduct(Context &cx, const Args &args) {
  return running<stablehlo::MulOp>(cx, args, int64_t{1});
}

} // namespace

void addScan(OpTable &table) {
  table.add("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningSum);
  table.add("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningProduct);
}

} // namespace torchere::lowering
