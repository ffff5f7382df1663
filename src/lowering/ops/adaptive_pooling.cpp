// Average and max pooling to a given size, over the last one, two or three dimensions.
#include "lowering/axis_matrix.h"
#include "lowering/elementwise.h"
#include "lowering/maxima.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// The mean over whole axes.
mlir::Value averageAll(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  DType dtype = Context::dtype(value);
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(value, cx.constant(0.0, dtype), axes);
  mlir::Value divisor = cx.broadcastTo(cx.count(value, axes, dtype), cx.shape(sum));
  return cx.reshape(cx.elementwise<stablehlo::DivOp>({sum, divisor}),
                    cx.reducedShape(cx.shape(value), axes, /*keep=*/true));
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
  for (int64_t axis : binned) {
    mlir::Value matrix = averagingMatrix(cx, cx.size(value, axis), out[axis], Context::dtype(value));
    value = multiplyAlong(cx, value, axis, matrix, 1);
  }
  return cx.convert(value, dtype);
}

/// The maxima in bins along an axis, with the places that `places` gives for the elements.
Maxima maximaAlong(Context &cx, const Maxima &elements, int64_t axis, Dim out) {
  Dims pairs = cx.shape(elements.values);
  Bins bins = adaptiveBins(cx, pairs[axis], out);
  pairs.insert(pairs.begin() + axis, out);
  Integers own;
  for (int64_t i = 0; i < Context::rank(elements.values); ++i)
    own.push_back(i < axis ? i : i + 1);
  auto spread = [&](mlir::Value value) { return cx.broadcastInDim(value, pairs, own); };
  mlir::Value isInside = cx.broadcastInDim(bins.holds, pairs, {axis, axis + 1});
  return reduceMaxima(cx, {spread(elements.values), spread(elements.places)}, isInside, axis + 1);
}

/// The maximum of each bin, and its place among the spatial dimensions, flattened: the first of equals.
template <int64_t spatialRank> Values adaptiveMaxPool(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  const Dims &out = cx.resultType().shape;
  int64_t rank = Context::rank(self);
  Dims shape = cx.shape(self);
  Dims spatial(shape.end() - spatialRank, shape.end());
  mlir::Value flat = cx.iota({cx.product(spatial)}, DType::I64, 0);
  Maxima maxima = {self, cx.broadcastTo(cx.reshape(flat, spatial), shape)};
  for (int64_t axis = rank - 1; axis >= rank - spatialRank; --axis)
    maxima = maximaAlong(cx, maxima, axis, out[axis]);
  return {maxima.values, maxima.places};
}

} // namespace

void addAdaptivePooling(OpTable &table) {
  table.add("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", adaptiveAvgPool<1>);
  table.add("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>);
  table.add("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool<2>);
  table.add("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>);
  table.add("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptiveAvgPool<3>);
  table.add("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
            adaptiveMaxPool<2>);
  table.add("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
            adaptiveMaxPool<3>);
}

} // namespace torchere::lowering
