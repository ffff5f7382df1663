// Plans the exchanges that collectives are made of.
#include "cpu/execute/exchange_step.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

int64_t integerAt(Operation *op, StringRef name) {
  return cast<IntegerAttr>(kernelAttribute(op, name)).getInt();
}

ArrayRef<int64_t> listAt(Operation *op, StringRef name) {
  return cast<DenseI64ArrayAttr>(kernelAttribute(op, name)).asArrayRef();
}

Result<bool> planExchange(Planner &planner, Operation *op) {
  Exchange exchange;
  exchange.number = integerAt(op, "number");
  exchange.self = integerAt(op, "self");
  llvm::append_range(exchange.members, listAt(op, "members"));
  llvm::append_range(exchange.taken, listAt(op, "taken"));
  TORCHERE_ASSIGN(exchange.given, planner.viewDense(op->getOperand(0)));
  Sizes shape = shapeOf(op->getResult(0)), starts(listAt(op, "starts")), steps(starts.size(), 1);
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
