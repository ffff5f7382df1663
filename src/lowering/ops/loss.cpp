// Losses of elements, and the gradients of losses.
#include "lowering/formula.h"
#include "lowering/loss_reduction.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// An argument in the precision of the computation, and of the shape of "self".
Elements besideSelf(Context &cx, const Args &args, std::string_view name) {
  mlir::Value self = args.tensor("self");
  DType compute = computeType(Context::dtype(self));
  return {cx, cx.broadcastTo(cx.convert(args.tensor(name), compute), cx.shape(self))};
}

mlir::Value elementCount(Context &cx, const Elements &losses) {
  return cx.count(losses, allAxes(losses), Context::dtype(losses));
}

/// The losses, their sum or their mean, as the argument "reduction" says.
mlir::Value reduced(Context &cx, const Args &args, const Elements &losses) {
  mlir::Value result = losses;
  int64_t reduction = args.integer("reduction");
  if (reduction != Reduction::None)
    result =
        cx.reduceWith<stablehlo::AddOp>(losses, cx.constant(0.0, Context::dtype(losses)), allAxes(losses));
  if (reduction == Reduction::Mean)
    result = cx.elementwise<stablehlo::DivOp>({result, elementCount(cx, losses)});
  return cx.convert(result, cx.resultType().dtype);
}

/// The gradient of the losses' reduction: each loss's share of what comes in.
Elements shareOf(Context &cx, const Args &args) {
  Elements incoming = besideSelf(cx, args, "grad_output");
  if (args.integer("reduction") != Reduction::Mean)
    return incoming;
  return incoming / incoming.with(cx.broadcastTo(elementCount(cx, incoming), cx.shape(incoming)));
}

mlir::Value meanSquaredError(Context &cx, const Args &args) {
  Elements difference = besideSelf(cx, args, "self") - besideSelf(cx, args, "target");
  return reduced(cx, args, difference * difference);
}

mlir::Value meanSquaredErrorBackward(Context &cx, const Args &args) {
  Elements difference = besideSelf(cx, args, "self") - besideSelf(cx, args, "target");
  return cx.convert(2.0 * difference * shareOf(cx, args), cx.resultType().dtype);
}

Elements weighted(Context &cx, const Args &args, const Elements &value) {
  return args.isNone("weight") ? value : value * besideSelf(cx, args, "weight");
}

/// Logarithms are bounded by -100, as torch bounds them, so that a probability of 0 has a finite loss.
mlir::Value binaryCrossEntropy(Context &cx, const Args &args) {
  Elements self = besideSelf(cx, args, "self"), target = besideSelf(cx, args, "target");
  Elements ofFalse = maximum(log1p(-self), -100.0), ofTrue = maximum(log(self), -100.0);
  return reduced(cx, args, weighted(cx, args, (target - 1.0) * ofFalse - target * ofTrue));
}

/// torch's bound is a float of single precision for every dtype.
mlir::Value binaryCrossEntropyBackward(Context &cx, const Args &args) {
  Elements self = besideSelf(cx, args, "self"), target = besideSelf(cx, args, "target");
  Elements slope = (self - target) / maximum((1.0 - self) * self, double{1e-12F});
  return cx.convert(weighted(cx, args, shareOf(cx, args) * slope), cx.resultType().dtype);
}

/// The gradient of softmax or of its logarithm, from its output.
template <bool isLogarithm> Result<mlir::Value> softmaxBackward(Context &cx, const Args &args) {
  Elements output = formulaOperand(cx, args, "output"), incoming = formulaOperand(cx, args, "grad_output");
  int64_t rank = Context::rank(output);
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), rank));
  auto sumAlong = [&](const Elements &value) {
    if (rank == 0)
      return value;
    mlir::Value zero = cx.constant(0.0, Context::dtype(value));
    return value.with(cx.spread(cx.reduceWith<stablehlo::AddOp>(value, zero, {axis}), value, {axis}));
  };
  Elements result = isLogarithm ? incoming - exp(output) * sumAlong(incoming)
                                : (incoming - sumAlong(incoming * output)) * output;
  return cx.convert(result, cx.resultType().dtype);
}

/// Classes are on axis 1 (0 for a single sample); the target has the other axes.
mlir::Value negativeLogLikelihoodBackward(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self"), target = cx.convert(args.tensor("target"), DType::I64);
  DType compute = computeType(Context::dtype(self));
  Dims shape = cx.shape(self);
  int64_t axis = Context::rank(self) == 1 ? 0 : 1;
  mlir::Value isCounted = cx.compare(stablehlo::ComparisonDirection::NE, target,
                                     cx.fullLike(args.integer("ignore_index"), target));
  mlir::Value counted = cx.select(isCounted, target, cx.fullLike(int64_t{-1}, target));
  mlir::Value wanted = cx.spread(cx.convert(counted, DType::I32), self, {axis});
  mlir::Value isClass =
      cx.compare(stablehlo::ComparisonDirection::EQ, cx.iota(shape, DType::I32, axis), wanted);
  mlir::Value given = cx.convert(args.tensor("grad_output"), compute);
  bool isReduced = args.integer("reduction") != Reduction::None;
  Elements share(cx,
                 isReduced ? cx.broadcastTo(cx.reshape(given, {}), shape) : cx.spread(given, self, {axis}));
  if (args.integer("reduction") == Reduction::Mean)
    share = share / share.with(cx.broadcastTo(cx.convert(args.tensor("total_weight"), compute), shape));
  if (auto weight = args.optionalTensor("weight"))
    share = share * share.with(cx.broadcastInDim(cx.convert(*weight, compute), shape, {axis}));
  return cx.convert(cx.select(isClass, -share, share.constant(0.0)), cx.resultType().dtype);
}

} // namespace

void addLoss(OpTable &table) {
  table.add("aten::mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", meanSquaredError);
  table.add(
      "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
      meanSquaredErrorBackward);
  table.add("aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) "
            "-> Tensor",
            binaryCrossEntropy);
  table.add("aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, "
            "Tensor? weight=None, int reduction=Mean) -> Tensor",
            binaryCrossEntropyBackward);
  table.add(
      "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
      "-> Tensor",
      softmaxBackward<false>);
  table.add("aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
            "ScalarType input_dtype) -> Tensor",
            softmaxBackward<true>);
  for (std::string_view name : {"nll_loss_backward", "nll_loss2d_backward"})
    table.add(fmt::format("aten::{}(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
                          "int reduction, int ignore_index, Tensor total_weight) -> Tensor",
                          name),
              negativeLogLikelihoodBackward);
}

} // namespace torchere::lowering
