// Average pooling to a given size, over the last one, two or three dimensions.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// The mean over whole axes.
mlir::Value averageAll(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  DType dtype = Context::dtype(value);
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(value, cx.constant(0.0, dtype), axes);
  mlir::Value divisor = cx.broadcastTo(cx.count(value, axes, dtype), cx.shape(sum));
  return cx.reshape(cx.elementwise<stablehlo::DivOp>({sum, divisor}),
                    cx.reducedShape(cx.shape(value), axes, /*keep=*/true));
}

/// floor(i * in / out) for each i of `bins`, or the ceiling.
mlir::Value binEdge(Context &cx, mlir::Value bins, mlir::Value in, mlir::Value out, bool isCeiling) {
  mlir::Value scaled = cx.elementwise<stablehlo::MulOp>({bins, in});
  if (isCeiling) {
    mlir::Value less = cx.elementwise<stablehlo::SubtractOp>({out, cx.fullLike(int64_t{1}, out)});
    scaled = cx.elementwise<stablehlo::AddOp>({scaled, less});
  }
  return cx.elementwise<stablehlo::DivOp>({scaled, out});
}

/// The [out, in] matrix that averages in bins: bin i spans floor(i * in / out) to ceil((i + 1) * in / out).
mlir::Value averagingMatrix(Context &cx, Dim in, Dim out, DType dtype) {
  Dims shape = {out, in};
  mlir::Value bins = cx.iota(shape, DType::I64, 0);
  mlir::Value inSize = cx.broadcastTo(cx.sizeTensor(in), shape);
  mlir::Value outSize = cx.broadcastTo(cx.sizeTensor(out), shape);
  mlir::Value next = cx.elementwise<stablehlo::AddOp>({bins, cx.fullLike(int64_t{1}, bins)});
  mlir::Value start = binEdge(cx, bins, inSize, outSize, /*isCeiling=*/false);
  mlir::Value end = binEdge(cx, next, inSize, outSize, /*isCeiling=*/true);
  mlir::Value places = cx.iota(shape, DType::I64, 1);
  mlir::Value isInside = cx.elementwise<stablehlo::AndOp>(
      {cx.compare(Direction::GE, places, start), cx.compare(Direction::LT, places, end)});
  mlir::Value length = cx.convert(cx.elementwise<stablehlo::SubtractOp>({end, start}), dtype);
  mlir::Value share = cx.elementwise<stablehlo::DivOp>({cx.fullLike(1.0, length), length});
  return cx.select(isInside, share, cx.fullLike(0.0, share));
}

/// Averages one axis into `out` bins by a product with the averaging matrix.
mlir::Value averageAxis(Context &cx, mlir::Value value, int64_t axis, Dim out) {
  mlir::Value matrix = averagingMatrix(cx, cx.size(value, axis), out, Context::dtype(value));
  mlir::Value product = cx.dotGeneral(value, matrix, /*batch=*/0, axis, 1); // the bins come last
  Integers permutation(Context::rank(value) - 1);
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.insert(permutation.begin() + axis, Context::rank(value) - 1);
  return cx.transpose(product, permutation);
}

template <int64_t spatialRank> mlir::Value adaptiveAvgPool(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value value = cx.convert(args.tensor("self"), computeType(dtype));
  const Dims &out = cx.resultType().shape;
  int64_t rank = Context::rank(value);
  Integers whole, binned;
  for (int64_t axis = rank - spatialRank; axis < rank; ++axis)
    if (out[axis].is(1))
      whole.push_back(axis);
    else if (!(cx.size(value, axis) == out[axis]))
      binned.push_back(axis);
  if (!whole.empty())
    value = averageAll(cx, value, whole);
  for (int64_t axis : binned)
    value = averageAxis(cx, value, axis, out[axis]);
  return cx.convert(value, dtype);
}

} // namespace

void addAdaptivePooling(OpTable &table) {
  table.add("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", adaptiveAvgPool<1>);
  table.add("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>);
  table.add("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>);
  table.add("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>);
  table.add("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>);
}

} // namespace torchere::lowering
