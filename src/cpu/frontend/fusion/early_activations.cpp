// Moves the activation of a convolution's result in front of the reshapes and transposes between them, as
// transformers have them that take pixels for tokens: there its kernel can compute it.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/fusion/splats.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isView(Operation *op) {
  return isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op) && op->hasOneUse();
}

/// A convolution that its kernel computes, or one with a bias, factors or a residual.
bool isConvolved(Value value) {
  for (int step = 0; step < 4; ++step) {
    Operation *op = value.getDefiningOp();
    if (auto convolution = dyn_cast_or_null<stablehlo::ConvolutionOp>(op))
      return value.hasOneUse() && convolutionCallOf(convolution);
    if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::MulOp, stablehlo::SubtractOp>(op))
      return false;
    Value first = op->getOperand(0);
    value = isa_and_nonnull<stablehlo::BroadcastInDimOp>(first.getDefiningOp()) ? op->getOperand(1) : first;
  }
  return false;
}

/// Whether all that the activation takes beside the value are constants, which can be made anywhere.
bool hasConstantsBeside(Operation *activation, Value value) {
  return llvm::all_of(activation->getOperands(),
                      [&](Value operand) { return operand == value || splatNumber(operand); });
}

/// Before the view that is the first of those behind the convolution.
void moveBefore(Operation *view, Operation *activation, Value viewed) {
  OpBuilder builder(view);
  Value source = view->getOperand(0);
  auto type = cast<RankedTensorType>(source.getType());
  Operation *moved = activation->clone();
  for (OpOperand &operand : moved->getOpOperands())
    if (operand.get() == viewed) {
      operand.set(source);
    } else {
      auto own = cast<RankedTensorType>(operand.get().getType());
      operand.set(splatOf(builder, activation->getLoc(), own.getRank() == 0 ? own : type,
                          *splatNumber(operand.get())));
    }
  moved->getResult(0).setType(type);
  builder.insert(moved);
  view->setOperand(0, moved->getResult(0));
  activation->getResult(0).replaceAllUsesWith(viewed);
}

bool moveActivation(Operation *activation) {
  for (Value operand : activation->getOperands()) {
    Operation *view = operand.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!isView(view) || !type || !type.hasStaticShape() || activation->getNumResults() != 1 ||
        activation->getResult(0).getType() != type || !activationOf(activation, operand) ||
        !hasConstantsBeside(activation, operand))
      continue;
    while (isView(view->getOperand(0).getDefiningOp()))
      view = view->getOperand(0).getDefiningOp();
    if (!view->getOperand(0).hasOneUse() || !isConvolved(view->getOperand(0)) ||
        view->getBlock() != activation->getBlock())
      continue;
    moveBefore(view, activation, operand);
    return true;
  }
  return false;
}

} // namespace

int64_t fuseEarlyActivations(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  return llvm::count_if(ops, moveActivation);
}

} // namespace torchere::cpu
