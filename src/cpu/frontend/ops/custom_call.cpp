// Plans custom calls of kernels that the user registered, and annotations of places.
#include "cpu/execute/registered_call_step.h"
#include "cpu/frontend/planner.h"
#include "interpreter/call.h"
#include "interpreter/mlir_values.h"
#include "interpreter/registered_call.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The view's dimensions in the order in which the kernel wants them to lie; an empty one is the usual.
View inOrder(const View &view, const Sizes &order) {
  return order.empty() ? view : transposed(view, order);
}

Sizes inverseOf(const Sizes &order) {
  Sizes inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

/// Dense, and as aligned as a buffer of its own.
Result<View> planOperand(Planner &planner, mlir::Value value, const Sizes &order) {
  TORCHERE_ASSIGN(View found, planner.view(value));
  View ordered = inOrder(found, order);
  if (isDense(ordered) && ordered.offset * ordered.elementSize() % memoryAlignment == 0)
    return ordered;
  return planner.copyOf(ordered);
}

/// The result's memory, which is the aliased operand's, with its elements.
Result<View> planAliased(Planner &planner, Operation *op, const std::vector<View> &reads, View &operand) {
  auto isInIt = [&](const View &view) { return view.buffer == operand.buffer; };
  if (planner.mayOverwrite(operand, op) && llvm::count_if(reads, isInIt) == 1)
    return operand;
  View copy = planner.allocate(operand.type, operand.shape);
  TORCHERE_TRY(planner.emitCopy(operand, copy));
  operand = copy; // the kernel finds both in one place
  return copy;
}

Result<bool> planCustomCall(Planner &planner, Operation *op) {
  if (interpreter::comparesTwoTensors(cast<stablehlo::CustomCallOp>(op).getCallTargetName()))
    return false;
  if (interpreter::isPlacement(op)) {
    TORCHERE_ASSIGN(View view, planner.view(op->getOperand(0)));
    planner.bind(op->getResult(0), view);
    return true;
  }
  TORCHERE_ASSIGN(std::unique_ptr<const ffi::CallSite> site, interpreter::instantiateCall(op));
  interpreter::CallForm form = interpreter::formOf(op);
  if (llvm::any_of(form.aliasedOperands, [](auto aliased) { return aliased.has_value(); }))
    TORCHERE_TRY(planner.flush());
  std::vector<View> reads, writes;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    TORCHERE_ASSIGN(reads.emplace_back(), planOperand(planner, op->getOperand(i), form.operandOrders[i]));
  }
  std::vector<RegisteredCallStep::Operand> operands, results;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    mlir::Value value = op->getResult(i);
    const Sizes &order = form.resultOrders[i];
    Sizes shape = shapeOf(value);
    if (std::optional<size_t> aliased = form.aliasedOperands[i]) {
      TORCHERE_ASSIGN(writes.emplace_back(), planAliased(planner, op, reads, reads[*aliased]));
    } else {
      View usual = denseView(0, elementTypeOf(value), shape);
      writes.push_back(planner.allocate(usual.type, inOrder(usual, order).shape));
    }
    results.push_back({writes.back(), shape});
    planner.bind(value, order.empty() ? writes.back() : transposed(writes.back(), inverseOf(order)));
  }
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back({reads[i], shapeOf(op->getOperand(i))});
  std::string source = interpreter::placeText(op->getLoc());
  planner.emit(std::make_unique<RegisteredCallStep>(std::move(site), std::move(operands), std::move(results),
                                                    planner.process(), std::move(source)),
               reads, writes);
  return true;
}

} // namespace

void addCustomCall(PlannerTable &table) {
  table.add("stablehlo.custom_call", planCustomCall);
}

} // namespace torchere::cpu
