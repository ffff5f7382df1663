// Plans the exchanges that collectives are made of.
#include "cpu/execute/exchange_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

Result<bool> planExchange(Planner &planner, Operation *op) {
  Exchange exchange;
  exchange.number = kernelInteger(op, "number");
  exchange.self = kernelInteger(op, "self");
  llvm::append_range(exchange.members, kernelIntegers(op, "members"));
  llvm::append_range(exchange.taken, kernelIntegers(op, "taken"));
  TORCHERE_ASSIGN(exchange.given, planner.viewDense(op->getOperand(0)));
  Sizes shape = shapeOf(op->getResult(0)), starts(kernelIntegers(op, "starts")), steps(starts.size(), 1);
  shape.erase(shape.begin());
  exchange.part = sliced(exchange.given, starts, shape, steps);
  exchange.result = planner.allocate(op->getResult(0));
  View given = exchange.given, result = exchange.result;
  planner.emit(std::make_unique<ExchangeStep>(std::move(exchange)), {&given, 1}, {&result, 1});
  return true;
}

} // namespace

void addExchange(PlannerTable &table) {
  table.addCall("torchere_cpu.exchange", planExchange);
}

} // namespace torchere::cpu
