// Max pooling with windows whose distances are drawn at random, given as tensors.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/maxima.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// Where the windows along a spatial axis begin: [N, C, out], i64. The sample, [N, C], moves all but the last
/// one, which ends with the input.
mlir::Value windowStarts(Context &cx, mlir::Value sample, Dim in, int64_t out, int64_t size) {
  Dims shape = cx.shape(sample);
  shape.push_back(Dim(out));
  DType dtype = Context::dtype(sample);
  Elements index(cx, cx.iota(shape, dtype, 2));
  Elements drawn = index.with(cx.broadcastInDim(sample, shape, {0, 1}));
  Dim last = cx.subtract(in, size);
  Elements ends = index.with(cx.broadcastTo(cx.sizeTensor(last, dtype), shape));
  Elements step = ends / static_cast<double>(std::max<int64_t>(out - 1, 1));
  auto truncated = [&](mlir::Value place) { return index.with(cx.convert(place, DType::I64)); };
  Elements start = truncated((index + drawn) * step) - truncated(drawn * step);
  Elements isLast = index >= static_cast<double>(out - 1);
  return isLast.select(truncated(ends), start);
}

/// Adds to places [N, C, outs..., sizes...] those along spatial axis `index` of `rank`.
mlir::Value addPlaces(Context &cx, mlir::Value places, mlir::Value starts, int64_t index, int64_t rank,
                      Dim stride) {
  Dims shape = cx.shape(places);
  mlir::Value along = cx.elementwise<stablehlo::AddOp>(
      {cx.broadcastInDim(starts, shape, {0, 1, 2 + index}), cx.iota(shape, DType::I64, 2 + rank + index)});
  mlir::Value scaled =
      cx.elementwise<stablehlo::MulOp>({along, cx.broadcastTo(cx.sizeTensor(stride), shape)});
  return cx.elementwise<stablehlo::AddOp>({places, scaled});
}

/// The maximum of each window, and its place among the spatial dimensions, flattened.
template <int64_t rank> Values fractionalMaxPool(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Integers sizes = args.integers("kernel_size", rank), outs = args.integers("output_size", rank);
  Dims shape = cx.shape(self);
  if (Context::rank(self) == rank + 1)
    shape.insert(shape.begin(), Dim(1));
  mlir::Value samples = cx.convert(args.tensor("random_samples"), computeType(Context::dtype(self)));
  Dims windows = {shape[0], shape[1]};
  windows.append(outs.begin(), outs.end());
  int64_t elements = 1;
  for (int64_t size : sizes) {
    windows.push_back(Dim(size));
    elements *= size;
  }
  mlir::Value places = cx.full(int64_t{0}, DType::I64, windows);
  Dim stride = 1;
  for (int64_t i = rank - 1; i >= 0; --i) {
    // The samples of the last axis come first in two dimensions, and last in three.
    int64_t which = rank == 2 ? 1 - i : i;
    mlir::Value sample =
        cx.slice(samples, {Dim(0), Dim(0), Dim(which)}, {shape[0], shape[1], Dim(which + 1)}, {1, 1, 1});
    sample = cx.reshape(sample, {shape[0], shape[1]});
    mlir::Value starts = windowStarts(cx, sample, shape[2 + i], outs[i], sizes[i]);
    places = addPlaces(cx, places, starts, i, rank, stride);
    stride = cx.multiply(stride, shape[2 + i]);
  }
  Dim count = cx.product(llvm::ArrayRef<Dim>(windows).drop_front(2));
  mlir::Value flat = cx.reshape(self, {shape[0], shape[1], stride});
  mlir::Value taken =
      gatherSlices(cx, flat, elementsAlong(cx, cx.reshape(places, {shape[0], shape[1], count}), 2));
  Dims grouped(windows.begin(), windows.begin() + 2 + rank);
  grouped.push_back(Dim(elements));
  Maxima maxima = reduceMaxima(cx, {cx.reshape(taken, grouped), cx.reshape(places, grouped)},
                               cx.full(true, DType::Bool, grouped), 2 + rank);
  return {cx.reshape(maxima.values, cx.resultType(0).shape),
          cx.reshape(maxima.places, cx.resultType(1).shape)};
}

} // namespace

void addFractionalPooling(OpTable &table) {
  table.add("aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, "
            "Tensor random_samples) -> (Tensor, Tensor)",
            fractionalMaxPool<2>);
  table.add("aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, "
            "Tensor random_samples) -> (Tensor, Tensor)",
            fractionalMaxPool<3>);
}

} // namespace torchere::lowering
