// Implements matrices along an axis, and the bins of adaptive pooling.
#include "lowering/axis_matrix.h"

#include <numeric>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// floor(i * in / out) for each i of `bins`, or the ceiling.
mlir::Value binEdge(Context &cx, mlir::Value bins, mlir::Value in, mlir::Value out, bool isCeiling) {
  mlir::Value scaled = cx.elementwise<stablehlo::MulOp>({bins, in});
  if (isCeiling) {
    mlir::Value less = cx.elementwise<stablehlo::SubtractOp>({out, cx.fullLike(int64_t{1}, out)});
    scaled = cx.elementwise<stablehlo::AddOp>({scaled, less});
  }
  return cx.elementwise<stablehlo::DivOp>({scaled, out});
}

} // namespace

Bins adaptiveBins(Context &cx, Dim in, Dim out) {
  Dims shape = {out, in};
  mlir::Value bins = cx.iota(shape, DType::I64, 0);
  mlir::Value inSize = cx.broadcastTo(cx.sizeTensor(in), shape);
  mlir::Value outSize = cx.broadcastTo(cx.sizeTensor(out), shape);
  mlir::Value next = cx.elementwise<stablehlo::AddOp>({bins, cx.fullLike(int64_t{1}, bins)});
  mlir::Value start = binEdge(cx, bins, inSize, outSize, /*isCeiling=*/false);
  mlir::Value end = binEdge(cx, next, inSize, outSize, /*isCeiling=*/true);
  mlir::Value places = cx.iota(shape, DType::I64, 1);
  mlir::Value holds = cx.elementwise<stablehlo::AndOp>(
      {cx.compare(Direction::GE, places, start), cx.compare(Direction::LT, places, end)});
  return {holds, cx.elementwise<stablehlo::SubtractOp>({end, start})};
}

mlir::Value averagingMatrix(Context &cx, Dim in, Dim out, DType dtype) {
  Bins bins = adaptiveBins(cx, in, out);
  mlir::Value length = cx.convert(bins.length, dtype);
  mlir::Value share = cx.elementwise<stablehlo::DivOp>({cx.fullLike(1.0, length), length});
  return cx.select(bins.holds, share, cx.fullLike(0.0, share));
}

mlir::Value multiplyAlong(Context &cx, mlir::Value value, int64_t axis, mlir::Value matrix,
                          int64_t matrixAxis) {
  mlir::Value product =
      cx.dotGeneral(value, matrix, /*batch=*/0, axis, matrixAxis); // the new axis comes last
  Integers permutation(Context::rank(value) - 1);
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.insert(permutation.begin() + axis, Context::rank(value) - 1);
  return cx.transpose(product, permutation);
}

} // namespace torchere::lowering
