// Max, average and adaptive average pooling over the last two dimensions.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/window.h"

#include <algorithm>

namespace torchere::lowering {

namespace {

/// The window of a pooling op. With ceil_mode the padding after grows, so that the last, cut off window
/// counts.
Result<Window> poolingWindow(Context &cx, const Args &args, mlir::Value self, size_t spatialRank) {
  Window window;
  window.size = args.integers("kernel_size", spatialRank);
  window.stride = args.integers("stride", spatialRank);
  if (window.stride.empty())
    window.stride = window.size;
  window.low = args.integers("padding", spatialRank);
  window.high = window.low;
  window.dilation = args.has("dilation") ? args.integers("dilation", spatialRank) : Integers(spatialRank, 1);
  if (!args.boolean("ceil_mode"))
    return window;
  Dims shape = cx.shape(self);
  for (size_t i = 0; i < spatialRank; ++i) {
    Dim in = shape[shape.size() - spatialRank + i];
    Dim out = cx.resultType().shape[shape.size() - spatialRank + i];
    if (!in.isConstant() || !out.isConstant())
      return cx.unimplemented("ceil_mode needs a constant image size: got one known only at run time");
    int64_t reach = window.dilation[i] * (window.size[i] - 1) + 1;
    int64_t covered = (out.constant() - 1) * window.stride[i] + reach;
    window.high[i] = std::max(window.high[i], covered - in.constant() - window.low[i]);
  }
  return window;
}

Result<mlir::Value> maxPool2d(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  TORCHERE_ASSIGN(Window window, poolingWindow(cx, args, self, 2));
  return reduceWindow<stablehlo::MaxOp>(cx, self, cx.lowest(Context::elementType(self)), window,
                                        cx.resultType().shape);
}

/// How many elements of the padded input each window holds: ones, summed by the same windows.
mlir::Value windowCounts(Context &cx, mlir::Value self, const Window &window, bool countsPadding,
                         llvm::ArrayRef<int64_t> padding) {
  int64_t rank = Context::rank(self);
  mlir::Value zero = cx.constant(0.0, Context::dtype(self));
  mlir::Value ones = cx.fullLike(1.0, self);
  Window inner = window;
  if (countsPadding) { // padding counts, but not what ceil_mode adds beyond it
    Dims amounts(rank, Dim(0));
    for (size_t i = 0; i < padding.size(); ++i) {
      amounts[rank - padding.size() + i] = padding[i];
      inner.low[i] -= padding[i];
      inner.high[i] -= padding[i];
    }
    ones = cx.pad(ones, cx.constant(1.0, Context::dtype(self)), amounts, amounts, Integers(rank, 0));
  }
  return reduceWindow<stablehlo::AddOp>(cx, ones, zero, inner, cx.resultType().shape);
}

Result<mlir::Value> avgPool2d(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(Window window, poolingWindow(cx, args, self, 2));
  mlir::Value sum = reduceWindow<stablehlo::AddOp>(cx, self, cx.constant(0.0, Context::dtype(self)), window,
                                                   cx.resultType().shape);
  Integers padding = args.integers("padding", 2);
  bool countsPadding = args.boolean("count_include_pad");
  bool isPadded = std::any_of(padding.begin(), padding.end(), [](int64_t amount) { return amount != 0; });
  mlir::Value divisor;
  if (auto given = args.optionalInteger("divisor_override"))
    divisor = cx.fullLike(*given, sum);
  else if (window.high == padding && (countsPadding || !isPadded))
    divisor = cx.fullLike(window.size[0] * window.size[1], sum);
  else
    divisor = windowCounts(cx, self, window, countsPadding, padding);
  return cx.convert(cx.elementwise<stablehlo::DivOp>({sum, divisor}), dtype);
}

/// The [out, in] matrix that averages in bins: bin i spans floor(i * in / out) to ceil((i + 1) * in / out).
mlir::Value averagingMatrix(Context &cx, int64_t in, int64_t out, DType dtype) {
  auto f64 = mlir::RankedTensorType::get({out, in}, cx.builder().getF64Type());
  std::vector<double> values(out * in, 0.0);
  for (int64_t i = 0; i < out; ++i) {
    int64_t start = i * in / out;
    int64_t end = ((i + 1) * in + out - 1) / out;
    for (int64_t j = start; j < end; ++j)
      values[i * in + j] = 1.0 / static_cast<double>(end - start);
  }
  mlir::Value matrix =
      stablehlo::ConstantOp::create(cx.builder(), cx.loc(),
                                    mlir::DenseElementsAttr::get(f64, llvm::ArrayRef<double>(values)))
          ->getResult(0);
  return cx.convert(matrix, dtype);
}

/// Averages one axis in `out` bins by a product with the averaging matrix.
mlir::Value averageAxis(Context &cx, mlir::Value value, int64_t axis, int64_t out) {
  int64_t in = cx.size(value, axis).constant();
  if (in == out)
    return value;
  mlir::Value matrix = averagingMatrix(cx, in, out, Context::dtype(value));
  mlir::Value product = cx.dotGeneral(value, matrix, /*batch=*/0, axis, 1); // the bins come last
  int64_t rank = Context::rank(value);
  Integers permutation;
  for (int64_t i = 0; i < rank - 1; ++i)
    permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, rank - 1);
  return cx.transpose(product, permutation);
}

Result<mlir::Value> adaptiveAvgPool2d(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  int64_t rank = Context::rank(self);
  const Dims &out = cx.resultType().shape;
  if (out[rank - 2].is(1) && out[rank - 1].is(1)) {
    mlir::Value sum =
        cx.reduceWith<stablehlo::AddOp>(self, cx.constant(0.0, Context::dtype(self)), {rank - 2, rank - 1});
    mlir::Value divisor = cx.count(self, {rank - 2, rank - 1}, Context::dtype(self));
    mlir::Value mean = cx.elementwise<stablehlo::DivOp>({sum, cx.broadcastTo(divisor, cx.shape(sum))});
    return cx.reshape(cx.convert(mean, dtype), out);
  }
  for (int64_t axis : {rank - 2, rank - 1}) {
    if (cx.size(self, axis) == out[axis])
      continue;
    if (!cx.size(self, axis).isConstant() || !out[axis].isConstant())
      return cx.unimplemented(
          "an output size other than 1 needs a constant image size: got one known only at run "
          "time");
    self = averageAxis(cx, self, axis, out[axis].constant());
  }
  return cx.convert(self, dtype);
}

} // namespace

void addPooling(OpTable &table) {
  table.add("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "int[2] dilation=1, bool ceil_mode=False) -> Tensor",
            maxPool2d);
  table.add("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
            "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
            avgPool2d);
  table.add("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool2d);
  table.add("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptiveAvgPool2d);
}

} // namespace torchere::lowering
