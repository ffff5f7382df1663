// Plans calls of the attention kernel.
#include "cpu/execute/attention_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

/// By strides, if the elements of a head are one after the other.
static Result<View> viewHeads(Planner &planner, mlir::Value value) {
  TORCHERE_ASSIGN(View view, planner.view(value));
  if (view.shape[3] == 1 || view.strides[3] == 1)
    return view;
  return planner.viewDense(value);
}

/// q, k and v are [batch][head][position][element], the mask [batch][head][query][key], the result
/// [batch][query][head][element].
static Result<bool> planAttention(Planner &planner, Operation *op) {
  std::vector<View> reads;
  for (mlir::Value operand : op->getOperands().take_front(3)) {
    TORCHERE_ASSIGN(View view, viewHeads(planner, operand));
    reads.push_back(view);
  }
  AttentionArgs args;
  args.type = *dtypeOf(op->getOperand(0));
  args.outputType = *dtypeOf(op->getResult(0));
  args.scale = static_cast<float>(kernelNumber(op, "scale"));
  args.bound = static_cast<float>(kernelNumber(op, "bound"));
  args.zeroWhenMasked = kernelFlag(op, "zero_when_masked");
  if (auto offset = dyn_cast_or_null<IntegerAttr>(kernelAttribute(op, "causal_offset"))) {
    args.causal = true;
    args.causalOffset = offset.getInt();
  }
  if (op->getNumOperands() == 4) {
    TORCHERE_ASSIGN(View mask, planner.view(op->getOperand(3)));
    args.mask = mask.type == ElementType::Bool ? MaskKind::Boolean : MaskKind::Additive;
    if (args.mask == MaskKind::Additive)
      args.maskType = *dtypeOf(op->getOperand(3));
    reads.push_back(mask);
  }
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<AttentionStep>(args, reads, result), reads, {&result, 1});
  return true;
}

void addAttention(PlannerTable &table) {
  table.addCall("torchere_cpu.attention", planAttention);
}

} // namespace torchere::cpu
