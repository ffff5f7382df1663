// Batch, layer and group normalization.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <numeric>

namespace torchere::lowering {

namespace {

/// Sums over `axes` divided by their size; the axes stay, with size 1.
mlir::Value meanKept(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes, mlir::Value count) {
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(value, cx.constant(0.0, Context::dtype(value)), axes);
  mlir::Value mean = cx.elementwise<stablehlo::DivOp>({sum, cx.broadcastTo(count, cx.shape(sum))});
  return cx.reshape(mean, cx.reducedShape(cx.shape(value), axes, /*keep=*/true));
}

mlir::Value countOf(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  Dim count = 1;
  for (int64_t axis : axes)
    count = cx.multiply(count, cx.size(value, axis));
  return count.isConstant() ? cx.constant(count.constant(), Context::dtype(value))
                            : cx.convert(cx.sizeTensor(count), Context::dtype(value));
}

struct Moments {
  mlir::Value centered; ///< value - mean
  mlir::Value mean;     ///< reduced axes kept with size 1, as are those of the next two
  mlir::Value variance; ///< of the population (divided by the count)
  mlir::Value count;    ///< 0-d
};

Moments momentsOf(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  Moments moments;
  moments.count = countOf(cx, value, axes);
  moments.mean = meanKept(cx, value, axes, moments.count);
  moments.centered =
      cx.elementwise<stablehlo::SubtractOp>({value, cx.broadcastTo(moments.mean, cx.shape(value))});
  moments.variance = meanKept(
      cx, cx.elementwise<stablehlo::MulOp>({moments.centered, moments.centered}), axes, moments.count);
  return moments;
}

mlir::Value reciprocalDeviation(Context &cx, mlir::Value variance, double eps) {
  return cx.elementwise<stablehlo::RsqrtOp>(
      cx.elementwise<stablehlo::AddOp>({variance, cx.fullLike(eps, variance)}));
}

mlir::Value times(Context &cx, mlir::Value value, mlir::Value factor) {
  return cx.elementwise<stablehlo::MulOp>({value, cx.broadcastTo(factor, cx.shape(value))});
}

/// A vector over channels (axis 1), shaped to broadcast against `like`.
mlir::Value overChannels(Context &cx, mlir::Value vector, mlir::Value like) {
  vector = cx.convert(vector, Context::dtype(like));
  return cx.broadcastInDim(vector, cx.shape(like), {1});
}

mlir::Value scaleAndShift(Context &cx, const Args &args, mlir::Value value) {
  if (auto weight = args.optionalTensor("weight"))
    value = cx.elementwise<stablehlo::MulOp>({value, overChannels(cx, *weight, value)});
  if (auto bias = args.optionalTensor("bias"))
    value = cx.elementwise<stablehlo::AddOp>({value, overChannels(cx, *bias, value)});
  return value;
}

/// (input - mean) * rsqrt(variance + eps) with given statistics, one a channel.
mlir::Value normalizeBy(Context &cx, const Args &args, mlir::Value input, mlir::Value mean, mlir::Value variance) {
  DType dtype = Context::dtype(input);
  mlir::Value scale = reciprocalDeviation(cx, cx.convert(variance, dtype), args.floating("eps"));
  mlir::Value centered = cx.elementwise<stablehlo::SubtractOp>({input, overChannels(cx, mean, input)});
  return cx.elementwise<stablehlo::MulOp>({centered, overChannels(cx, scale, input)});
}

/// Inference: the saved statistics of the result are empty, as torch's CPU kernel gives them.
Values batchNormInference(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  mlir::Value normalized = normalizeBy(cx, args, input, args.tensor("running_mean"), args.tensor("running_var"));
  Values results = {cx.convert(scaleAndShift(cx, args, normalized), dtype)};
  for (size_t i = 1; i < cx.resultCount(); ++i)
    results.push_back(cx.full(0.0, cx.resultType(i).dtype, cx.resultType(i).shape));
  return results;
}

/// running + momentum * (batch - running), in the running statistic's dtype.
mlir::Value updateRunning(Context &cx, mlir::Value running, mlir::Value batch, double momentum) {
  batch = cx.convert(batch, Context::dtype(running));
  mlir::Value kept = cx.elementwise<stablehlo::MulOp>({running, cx.fullLike(1.0 - momentum, running)});
  return cx.elementwise<stablehlo::AddOp>(
      {kept, cx.elementwise<stablehlo::MulOp>({batch, cx.fullLike(momentum, batch)})});
}

/// Training: normalizes by the batch's own statistics, and gives the running ones updated (the variance unbiased).
Values batchNormTraining(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Integers axes(Context::rank(input));
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + 1);
  Moments moments = momentsOf(cx, input, axes);
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  Values results = {cx.convert(scaleAndShift(cx, args, times(cx, moments.centered, scale)), dtype)};

