// The gradients of pooling: averages give to all elements of a window, maxima to the one that they are.
#include "lowering/axis_matrix.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/pooling.h"

namespace torchere::lowering {

namespace {

/// What each window holds, given to all of its elements: the windows are drawn apart by the stride and summed
/// by windows of the same size, which makes an element's sum that of the windows it is in.
mlir::Value giveToWindows(Context &cx, mlir::Value value, const Window &window, llvm::ArrayRef<Dim> in) {
  size_t rank = in.size(), spatialRank = window.size.size();
  Dims shape = cx.shape(value);
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  Integers interior(rank, 0), zeros(spatialRank, 0), ones(spatialRank, 1);
  for (size_t i = 0; i < spatialRank; ++i) {
    size_t axis = rank - spatialRank + i;
    Dim reach = cx.add(cx.multiply(cx.subtract(shape[axis], 1), window.stride[i]), 1);
    interior[axis] = window.stride[i] - 1;
    low[axis] = window.size[i] - 1 - window.low[i];
    high[axis] = cx.add(cx.subtract(in[axis], reach), window.low[i]);
  }
  mlir::Value zero = cx.constant(0.0, Context::dtype(value));
  mlir::Value apart = cx.pad(value, zero, low, high, interior);
  return reduceWindow<stablehlo::AddOp>(cx, apart, zero, {window.size, ones, zeros, zeros, ones}, in);
}

template <int64_t spatialRank> mlir::Value avgPoolBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  mlir::Value gradient = cx.convert(args.tensor("grad_output"), compute);
  mlir::Value self = cx.convert(args.tensor("self"), compute);
  Dims out = cx.shape(gradient);
  Pooling pooling = poolingOf(cx, args, spatialRank, type.shape, out);
  mlir::Value share =
      cx.elementwise<stablehlo::DivOp>({gradient, averageDivisor(cx, args, self, pooling, out)});
  return cx.convert(giveToWindows(cx, share, pooling.window, type.shape), type.dtype);
}

template <int64_t spatialRank> mlir::Value adaptiveAvgPoolBackward(Context &cx, const Args &args) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  mlir::Value gradient = cx.convert(args.tensor("grad_output"), compute);
  auto rank = static_cast<int64_t>(type.shape.size());
  for (int64_t axis = rank - spatialRank; axis < rank; ++axis) {
    mlir::Value matrix = averagingMatrix(cx, type.shape[axis], cx.size(gradient, axis), compute);
    gradient = multiplyAlong(cx, gradient, axis, matrix, 0);
  }
  return cx.convert(gradient, type.dtype);
}

/// Writes to the places that `indices` gives, in spatial dimensions that count as one, of a tensor of zeros.
mlir::Value scatterFlat(Context &cx, mlir::Value values, mlir::Value indices, int64_t spatialRank,
                        RegionBody body) {
  const Dims &shape = cx.resultType().shape;
  auto flat = [&](llvm::ArrayRef<Dim> dims) {
    Dims result(dims.drop_back(spatialRank));
    result.push_back(cx.product(dims.take_back(spatialRank)));
    return result;
  };
  Dims given = flat(cx.shape(values));
  mlir::Value zeros = cx.full(int64_t{0}, Context::dtype(values), flat(shape));
  Placement placement = elementsAlong(cx, cx.reshape(indices, given), static_cast<int64_t>(given.size()) - 1);
  return cx.reshape(scatterSlices(cx, zeros, placement, cx.reshape(values, given), body), shape);
}

/// To the elements that were the maxima; one that was so of several windows gets the sum.
template <int64_t spatialRank> mlir::Value maxPoolBackward(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value gradient = cx.convert(args.tensor("grad_output"), computeType(dtype));
  return cx.convert(
      scatterFlat(cx, gradient, args.tensor("indices"), spatialRank, combineUpdate<stablehlo::AddOp>), dtype);
}

/// Maxima back to where they stood, between zeros.
template <int64_t spatialRank> mlir::Value maxUnpool(Context &cx, const Args &args) {
  return scatterFlat(cx, args.tensor("self"), args.tensor("indices"), spatialRank, takeUpdate);
}

} // namespace

void addPoolingGradient(OpTable &table) {
  table.add("aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
            "int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            avgPoolBackward<2>);
  table.add("aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
            "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
            maxPoolBackward<2>);
  table.add("aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
            adaptiveAvgPoolBackward<2>);
  table.add("aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
            maxPoolBackward<2>);
  table.add("aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
            "int[2] output_size, Tensor indices) -> Tensor",
            maxPoolBackward<2>);
  table.add("aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
            "int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            avgPoolBackward<3>);
  table.add("aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
            "int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
            maxPoolBackward<3>);
  table.add("aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
            adaptiveAvgPoolBackward<3>);
  table.add("aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
            maxPoolBackward<3>);
  table.add("aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
            "int[3] output_size, Tensor indices) -> Tensor",
            maxPoolBackward<3>);
  table.add("aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", maxUnpool<2>);
  table.add("aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
            "int[3] padding) -> Tensor",
            maxUnpool<3>);
}

} // namespace torchere::lowering
