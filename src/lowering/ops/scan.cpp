// Running folds along a dimension: sums, products, extrema, and sums of exponentials.
#include "lowering/scan.h"
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <cmath>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

template <class Op> Result<mlir::Value> running(Context &cx, const Args &args, const Scalar &initial) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return cx.convert(self, dtype);
  return cx.convert(runningFold<Op>(cx, self, cx.constant(initial, Context::dtype(self)), axis), dtype);
}

Result<mlir::Value> runningSum(Context &cx, const Args &args) {
  return running<stablehlo::AddOp>(cx, args, int64_t{0});
}

Result<mlir::Value> runningProduct(Context &cx, const Args &args) {
  return running<stablehlo::MulOp>(cx, args, int64_t{1});
}

/// Extreme values and their positions: of equals the later one, and NaN from its first occurrence on. The
/// place is that of the last element that is as large as all before it.
template <class Op> Result<Values> runningExtreme(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return Values{self, cx.full(int64_t{0}, DType::I64, {})};
  mlir::Type element = Context::elementType(self);
  bool isMaximum = std::is_same_v<Op, stablehlo::MaxOp>;
  mlir::Value values = runningFold<Op>(cx, self, isMaximum ? cx.lowest(element) : cx.highest(element), axis);
  mlir::Value isExtreme = cx.compare(Direction::EQ, self, values);
  if (dtypeInfo(Context::dtype(self)).isFloatingPoint)
    isExtreme = cx.elementwise<stablehlo::OrOp>({isExtreme, cx.compare(Direction::NE, self, self)});
  mlir::Value places = cx.iota(cx.shape(self), DType::I64, axis);
  places = cx.select(isExtreme, places, cx.fullLike(int64_t{0}, places));
  mlir::Value first = cx.constant(int64_t{0}, DType::I64);
  return Values{values, runningFold<stablehlo::MaxOp>(cx, places, first, axis)};
}

/// log(exp(a) + exp(b)) computed from the larger one; equal operands are a special case because of
/// infinities.
Elements logOfSum(const Elements &a, const Elements &b) {
  Elements sum = a.apply<stablehlo::MaxOp>(b) + log1p(exp(-abs(a - b)));
  return a.compare(Direction::EQ, b).select(a + std::log(2.0), sum);
}

Result<mlir::Value> runningLogSum(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  if (dtypeInfo(dtype).isComplex)
    return cx.unimplemented("complex operands are not supported: got {}", dtypeInfo(dtype).torchName);
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0)
    return cx.convert(self, dtype);
  Values sums = scan(cx, {self}, axis, [&](const Values &earlier, const Values &later) {
    return Values{logOfSum(Elements(cx, earlier[0]), Elements(cx, later[0]))};
  });
  return cx.convert(sums[0], dtype);
}

} // namespace

void addScan(OpTable &table) {
  table.add("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningSum);
  table.add("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", runningProduct);
  table.add("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            runningExtreme<stablehlo::MaxOp>);
  table.add("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
            runningExtreme<stablehlo::MinOp>);
  table.add("aten::logcumsumexp(Tensor self, int dim) -> Tensor", runningLogSum);
}

} // namespace torchere::lowering