  Dims channels = {cx.size(input, 1)};
  mlir::Value mean = cx.reshape(moments.mean, channels);
  results.push_back(cx.convert(mean, cx.resultType(1).dtype));
  results.push_back(cx.convert(cx.reshape(scale, channels), cx.resultType(2).dtype));

  mlir::Value one = cx.fullLike(1.0, moments.count);
  mlir::Value unbias = cx.elementwise<stablehlo::DivOp>(
      {moments.count, cx.elementwise<stablehlo::SubtractOp>({moments.count, one})});
  mlir::Value unbiased = times(cx, cx.reshape(moments.variance, channels), unbias);
  double momentum = args.floating("momentum");
  results.push_back(updateRunning(cx, args.tensor("running_mean"), mean, momentum));
  results.push_back(updateRunning(cx, args.tensor("running_var"), unbiased, momentum));
  return results;
}

Values batchNormFunctional(Context &cx, const Args &args) {
  if (args.boolean("training"))
    return batchNormTraining(cx, args);
  Values results = batchNormInference(cx, args);
  results[3] = args.tensor("running_mean");
  results[4] = args.tensor("running_var");
  return results;
}

/// Without running statistics: always the batch's own.
Values batchNormNoStatistics(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Integers axes(Context::rank(input));
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + 1);
  Moments moments = momentsOf(cx, input, axes);
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  Dims channels = {cx.size(input, 1)};
  return {cx.convert(scaleAndShift(cx, args, times(cx, moments.centered, scale)), dtype),
          cx.convert(cx.reshape(moments.mean, channels), cx.resultType(1).dtype),
          cx.convert(cx.reshape(scale, channels), cx.resultType(2).dtype)};
}

struct LayerNormalized {
  mlir::Value output;
  mlir::Value mean;
  mlir::Value reciprocalDeviation;
};

LayerNormalized normalizeLayer(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  auto count = static_cast<int64_t>(args.dims("normalized_shape").size());
  Integers axes(count);
  std::iota(axes.begin(), axes.end(), Context::rank(input) - count);
  Moments moments = momentsOf(cx, input, axes);
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  mlir::Value output = times(cx, moments.centered, scale);
  auto affine = [&](std::string_view name) {
    return cx.broadcastTo(cx.convert(args.tensor(name), Context::dtype(input)), cx.shape(input));
  };
  if (!args.isNone("weight"))
    output = cx.elementwise<stablehlo::MulOp>({output, affine("weight")});
  if (!args.isNone("bias"))
    output = cx.elementwise<stablehlo::AddOp>({output, affine("bias")});
  return {cx.convert(output, dtype), moments.mean, scale};
}

mlir::Value layerNorm(Context &cx, const Args &args) {
  return normalizeLayer(cx, args).output;
}

Values nativeLayerNorm(Context &cx, const Args &args) {
  LayerNormalized result = normalizeLayer(cx, args);
  return {result.output, cx.convert(result.mean, cx.resultType(1).dtype),
          cx.convert(result.reciprocalDeviation, cx.resultType(2).dtype)};
}

/// Normalizes [N, groups, C / groups * size] over its last axis.
Values nativeGroupNorm(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Dims shape = cx.shape(input);
  int64_t groups = args.integer("group");
  Dim perGroup = cx.floorDivide(cx.product(llvm::ArrayRef<Dim>(shape).drop_front(1)), groups);
  mlir::Value grouped = cx.reshape(input, {shape[0], Dim(groups), perGroup});
  Moments moments = momentsOf(cx, grouped, {2});
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  mlir::Value output = cx.reshape(times(cx, moments.centered, scale), shape);
  Dims statistics = {shape[0], Dim(groups)};
  return {cx.convert(scaleAndShift(cx, args, output), dtype),
          cx.convert(cx.reshape(moments.mean, statistics), cx.resultType(1).dtype),
          cx.convert(cx.reshape(scale, statistics), cx.resultType(2).dtype)};
}

} // namespace

void addNormalization(OpTable &table) {
  table.add("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
            "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            batchNormInference);
  table.add("aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, "
            "Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) "
            "-> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
            batchNormFunctional);
  table.add("aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
            "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            batchNormNoStatistics);
  table.add("aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
            "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
            layerNorm);
  table.add("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
            "float eps) -> (Tensor, Tensor, Tensor)",
            nativeLayerNorm);
  table.add("aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
            "int group, float eps) -> (Tensor, Tensor, Tensor)",
            nativeGroupNorm);
}

} // namespace torchere::lowering
