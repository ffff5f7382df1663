// Softmax, log-softmax and the negative log-likelihood losses, which build on them.
#include "lowering/softmax.h"
#include "lowering/elementwise.h"
#include "lowering/loss_reduction.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

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
  mlir::Value target = cx.convert(args.tensor("target"), DType::I64);
  int64_t axis = Context::rank(self) == 1 ? 0 : 1;
  Dims shape = cx.shape(self);
  mlir::Value isCounted = cx.compare(stablehlo::ComparisonDirection::NE, target,
                                     cx.fullLike(args.integer("ignore_index"), target));
  mlir::Value place = cx.select(isCounted, target, cx.fullLike(int64_t{0}, target));
  shape[static_cast<size_t>(axis)] = Dim(1);
  mlir::Value taken = gatherSlices(cx, self, elementsAlong(cx, cx.reshape(place, shape), axis));
  mlir::Value losses = cx.elementwise<stablehlo::NegOp>(cx.reshape(taken, cx.shape(target)));
  mlir::Value weights = cx.fullLike(1.0, losses);
  if (auto given = args.optionalTensor("weight")) {
    weights = cx.convert(gatherSlices(cx, *given, slicesAlong(cx, place, 0)), Context::dtype(self));
    losses = cx.elementwise<stablehlo::MulOp>({losses, weights});
  }
  mlir::Value zero = cx.fullLike(0.0, losses);
  weights = cx.select(isCounted, weights, zero);
  losses = cx.select(isCounted, losses, zero);
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
