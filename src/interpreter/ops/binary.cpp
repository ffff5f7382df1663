// Elementwise ops of two and three operands.
#include "evaluation/elementwise.h"
#include "evaluation/elementwise_functions.h"
#include "interpreter/call.h"

namespace torchere::interpreter {

namespace {

Result<Values> comparison(const Call &call) {
  auto op = mlir::cast<stablehlo::CompareOp>(call.operation());
  return oneResult(compare(op, call.operand(0), call.operand(1)));
}

Result<Values> selectElements(const Call &call) {
  return oneResult(select(call.operand(0), call.operand(1), call.operand(2)));
}

Result<Values> clampElements(const Call &call) {
  return oneResult(clamp(call.operand(0), call.operand(1), call.operand(2)));
}

template <BinaryFunction function> Result<Values> binary(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  return oneResult(mapElements(call.operand(0), call.operand(1), type, function));
}

/// One evaluation for each row of the function table.
template <size_t... row> void addBinaryFunctions(EvaluationTable &table, std::index_sequence<row...>) {
  (table.addComputation(binaryFunctions[row].op, binary<binaryFunctions[row].function>), ...);
}

} // namespace

void addBinary(EvaluationTable &table) {
  addBinaryFunctions(table, std::make_index_sequence<std::size(binaryFunctions)>());
  table.addComputation("stablehlo.clamp", clampElements);
  table.addComputation("stablehlo.compare", comparison);
  table.addComputation("stablehlo.select", selectElements);
}

} // namespace torchere::interpreter
