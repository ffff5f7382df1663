// Plans calls of the kernels of rows.
#include "cpu/execute/rows_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

RowsArgs rowsOfCall(Operation *op, const View &input) {
  RowsArgs rows;
  rows.type = *dtypeOf(op->getOperand(0));
  rows.columns = rowLengthOf(op);
  rows.rows = rows.columns == 0 ? 0 : elementCount(input.shape) / rows.columns;
  rows.inputRowStride = rows.outputRowStride = rows.columns;
  return rows;
}

Result<bool> planSoftmax(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  SoftmaxArgs args;
  args.rows = rowsOfCall(op, input);
  args.logarithm = kernelFlag(op, "logarithm");
  args.zeroWhenMasked = kernelFlag(op, "zero_when_masked");
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<SoftmaxStep>(args, input, result), {&input, 1}, {&result, 1});
  return true;
}

Result<bool> planSoftmaxAcross(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View input, planner.viewDense(op->getOperand(0)));
  auto axis = static_cast<size_t>(kernelInteger(op, "axis"));
  SoftmaxArgs args;
  args.rows.type = *dtypeOf(op->getOperand(0));
  args.rows.columns = input.shape[axis];
  args.rows.rows = elementCount(input.shape) / args.rows.columns;
  args.inner = elementCount(std::span(input.shape).subspan(axis + 1));
  args.logarithm = kernelFlag(op, "logarithm");
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<SoftmaxStep>(args, input, result), {&input, 1}, {&result, 1});
  return true;
}

Result<bool> planNorm(Planner &planner, Operation *op) {
  std::vector<View> reads;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, planner.viewDense(operand));
    reads.push_back(view);
  }
  NormArgs args;
  args.rows = rowsOfCall(op, reads.front());
  args.subtractMean = kernelFlag(op, "subtract_mean");
  args.epsilon = kernelNumber(op, "epsilon");
  args.hasWideFactors = reads.size() > 1 && reads[1].type != reads[0].type;
  std::optional<View> scale, bias;
  if (kernelFlag(op, "has_scale"))
    scale = reads[1];
  if (size_t next = scale ? 2 : 1; next < reads.size())
    bias = reads[next];
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<NormStep>(args, reads.front(), scale, bias, result), reads, {&result, 1});
  return true;
}

} // namespace

void addNormalization(PlannerTable &table) {
  table.addCall("torchere_cpu.softmax", planSoftmax);
  table.addCall("torchere_cpu.softmax_across", planSoftmaxAcross);
  table.addCall("torchere_cpu.norm", planNorm);
}

} // namespace torchere::cpu
