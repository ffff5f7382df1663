// Plans random bits.
#include "cpu/execute/random_bits_step.h"
#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A state of another size is an error of the evaluation.
Result<bool> planRandomBits(Planner &planner, Operation *op) {
  auto algorithm = cast<stablehlo::RngAlgorithmAttr>(op->getAttr("rng_algorithm")).getValue();
  bool isThreeFry = algorithm == stablehlo::RngAlgorithm::THREE_FRY;
  Sizes state = shapeOf(op->getOperand(0));
  ElementType word = elementTypeOf(op->getOperand(0));
  bool isState = state.size() == 1 && (state[0] == 2 || (state[0] == 3 && !isThreeFry)) && isInteger(word) &&
                 elementTypeInfo(word).bits == 64;
  if (!isState || elementTypeInfo(elementTypeOf(op->getResult(1))).bits > 64)
    return false;
  TORCHERE_ASSIGN(View from, planner.viewDense(op->getOperand(0)));
  View next = planner.allocate(op->getResult(0)), result = planner.allocate(op->getResult(1));
  std::vector<View> writes{next, result};
  planner.emit(std::make_unique<RandomBitsStep>(
                   isThreeFry ? RandomAlgorithm::ThreeFry : RandomAlgorithm::Philox, from, next, result),
               {&from, 1}, writes);
  return true;
}

Result<bool> planRandomWords(Planner &planner, Operation *op) {
  View result = planner.allocate(op->getResult(0));
  planner.emit(std::make_unique<RandomWordsStep>(result), {}, {&result, 1});
  return true;
}

} // namespace

void addRandom(PlannerTable &table) {
  table.addCall("torchere_cpu.random_words", planRandomWords);
  table.add("stablehlo.rng_bit_generator", planRandomBits);
}

} // namespace torchere::cpu
