// Positions of extreme elements: argmax and argmin, and max and min along a dimension with their indices.
#include "lowering/elementwise.h"
#include "lowering/extreme.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// `max` or `min` as Op, over values of the row's own dtype.
template <class Op> mlir::Value initialOf(Context &cx, mlir::Value value) {
  mlir::Type element = Context::elementType(value);
  return std::is_same_v<Op, stablehlo::MaxOp> ? cx.lowest(element) : cx.highest(element);
}

template <class Op> Result<mlir::Value> position(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  int64_t axis = 0;
  if (auto dim = args.optionalInteger("dim")) {
    TORCHERE_ASSIGN(axis, cx.axis(*dim, Context::rank(self)));
  } else {
    self = cx.reshape(self, {cx.product(cx.shape(self))});
  }
  if (Context::rank(self) == 0)
    return cx.full(int64_t{0}, DType::I64, cx.resultType().shape);
  return cx.reshape(extremeAlong<Op>(cx, self, initialOf<Op>(cx, self), axis).index, cx.resultType().shape);
}

template <class Op> Result<Values> valueAndPosition(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return Values{self, cx.full(int64_t{0}, DType::I64, {})};
  Extreme extreme = extremeAlong<Op>(cx, self, initialOf<Op>(cx, self), axis);
  return Values{cx.reshape(extreme.value, cx.resultType(0).shape),
                cx.reshape(extreme.index, cx.resultType(1).shape)};
}

} // namespace

void addExtrema(OpTable &table) {
  table.add("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            position<stablehlo::MaxOp>);
  table.add("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            position<stablehlo::MinOp>);
  table.add("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
            valueAndPosition<stablehlo::MaxOp>);
  table.add("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
            valueAndPosition<stablehlo::MinOp>);
}

} // namespace torchere::lowering
