// Max and average pooling over the last one, two or three dimensions.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/window.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// A pooling op's windows, and the extra padding that they need beyond their own.
struct Pooling {
  Window window;
  Dims extra; ///< after each spatial dimension: with ceil_mode, for the last, partial window
};

/// How far ceil_mode's last window extends beyond the padded input, at least 0.
Dim beyond(Context &cx, const Window &window, size_t index, Dim in, Dim out) {
  int64_t reach = window.dilation[index] * (window.size[index] - 1) + 1;
  Dim covered = cx.add(cx.multiply(cx.subtract(out, 1), window.stride[index]), reach);
  return cx.maximum(cx.subtract(covered, cx.add(in, window.low[index] + window.high[index])), 0);
}

template <size_t spatialRank> Pooling poolingOf(Context &cx, const Args &args) {
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
  Dims shape = cx.shape(args.tensor("self"));
  for (size_t i = 0; i < spatialRank; ++i) {
    size_t axis = shape.size() - spatialRank + i;
    Dim extra = beyond(cx, window, i, shape[axis], cx.resultType().shape[axis]);
    if (extra.isConstant())
      window.high[i] += extra.constant();
    else
      pooling.extra[i] = extra;
  }
  return pooling;
}

/// The value with `extra` more elements at the end of each spatial dimension.
mlir::Value extended(Context &cx, mlir::Value value, mlir::Value element, llvm::ArrayRef<Dim> extra) {
  if (llvm::all_of(extra, [](const Dim &dim) { return dim.is(0); }))
    return value;
  Dims high(Context::rank(value) - extra.size(), Dim(0));
  high.append(extra.begin(), extra.end());
  return cx.pad(value, element, Dims(high.size(), Dim(0)), high, Integers(high.size(), 0));
}

template <class Op>
mlir::Value poolWith(Context &cx, mlir::Value value, mlir::Value initial, const Pooling &pooling) {
  return reduceWindow<Op>(cx, extended(cx, value, initial, pooling.extra), initial, pooling.window,
                          cx.resultType().shape);
}

template <size_t spatialRank> mlir::Value maxPool(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return poolWith<stablehlo::MaxOp>(cx, self, cx.lowest(Context::elementType(self)),
                                    poolingOf<spatialRank>(cx, args));
}

/// The flat index of each element within the spatial dimensions.
mlir::Value flatPlaces(Context &cx, llvm::ArrayRef<Dim> shape, size_t spatialRank) {
  Dims spatial(shape.end() - spatialRank, shape.end());
  mlir::Value flat = cx.iota({cx.product(spatial)}, DType::I64, 0);
  return cx.broadcastTo(cx.reshape(flat, spatial), shape);
}

/// Whether a later element of a window replaces the current one: the larger, the last NaN, the first of
/// equals.
mlir::Value replaces(Context &cx, mlir::ValueRange operands) {
  mlir::Value best = operands[0], bestPlace = operands[1], value = operands[2], place = operands[3];
  auto both = [&](mlir::Value a, mlir::Value b) { return cx.elementwise<stablehlo::AndOp>({a, b}); };
  auto either = [&](mlir::Value a, mlir::Value b) { return cx.elementwise<stablehlo::OrOp>({a, b}); };
  mlir::Value earlier = cx.compare(Direction::LT, place, bestPlace);
  mlir::Value result =
      either(cx.compare(Direction::GT, value, best), both(cx.compare(Direction::EQ, value, best), earlier));
  if (!dtypeInfo(Context::dtype(value)).isFloatingPoint)
    return result;
  mlir::Value isNan = cx.compare(Direction::NE, value, value);
  mlir::Value wasNumber = cx.compare(Direction::EQ, best, best);
  mlir::Value later = cx.compare(Direction::GT, place, bestPlace);
  return either(result, both(isNan, either(wasNumber, later)));
}

template <size_t spatialRank> Values maxPoolWithIndices(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  Pooling pooling = poolingOf<spatialRank>(cx, args);
  mlir::Value places = flatPlaces(cx, cx.shape(self), spatialRank);
  mlir::Value lowest = cx.lowest(Context::elementType(self));
  mlir::Value nowhere = cx.highest(Context::elementType(places));
  Values padded = {extended(cx, self, lowest, pooling.extra), extended(cx, places, nowhere, pooling.extra)};
  return reduceWindows(cx, padded, {lowest, nowhere}, pooling.window, cx.resultType().shape,
                       [&](mlir::ValueRange operands) {
                         mlir::Value choice = replaces(cx, operands);
                         return Values{cx.select(choice, operands[2], operands[0]),
                                       cx.select(choice, operands[3], operands[1])};
                       });
}

/// The number of elements of the padded input in each window: ones, summed over the same windows.
mlir::Value windowCounts(Context &cx, mlir::Value self, const Pooling &pooling, bool countsPadding,
                         llvm::ArrayRef<int64_t> padding) {
  int64_t rank = Context::rank(self);
  mlir::Value ones = cx.fullLike(1.0, self);
  Pooling inner = pooling;
  if (countsPadding) { // padding counts, but not what ceil_mode adds to it
    Dims amounts(rank, Dim(0));
    for (size_t i = 0; i < padding.size(); ++i) {
      amounts[rank - padding.size() + i] = padding[i];
      inner.window.low[i] -= padding[i];
      inner.window.high[i] -= padding[i];
    }
    ones = cx.pad(ones, cx.constant(1.0, Context::dtype(self)), amounts, amounts, Integers(rank, 0));
  }
  return poolWith<stablehlo::AddOp>(cx, ones, cx.constant(0.0, Context::dtype(self)), inner);
}

template <size_t spatialRank> mlir::Value avgPool(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  Pooling pooling = poolingOf<spatialRank>(cx, args);
  mlir::Value sum = poolWith<stablehlo::AddOp>(cx, self, cx.constant(0.0, Context::dtype(self)), pooling);
  Integers padding = args.integers("padding", spatialRank);
  bool countsPadding = args.boolean("count_include_pad");
  bool isPadded = llvm::any_of(padding, [](int64_t amount) { return amount != 0; });
  bool isExtended = pooling.window.high != padding ||
                    llvm::any_of(pooling.extra, [](const Dim &dim) { return !dim.is(0); });
  mlir::Value divisor;
  if (args.has("divisor_override") && !args.isNone("divisor_override")) {
    divisor = cx.fullLike(args.integer("divisor_override"), sum);
  } else if (!isExtended && (countsPadding || !isPadded)) {
    int64_t count = 1;
    for (int64_t size : pooling.window.size)
      count *= size;
    divisor = cx.fullLike(count, sum);
  } else {
    divisor = windowCounts(cx, self, pooling, countsPadding, padding);
  }
  return cx.convert(cx.elementwise<stablehlo::DivOp>({sum, divisor}), dtype);
}

} // namespace

void addPooling(OpTable &table) {
  table.add("aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
            "int[1] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<1>);
  table.add("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<2>);
  table.add("aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
            "int[3] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool<3>);
  table.add("aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
            "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
            maxPoolWithIndices<2>);
  table.add("aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
            "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
            maxPoolWithIndices<3>);
  table.add("aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
            avgPool<1>);
  table.add("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            avgPool<2>);
  table.add("aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            avgPool<3>);
}

} // namespace torchere::lowering
