// Softmax, log-softmax and the negative log-likelihood losses, which build on them.
#include "lowering/softmax.h"
#include "lowering/elementwise.h"
#include "lowering/loss_reduction.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// `along` on `dim`, in float32 for half precision.
template <class Along> Result<mlir::Value> alongDim(Context &cx, const Args &args, Along along) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  if (Context::rank(self) == 0) // a row of one element
    return cx.convert(cx.reshape(along(cx.reshape(self, {1}), 0), {}), dtype);
  return cx.convert(along(self, axis), dtype);
}

Result<mlir::Value> softmax(Context &cx, const Args &args) {
  return alongDim(cx, args, [&](mlir::Value self, int64_t axis) { return softmaxAlong(cx, self, axis); });
}

Result<mlir::Value> logSoftmax(Context &cx, const Args &args) {
  return alongDim(cx, args, [&](mlir::Value self, int64_t axis) { return logSoftmaxAlong(cx, self, axis); });
}

mlir::Value sumAll(Context &cx, mlir::Value value) {
  return cx.reduceWith<stablehlo::AddOp>(value, cx.constant(0.0, Context::dtype(value)), allAxes(value));
}

/// Classes are on axis 1 (0 for a single sample); the target has the other axes. Returns the loss and the
/// total weight. Targets equal to ignore_index are ignored.
Values negativeLogLikelihood(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  mlir::Value target = args.tensor("target");
  int64_t axis = Context::rank(self) == 1 ? 0 : 1;
  Dims shape = cx.shape(self);
  mlir::Value classes = cx.iota(shape, Context::dtype(target), axis);
  mlir::Value wanted = cx.spread(target, self, {axis});
  mlir::Value isClass = cx.compare(stablehlo::ComparisonDirection::EQ, classes, wanted);
  mlir::Value isCounted = cx.compare(stablehlo::ComparisonDirection::NE, wanted,
                                     cx.fullLike(args.integer("ignore_index"), wanted));
  mlir::Value chosen = cx.elementwise<stablehlo::AndOp>({isClass, isCounted});
  mlir::Value weight = cx.fullLike(1.0, self);
  if (auto given = args.optionalTensor("weight"))
    weight = cx.broadcastInDim(cx.convert(*given, Context::dtype(self)), shape, {axis});
  mlir::Value zero = cx.fullLike(0.0, self);
  mlir::Value initial = cx.constant(0.0, Context::dtype(self));
  mlir::Value weights = cx.reduceWith<stablehlo::AddOp>(cx.select(chosen, weight, zero), initial, {axis});
  mlir::Value weighted = cx.elementwise<stablehlo::MulOp>({self, weight});
  mlir::Value losses = cx.elementwise<stablehlo::NegOp>(
      cx.reduceWith<stablehlo::AddOp>(cx.select(chosen, weighted, zero), initial, {axis}));
  DType weightDtype = cx.resultType(1).dtype;
  int64_t reduction = args.integer("reduction");
  if (reduction == Reduction::None)
    return {cx.convert(losses, dtype), cx.constant(0.0, weightDtype)};
  mlir::Value total = sumAll(cx, weights);
  mlir::Value loss = sumAll(cx, losses);
  if (reduction == Reduction::Mean)
    loss = cx.elementwise<stablehlo::DivOp>({loss, total});
  return {cx.convert(loss, dtype), cx.convert(total, weightDtype)};
}

} // namespace

void addSoftmax(OpTable &table) {
  table.add("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax,
            AsComposite{"softmax"});
  table.add("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", softmax,
            AsComposite{"softmax"});
  table.add("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", logSoftmax,
            AsComposite{"log_softmax"});
  table.add("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", logSoftmax,
            AsComposite{"log_softmax"});
  table.add(
      "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) "
      "-> (Tensor output, Tensor total_weight)",
      negativeLogLikelihood);
  table.add("aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
            "int ignore_index) -> (Tensor output, Tensor total_weight)",
            negativeLogLikelihood);
}

} // namespace torchere::lowering
