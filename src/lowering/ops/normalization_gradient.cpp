// The gradients of layer, group and batch normalization.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <numeric>

namespace torchere::lowering {

namespace {

Integers axesBetween(int64_t first, int64_t end) {
  Integers axes(end - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

mlir::Value sumOver(Context &cx, mlir::Value value, llvm::ArrayRef<int64_t> axes) {
  if (axes.empty())
    return value;
  return cx.reduceWith<stablehlo::AddOp>(value, cx.constant(0.0, Context::dtype(value)), axes);
}

/// Of a gradient, and of its product with the normalized values.
struct Sums {
  mlir::Value plain, weighted;
};
Sums sumsOver(Context &cx, const Elements &gradient, const Elements &normalized,
              llvm::ArrayRef<int64_t> axes) {
  return {sumOver(cx, gradient, axes), sumOver(cx, gradient * normalized, axes)};
}

/// The gradient of what was normalized over `axes`, from that of the normalized values, and its sums.
Elements throughNormalization(Context &cx, const Elements &gradient, const Elements &normalized,
                              const Elements &scale, llvm::ArrayRef<int64_t> axes, const Sums &sums) {
  mlir::Value count = cx.count(gradient, axes, Context::dtype(gradient));
  auto mean = [&](mlir::Value total) {
    total = cx.elementwise<stablehlo::DivOp>({total, cx.broadcastTo(count, cx.shape(total))});
    return gradient.with(cx.spread(total, gradient, axes));
  };
  return scale * (gradient - mean(sums.plain) - normalized * mean(sums.weighted));
}

/// Those that output_mask asks for, in the dtypes and shapes that the program gives them.
template <class Input, class Weight, class Bias>
Values wanted(Context &cx, const Args &args, Input input, Weight weight, Bias bias) {
  auto asResult = [&](mlir::Value value, size_t index) {
    const TensorType &type = cx.resultType(index);
    return cx.reshape(cx.convert(value, type.dtype), type.shape);
  };
  return {args.isWanted(0) ? asResult(input(), 0) : mlir::Value(),
          args.isWanted(1) ? asResult(weight(), 1) : mlir::Value(),
          args.isWanted(2) ? asResult(bias(), 2) : mlir::Value()};
}

Values layerNormBackward(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  DType compute = computeType(Context::dtype(input));
  Elements value(cx, cx.convert(input, compute));
  auto beside = [&](mlir::Value other) {
    return value.with(cx.broadcastTo(cx.convert(other, compute), cx.shape(value)));
  };
  Elements gradient = beside(args.tensor("grad_out"));
  Elements scale = beside(args.tensor("rstd"));
  Elements normalized = (value - beside(args.tensor("mean"))) * scale;
  int64_t rank = Context::rank(value);
  int64_t outer = rank - static_cast<int64_t>(args.dims("normalized_shape").size());
  auto toInput = [&]() -> mlir::Value {
    auto weight = args.optionalTensor("weight");
    Elements weighted = weight ? gradient * beside(*weight) : gradient;
    Integers axes = axesBetween(outer, rank);
    return throughNormalization(cx, weighted, normalized, scale, axes,
                                sumsOver(cx, weighted, normalized, axes));
  };
  return wanted(
      cx, args, toInput, [&] { return sumOver(cx, gradient * normalized, axesBetween(0, outer)); },
      [&] { return sumOver(cx, gradient, axesBetween(0, outer)); });
}

Values groupNormBackward(Context &cx, const Args &args) {
  mlir::Value input = args.tensor("input");
  DType compute = computeType(Context::dtype(input));
  Dim channels = cx.size(input, 1);
  int64_t groups = args.integer("group");
  Dim space = cx.product(llvm::ArrayRef<Dim>(cx.shape(input)).drop_front(2));
  Dims split = {cx.size(input, 0), Dim(groups), cx.floorDivide(channels, groups), space};
  Elements value(cx, cx.reshape(cx.convert(input, compute), split));
  auto overGroups = [&](mlir::Value other) { // [N, groups]
    Dims shape = {split[0], split[1]};
    return value.with(cx.broadcastInDim(cx.reshape(cx.convert(other, compute), shape), split, {0, 1}));
  };
  Elements gradient = value.with(cx.reshape(cx.convert(args.tensor("grad_out"), compute), split));
  Elements scale = overGroups(args.tensor("rstd"));
  Elements normalized = (value - overGroups(args.tensor("mean"))) * scale;
  auto toInput = [&]() -> mlir::Value {
    Elements weighted = gradient;
    if (auto weight = args.optionalTensor("weight")) {
      mlir::Value factors = cx.reshape(cx.convert(*weight, compute), {split[1], split[2]});
      weighted = gradient * value.with(cx.broadcastInDim(factors, split, {1, 2}));
    }
    return throughNormalization(cx, weighted, normalized, scale, {2, 3},
                                sumsOver(cx, weighted, normalized, {2, 3}));
  };
  return wanted(
      cx, args, toInput, [&] { return sumOver(cx, gradient * normalized, {0, 3}); },
      [&] { return sumOver(cx, gradient, {0, 3}); });
}

/// In training by the batch's statistics, which depend on the input; in inference by the running ones.
Result<Values> batchNormBackward(Context &cx, const Args &args) {
  bool isTraining = args.boolean("train");
  auto givenMean = args.optionalTensor(isTraining ? "save_mean" : "running_mean");
  auto givenScale = args.optionalTensor(isTraining ? "save_invstd" : "running_var");
  if (!givenMean || !givenScale)
    return cx.invalid("no statistics: expected save_mean and save_invstd in training, else running_mean and "
                      "running_var");
  mlir::Value input = args.tensor("input");
  DType compute = computeType(Context::dtype(input));
  Elements value(cx, cx.convert(input, compute));
  auto overChannels = [&](mlir::Value vector) {
    return value.with(cx.broadcastInDim(cx.convert(vector, compute), cx.shape(value), {1}));
  };
  Integers axes = axesBetween(0, Context::rank(value));
  axes.erase(axes.begin() + 1);
  Elements gradient = value.with(cx.convert(args.tensor("grad_out"), compute));
  Elements scale = overChannels(*givenScale);
  if (!isTraining)
    scale = (scale + args.floating("eps")).apply<stablehlo::RsqrtOp>();
  Elements normalized = (value - overChannels(*givenMean)) * scale;
  std::optional<Sums> found;
  auto sums = [&]() -> const Sums & {
    return found ? *found : found.emplace(sumsOver(cx, gradient, normalized, axes));
  };
  auto toInput = [&]() -> mlir::Value {
    // The weight is the same for all that is summed, so that its gradient and the bias's need the same sums.
    auto weight = args.optionalTensor("weight");
    Elements slope = weight ? scale * overChannels(*weight) : scale;
    return isTraining ? throughNormalization(cx, gradient, normalized, slope, axes, sums())
                      : slope * gradient;
  };
  return wanted(cx, args, toInput, [&] { return sums().weighted; }, [&] { return sums().plain; });
}

} // namespace

void addNormalizationGradient(OpTable &table) {
  table.add("aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
            "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) "
            "-> (Tensor, Tensor, Tensor)",
            layerNormBackward);
  table.add("aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
            "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) "
            "-> (Tensor, Tensor, Tensor)",
            groupNormBackward);
  table.add(
      "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
      "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
      "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
      batchNormBackward);
}

} // namespace torchere::lowering
