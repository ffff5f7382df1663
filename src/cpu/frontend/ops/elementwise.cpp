// Lets elementwise ops wait for the vector program that they become a part of.
#include "cpu/frontend/elementwise.h"
#include "cpu/execute/regroup_step.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/element_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The parts of complex numbers are views, unless the numbers wait to be computed.
Result<bool> planParts(Planner &planner, Operation *op) {
  mlir::Value operand = op->getOperand(0);
  if (!isComplex(elementTypeOf(operand)) || planner.isPending(operand.getDefiningOp()))
    return false;
  TORCHERE_ASSIGN(View view, planner.view(operand));
  planner.bind(op->getResult(0), partsView(view, isa<stablehlo::ImagOp>(op)));
  return true;
}

Result<bool> planByElements(Planner &planner, Operation *op) {
  std::optional<ElementFunction> function = elementFunctionOf(op);
  if (!function)
    return false;
  std::vector<View> inputs;
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, planner.view(operand));
    if (view.shape.size() != shapeOf(op->getResult(0)).size()) // a scalar that serves all elements
      view = broadcast(view, shapeOf(op->getResult(0)), {});
    inputs.push_back(view);
  }
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<ElementStep>(*std::move(function), inputs, result), inputs, {&result, 1});
  return true;
}

/// Elements of less than a byte lie in one each.
Result<bool> planRegrouping(Planner &planner, Operation *op) {
  TORCHERE_ASSIGN(View from, planner.viewDense(op->getOperand(0)));
  View to = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<RegroupStep>(from, to), {&from, 1}, {&to, 1});
  return true;
}

/// The same bytes, where elements are of whole ones or keep their size.
Result<bool> planBitcast(Planner &planner, Operation *op) {
  ElementType from = elementTypeOf(op->getOperand(0)), to = elementTypeOf(op->getResult(0));
  int bits = elementTypeInfo(from).bits, resultBits = elementTypeInfo(to).bits;
  bool isSame = bits == resultBits;
  if (!isSame && (bits % 8 != 0 || resultBits % 8 != 0))
    return std::max(bits, resultBits) <= 64 ? planRegrouping(planner, op) : false;
  if (isSame && planner.isPending(op->getOperand(0).getDefiningOp()) && joinsGroups(op)) {
    planner.defer(op);
    return true;
  }
  TORCHERE_ASSIGN(View view, isSame ? planner.view(op->getOperand(0)) : planner.viewDense(op->getOperand(0)));
  if (isSame) {
    view.type = to;
  } else {
    int64_t offset = view.offset * view.elementSize();
    if (offset % elementTypeInfo(to).bytes() != 0) {
      TORCHERE_ASSIGN(view, planner.copyOf(view));
      offset = 0;
    }
    view = denseView(view.buffer, to, shapeOf(op->getResult(0)));
    view.offset = offset / view.elementSize();
  }
  planner.bind(op->getResult(0), view);
  return true;
}

Result<bool> planElementwise(Planner &planner, Operation *op) {
  if (isa<stablehlo::BitcastConvertOp>(op))
    return planBitcast(planner, op);
  if (isa<stablehlo::RealOp, stablehlo::ImagOp>(op)) {
    TORCHERE_ASSIGN(bool isView, planParts(planner, op));
    if (isView)
      return true;
  }
  if (!joinsGroups(op))
    return planByElements(planner, op);
  planner.defer(op);
  return true;
}

} // namespace

void addElementwise(PlannerTable &table) {
  for (llvm::StringRef name : elementwiseNames())
    name.starts_with(kernelPrefix) ? table.addCall(name, planElementwise) : table.add(name, planElementwise);
}

} // namespace torchere::cpu
