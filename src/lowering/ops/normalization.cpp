// Batch, layer, RMS and group normalization.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <limits>
#include <numeric>

namespace torchere::lowering {

namespace {

struct Moments {
  mlir::Value centered; ///< value - mean
  mlir::Value mean;     ///< the axes are reduced away, as in the variance
  mlir::Value variance; ///< of the population (divided by the count)
  mlir::Value count;    ///< 0-d
};

Moments momentsOf(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  DType dtype = Context::dtype(value);
  Moments moments;
  moments.count = cx.count(value, axes, dtype);
  auto mean = [&](mlir::Value values) {
    mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(values, cx.constant(0.0, dtype), axes);
    return cx.elementwise<stablehlo::DivOp>({sum, cx.broadcastTo(moments.count, cx.shape(sum))});
  };
  moments.mean = mean(value);
  moments.centered = cx.elementwise<stablehlo::SubtractOp>({value, cx.spread(moments.mean, value, axes)});
  moments.variance = mean(cx.elementwise<stablehlo::MulOp>({moments.centered, moments.centered}));
  return moments;
}

mlir::Value reciprocalDeviation(Context &cx, mlir::Value variance, double eps) {
  return cx.elementwise<stablehlo::RsqrtOp>(
      cx.elementwise<stablehlo::AddOp>({variance, cx.fullLike(eps, variance)}));
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

/// (input - mean) * rsqrt(variance + eps) with given statistics, one value per channel.
mlir::Value normalizeBy(Context &cx, const Args &args, mlir::Value input, mlir::Value mean,
                        mlir::Value variance) {
  DType dtype = Context::dtype(input);
  mlir::Value scale = reciprocalDeviation(cx, cx.convert(variance, dtype), args.floating("eps"));
  mlir::Value centered = cx.elementwise<stablehlo::SubtractOp>({input, overChannels(cx, mean, input)});
  return cx.elementwise<stablehlo::MulOp>({centered, overChannels(cx, scale, input)});
}

/// Inference: the saved statistics in the result are empty, as in torch's CPU kernel.
Values batchNormInference(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  mlir::Value normalized =
      normalizeBy(cx, args, input, args.tensor("running_mean"), args.tensor("running_var"));
  Values results = {cx.convert(scaleAndShift(cx, args, normalized), dtype)};
  for (size_t i = 1; i < cx.resultCount(); ++i)
    results.push_back(cx.full(0.0, cx.resultType(i).dtype, cx.resultType(i).shape));
  return results;
}

/// The axes that a channel's statistics are computed over: all but axis 1.
Integers axesOfChannel(mlir::Value input) {
  Integers axes;
  for (int64_t axis = 0; axis < Context::rank(input); ++axis)
    if (axis != 1)
      axes.push_back(axis);
  return axes;
}

struct BatchNormalized {
  Moments moments;
  Values results; ///< output, mean, reciprocal deviation
};

/// Normalizes by the batch's own statistics.
BatchNormalized normalizeBatch(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Integers axes = axesOfChannel(input);
  Moments moments = momentsOf(cx, input, axes);
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  mlir::Value normalized =
      cx.elementwise<stablehlo::MulOp>({moments.centered, cx.spread(scale, input, axes)});
  return {moments,
          {cx.convert(scaleAndShift(cx, args, normalized), dtype),
           cx.convert(moments.mean, cx.resultType(1).dtype), cx.convert(scale, cx.resultType(2).dtype)}};
}

/// running + momentum * (batch - running), in the running statistic's dtype.
mlir::Value updateRunning(Context &cx, mlir::Value running, mlir::Value batch, double momentum) {
  batch = cx.convert(batch, Context::dtype(running));
  mlir::Value kept = cx.elementwise<stablehlo::MulOp>({running, cx.fullLike(1.0 - momentum, running)});
  return cx.elementwise<stablehlo::AddOp>(
      {kept, cx.elementwise<stablehlo::MulOp>({batch, cx.fullLike(momentum, batch)})});
}

/// Training returns updated running statistics, with the unbiased variance; inference returns them unchanged.
Values batchNormFunctional(Context &cx, const Args &args) {
  if (!args.boolean("training")) {
    Values results = batchNormInference(cx, args);
    results[3] = cx.convert(args.tensor("running_mean"), cx.resultType(3).dtype);
    results[4] = cx.convert(args.tensor("running_var"), cx.resultType(4).dtype);
    return results;
  }
  BatchNormalized batch = normalizeBatch(cx, args);
  const Moments &moments = batch.moments;
  Values &results = batch.results;
  mlir::Value one = cx.fullLike(1.0, moments.count);
  mlir::Value unbias = cx.elementwise<stablehlo::DivOp>(
      {moments.count, cx.elementwise<stablehlo::SubtractOp>({moments.count, one})});
  mlir::Value variance = cx.elementwise<stablehlo::MulOp>(
      {moments.variance, cx.broadcastTo(unbias, cx.shape(moments.variance))});
  double momentum = args.floating("momentum");
  auto update = [&](std::string_view name, mlir::Value batch, size_t index) {
    results.push_back(
        cx.convert(updateRunning(cx, args.tensor(name), batch, momentum), cx.resultType(index).dtype));
  };
  update("running_mean", moments.mean, 3);
  update("running_var", variance, 4);
  return results;
}

/// Without running statistics: always uses the batch's own.
Values batchNormNoStatistics(Context &cx, const Args &args) {
  return normalizeBatch(cx, args).results;
}

Integers lastAxes(mlir::Value value, size_t count) {
  Integers axes(count);
  std::iota(axes.begin(), axes.end(), Context::rank(value) - static_cast<int64_t>(count));
  return axes;
}

struct LayerNormalized {
  mlir::Value output;
  mlir::Value mean;
  mlir::Value reciprocalDeviation;
  Dims statisticsShape; ///< in the op's form: normalized axes have size 1
};

LayerNormalized normalizeLayer(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Integers axes = lastAxes(input, args.dims("normalized_shape").size());
  Moments moments = momentsOf(cx, input, axes);
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  mlir::Value output = cx.elementwise<stablehlo::MulOp>({moments.centered, cx.spread(scale, input, axes)});
  auto affine = [&](std::string_view name) {
    return cx.broadcastTo(cx.convert(args.tensor(name), Context::dtype(input)), cx.shape(input));
  };
  if (!args.isNone("weight"))
    output = cx.elementwise<stablehlo::MulOp>({output, affine("weight")});
  if (!args.isNone("bias"))
    output = cx.elementwise<stablehlo::AddOp>({output, affine("bias")});
  return {cx.convert(output, dtype), moments.mean, scale,
          cx.reducedShape(cx.shape(input), axes, /*keep=*/true)};
}

mlir::Value layerNorm(Context &cx, const Args &args) {
  return normalizeLayer(cx, args).output;
}

Values nativeLayerNorm(Context &cx, const Args &args) {
  LayerNormalized result = normalizeLayer(cx, args);
  auto statistic = [&](mlir::Value value, size_t index) {
    return cx.convert(cx.reshape(value, result.statisticsShape), cx.resultType(index).dtype);
  };
  return {result.output, statistic(result.mean, 1), statistic(result.reciprocalDeviation, 2)};
}

/// input * rsqrt(mean(input * input) + eps); the default eps is that of the dtype.
mlir::Value rmsNorm(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  mlir::Value input = cx.convert(args.tensor("input"), compute);
  Integers axes = lastAxes(input, args.dims("normalized_shape").size());
  mlir::Value squares = cx.elementwise<stablehlo::MulOp>({input, input});
  mlir::Value sum = cx.reduceWith<stablehlo::AddOp>(squares, cx.constant(0.0, compute), axes);
  mlir::Value count = cx.broadcastTo(cx.count(input, axes, compute), cx.shape(sum));
  double eps =
      compute == DType::F64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  mlir::Value scale = reciprocalDeviation(cx, cx.elementwise<stablehlo::DivOp>({sum, count}),
                                          args.optionalFloating("eps").value_or(eps));
  mlir::Value output = cx.elementwise<stablehlo::MulOp>({input, cx.spread(scale, input, axes)});
  if (auto weight = args.optionalTensor("weight"))
    output = cx.elementwise<stablehlo::MulOp>(
        {output, cx.broadcastTo(cx.convert(*weight, compute), cx.shape(output))});
  return cx.convert(output, dtype);
}

struct GroupNormalized {
  mlir::Value output, mean, reciprocalDeviation;
};

/// Normalizes [N, groups, C / groups * size] over its last axis.
GroupNormalized normalizeGroups(Context &cx, const Args &args, int64_t groups) {
  DType dtype = cx.resultType().dtype;
  mlir::Value input = cx.convert(args.tensor("input"), computeType(dtype));
  Dims shape = cx.shape(input);
  Dim perGroup = cx.floorDivide(cx.product(llvm::ArrayRef<Dim>(shape).drop_front(1)), groups);
  mlir::Value grouped = cx.reshape(input, {shape[0], Dim(groups), perGroup});
  Moments moments = momentsOf(cx, grouped, {2});
  mlir::Value scale = reciprocalDeviation(cx, moments.variance, args.floating("eps"));
  mlir::Value output =
      cx.reshape(cx.elementwise<stablehlo::MulOp>({moments.centered, cx.spread(scale, grouped, {2})}), shape);
  return {cx.convert(scaleAndShift(cx, args, output), dtype), moments.mean, scale};
}

mlir::Value groupNorm(Context &cx, const Args &args) {
  return normalizeGroups(cx, args, args.integer("num_groups")).output;
}

Values nativeGroupNorm(Context &cx, const Args &args) {
  GroupNormalized result = normalizeGroups(cx, args, args.integer("group"));
  return {result.output, cx.convert(result.mean, cx.resultType(1).dtype),
          cx.convert(result.reciprocalDeviation, cx.resultType(2).dtype)};
}

} // namespace

void addNormalization(OpTable &table) {
  table.add("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
            "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            batchNormInference, AsComposite{"batch_norm"});
  table.add("aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, "
            "Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) "
            "-> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
            batchNormFunctional);
  table.add(
      "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
      "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
      batchNormNoStatistics);
  table.add(
      "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05, bool cudnn_enable=True) -> Tensor",
      layerNorm, AsComposite{"layer_norm"});
  table.add("aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) "
            "-> Tensor",
            rmsNorm, AsComposite{"rms_norm"});
  table.add("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
            "float eps) -> (Tensor, Tensor, Tensor)",
            nativeLayerNorm, AsComposite{"layer_norm"});
  table.add("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
            "float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
            groupNorm, AsComposite{"group_norm"});
  table.add(
      "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
      "int group, float eps) -> (Tensor, Tensor, Tensor)",
      nativeGroupNorm, AsComposite{"group_norm"});
}

} // namespace torchere::lowering
