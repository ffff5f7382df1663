// Plans reductions.
#include "cpu/execute/reduce_step.h"
#include "cpu/frontend/planner.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The reduction of a body that applies one op to its two arguments.
std::optional<Reduction> reductionOf(Region &body) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return std::nullopt;
  Operation &op = block.front();
  Operation *end = block.getTerminator();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || end->getNumOperands() != 1 ||
      end->getOperand(0) != op.getResult(0))
    return std::nullopt;
  mlir::Value first = block.getArgument(0), second = block.getArgument(1);
  bool takesBoth = (op.getOperand(0) == first && op.getOperand(1) == second) ||
                   (op.getOperand(0) == second && op.getOperand(1) == first);
  if (!takesBoth || first.getType() != op.getResult(0).getType())
    return std::nullopt;
  bool onBools = elementTypeOf(first) == ElementType::Bool;
  return llvm::StringSwitch<std::optional<Reduction>>(op.getName().getStringRef())
      .Case("stablehlo.add", onBools ? Reduction::Or : Reduction::Sum)
      .Case("stablehlo.multiply", onBools ? Reduction::And : Reduction::Product)
      .Case("stablehlo.maximum", onBools ? Reduction::Or : Reduction::Max)
      .Case("stablehlo.minimum", onBools ? Reduction::And : Reduction::Min)
      .Case("stablehlo.and", Reduction::And)
      .Case("stablehlo.or", Reduction::Or)
      .Default(std::nullopt);
}

Result<bool> planReduce(Planner &planner, Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  std::optional<DType> type = dtypeOf(op->getOperand(0));
  std::optional<Reduction> reduction = reductionOf(op->getRegion(0));
  bool isOneType = type && type == dtypeOf(op->getOperand(1)) && type == dtypeOf(op->getResult(0)) &&
                   type == dtypeOf(op->getRegion(0).getArgument(0));
  if (!isOneType || !reduction || isComplex(elementTypeOf(op->getOperand(0))) ||
      (isFloat(elementTypeOf(op->getOperand(0))) && byteSize(*type) == 1))
    return false;
  TORCHERE_ASSIGN(View input, planner.view(op->getOperand(0)));
  TORCHERE_ASSIGN(View initial, planner.view(op->getOperand(1)));
  View result = planner.allocate(op->getResult(0));
  TORCHERE_ASSIGN(std::unique_ptr<const Step> step, ReduceStep::create(*reduction, *type, input, initial,
                                                                       result, integersOf(op, "dimensions")));
  std::vector<View> reads{input, initial};
  planner.emit(std::move(step), reads, {&result, 1});
  return true;
}

} // namespace

void addReduction(PlannerTable &table) {
  table.add("stablehlo.reduce", planReduce);
}

} // namespace torchere::cpu
