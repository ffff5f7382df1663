// Implements the windows of pooling ops.
#include "lowering/pooling.h"

namespace torchere::lowering {

namespace {

/// How far the last window of ceil_mode reaches beyond the padded input, at least 0.
Dim beyond(Context &cx, const Window &window, size_t index, Dim in, Dim out) {
  int64_t reach = window.dilation[index] * (window.size[index] - 1) + 1;
  Dim covered = cx.add(cx.multiply(cx.subtract(out, 1), window.stride[index]), reach);
  return cx.maximum(cx.subtract(covered, cx.add(in, window.low[index] + window.high[index])), 0);
}

/// How many elements of the padded input each window holds: ones, summed by the same windows.
mlir::Value windowCounts(Context &cx, mlir::Value self, const Pooling &pooling, bool countsPadding,
                         llvm::ArrayRef<int64_t> padding, llvm::ArrayRef<Dim> out) {
  int64_t rank = Context::rank(self);
  mlir::Value ones = cx.fullLike(1.0, self);
  Pooling inner = pooling;
  if (countsPadding) { // padding counts, but not what ceil_mode adds beyond it
    Dims amounts(rank, Dim(0));
    for (size_t i = 0; i < padding.size(); ++i) {
      amounts[rank - padding.size() + i] = padding[i];
      inner.window.low[i] -= padding[i];
      inner.window.high[i] -= padding[i];
    }
    ones = cx.pad(ones, cx.constant(1.0, Context::dtype(self)), amounts, amounts, Integers(rank, 0));
  }
  return poolWith<stablehlo::AddOp>(cx, ones, cx.constant(0.0, Context::dtype(self)), inner, out);
}

} // namespace

Pooling poolingOf(Context &cx, const Args &args, size_t spatialRank, llvm::ArrayRef<Dim> in,
                  llvm::ArrayRef<Dim> out) {
  Pooling pooling;
  Window &window = pooling.window;
  window.size = args.integers("kernel_size", spatialRank);
  window.stride = args.integers("stride", spatialRank);
  if (window.stride.empty())
    window.stride = window.size;
  window.low = args.integers("padding", spatialRank);
  window.high = window.low;
  window.dilation = args.has("dilation") ? args.integers("dilation", spatialRank) : Integers(spatialRank, 1);
  pooling.extra.resize(spatialRank, Dim(0));
  if (!args.boolean("ceil_mode"))
    return pooling;
  for (size_t i = 0; i < spatialRank; ++i) {
    size_t axis = in.size() - spatialRank + i;
    Dim extra = beyond(cx, window, i, in[axis], out[axis]);
    if (extra.isConstant())
      window.high[i] += extra.constant();
    else
      pooling.extra[i] = extra;
  }
  return pooling;
}

mlir::Value extended(Context &cx, mlir::Value value, mlir::Value element, llvm::ArrayRef<Dim> extra) {
  if (llvm::all_of(extra, [](const Dim &dim) { return dim.is(0); }))
    return value;
  Dims high(Context::rank(value) - extra.size(), Dim(0));
  high.append(extra.begin(), extra.end());
  return cx.pad(value, element, Dims(high.size(), Dim(0)), high, Integers(high.size(), 0));
}

mlir::Value averageDivisor(Context &cx, const Args &args, mlir::Value self, const Pooling &pooling,
                           llvm::ArrayRef<Dim> out) {
  DType dtype = Context::dtype(self);
  if (args.has("divisor_override") && !args.isNone("divisor_override"))
    return cx.full(args.integer("divisor_override"), dtype, out);
  Integers padding = args.integers("padding", pooling.window.size.size());
  bool countsPadding = args.boolean("count_include_pad");
  bool isPadded = llvm::any_of(padding, [](int64_t amount) { return amount != 0; });
  bool isExtended = pooling.window.high != padding ||
                    llvm::any_of(pooling.extra, [](const Dim &dim) { return !dim.is(0); });
  if (isExtended || (isPadded && !countsPadding))
    return windowCounts(cx, self, pooling, countsPadding, padding, out);
  int64_t count = 1;
  for (int64_t size : pooling.window.size)
    count *= size;
  return cx.full(count, dtype, out);
}

} // namespace torchere::lowering
