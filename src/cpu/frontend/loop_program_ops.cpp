// Implements LoopProgramBuilder for ops: elementwise ones, reductions, products, and the parts of tensors
// that they read and write.
#include "cpu/frontend/loop_program_builder.h"

#include "base/log.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/region_body.h"
#include "cpu/vector/op_rules.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isInteger(mlir::Value value, int64_t number) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant == number;
}

/// An index as JAX writes it, to which the size is added if it is negative: the index before, and the size.
std::pair<mlir::Value, int64_t> unwrapped(mlir::Value start) {
  auto choice = start.getDefiningOp<stablehlo::SelectOp>();
  auto compare = choice ? choice.getPred().getDefiningOp<stablehlo::CompareOp>() : stablehlo::CompareOp();
  auto sum = choice ? choice.getOnTrue().getDefiningOp<stablehlo::AddOp>() : stablehlo::AddOp();
  APInt size;
  if (!compare || !sum || compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT ||
      isUnsigned(elementTypeOf(start)) || compare.getLhs() != choice.getOnFalse() ||
      sum.getLhs() != choice.getOnFalse() || !isInteger(compare.getRhs(), 0) ||
      !matchPattern(sum.getRhs(), m_ConstantInt(&size)) || size.isNegative())
    return {start, 0};
  return {choice.getOnFalse(), size.getSExtValue()};
}

/// The scalar that becomes this component of a list of indices; null if it is not one of the body's.
mlir::Value componentOf(mlir::Value list, int64_t component) {
  while (Operation *op = list.getDefiningOp()) {
    if (shapeOf(list).empty())
      return list;
    if (auto join = dyn_cast<stablehlo::ConcatenateOp>(op)) {
      for (mlir::Value part : join.getInputs()) {
        list = part;
        if (component < elementCount(shapeOf(part)))
          break;
        component -= elementCount(shapeOf(part));
      }
      continue;
    }
    if (!isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp>(op) ||
        elementCount(shapeOf(op->getOperand(0))) != elementCount(shapeOf(list)))
      return {};
    list = op->getOperand(0);
  }
  return shapeOf(list).empty() ? list : mlir::Value();
}

} // namespace

/// The starts of an access, which the draft reads.
Result<std::vector<LoopIndex>> LoopProgramBuilder::startsOf(mlir::ValueRange starts, Draft &draft) {
  std::vector<LoopIndex> made;
  for (mlir::Value start : starts) {
    auto [value, wrap] = unwrapped(start);
    TORCHERE_ASSIGN(Place place, registersOf(value));
    made.push_back({0, elementTypeOf(value), wrap});
    draft.starts.push_back(place);
  }
  return made;
}

Status LoopProgramBuilder::addElementwise(Operation *op) {
  VectorBuilder builder;
  SmallVector<VectorBuilder::Value> values;
  SmallVector<Place> inputs;
  Sizes shape = shapeOf(op->getResult(0));
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View view, viewOf(operand));
    if (view.shape.size() != shape.size()) // a scalar that serves all elements
      view = broadcast(view, shape, {});
    TORCHERE_ASSIGN(Place place, registersOf(view));
    inputs.push_back(place);
    values.push_back(builder.input(laneTypeOf(operand)));
  }
  std::optional<VectorBuilder::Value> made = applyElementwise(builder, op, values);
  if (made)
    builder.output(*made, laneTypeOf(op->getResult(0)));
  Result<VectorProgram> program = builder.finish();
  if (!made || !program || program->phases.size() != 1)
    return addForeign(op);
  return addInstructions(*program, inputs, allocate(op->getResult(0)));
}

/// The program's slots become registers: the stored one is the result.
Status LoopProgramBuilder::addInstructions(const VectorProgram &program, ArrayRef<Place> inputs,
                                           const View &result) {
  llvm::DenseMap<int, Place> slots;
  int64_t count = elementCount(result.shape);
  const VectorInstruction *last = nullptr; // that makes what is stored
  for (const VectorInstruction &instruction : program.instructions)
    if (instruction.op == VectorOp::Store)
      for (const VectorInstruction &maker : program.instructions)
        if (maker.op != VectorOp::Store && maker.result == instruction.operands[0])
          last = &maker;
  for (const VectorInstruction &instruction : program.instructions) {
    if (instruction.op == VectorOp::Input) {
      slots[instruction.result] = inputs[instruction.index];
    } else if (instruction.op == VectorOp::Constant) {
      auto bits = std::as_bytes(std::span(&program.constants[instruction.index], 1));
      ElementType type = *elementTypeFromDType(instruction.type);
      View one = planner.constant(type, {}, bits.first(byteSize(instruction.type)));
      TORCHERE_ASSIGN(slots[instruction.result], registersOf(broadcast(one, result.shape, {})));
    } else if (instruction.op == VectorOp::Store) {
      if (last->op != VectorOp::Input && last->op != VectorOp::Constant)
        continue;
      Draft &move = add(LoopOp::Move);
      move.addOperand(slots[instruction.operands[0]]);
      move.result = Place{result.buffer, 0};
      move.instruction.count = count * result.elementSize();
    } else {
      Place to{result.buffer, 0};
      if (&instruction != last)
        to.buffer = allocate(*elementTypeFromDType(resultType(instruction)), result.shape).buffer;
      Draft apply;
      apply.instruction = {LoopOp::Apply, instruction.op, instruction.type, instruction.to};
      apply.instruction.count = count;
      for (int i = 0; i < operandCount(instruction.op); ++i)
        apply.addOperand(slots[instruction.operands[i]]);
      apply.result = to;
      slots[instruction.result] = to;
      code->push_back(std::move(apply));
    }
  }
  return {};
}

/// Rows of a reduction by a known op lie one after the other, copied if need be.
Status LoopProgramBuilder::addFold(stablehlo::ReduceOp op) {
  std::optional<VectorOp> function = op->getNumResults() == 1 ? foldOf(joinOf(op.getBody())) : std::nullopt;
  mlir::Value operand = op->getOperand(0);
  std::optional<DType> type = dtypeOf(operand);
  auto isShort = [](mlir::Value value) { return bytesOf(value) <= largestRegister && bytesOf(value) > 0; };
  if (!function || !type || primitiveType(*type) < 0 || computeType(*type) != *type || *type == DType::Bool ||
      !isShort(operand) || !isShort(op->getResult(0)) ||
      op->getOperand(1).getType() !=
          RankedTensorType::get({}, cast<ShapedType>(operand.getType()).getElementType()))
    return addForeign(op);
  Sizes order, reduced = integersOf(op, "dimensions");
  int64_t rank = static_cast<int64_t>(shapeOf(operand).size());
  for (bool isReduced : {false, true})
    for (int64_t d = 0; d < rank; ++d)
      if (llvm::is_contained(reduced, d) == isReduced)
        order.push_back(d);
  TORCHERE_ASSIGN(View view, viewOf(operand));
  TORCHERE_ASSIGN(Place rows, registersOf(transposed(view, order)));
  TORCHERE_ASSIGN(Place initial, registersOf(op->getOperand(1)));
  View result = allocate(op->getResult(0));
  Draft &fold = add(LoopOp::Fold);
  fold.addOperand(rows);
  fold.addOperand(initial);
  fold.result = Place{result.buffer, 0};
  fold.instruction.function = *function;
  fold.instruction.type = fold.instruction.to = *type;
  fold.instruction.sizes[0] = elementCount(result.shape);
  fold.instruction.sizes[1] = elementCount(view.shape) / fold.instruction.sizes[0];
  return {};
}

/// Matrices lie as the product takes them, arranged if need be.
Status LoopProgramBuilder::addProduct(stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  auto orderOf = [](mlir::Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> sums, bool sumsLast) {
    Sizes order(batch.begin(), batch.end()), free;
    for (int64_t d = 0; d < static_cast<int64_t>(shapeOf(value).size()); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(sums, d))
        free.push_back(d);
    for (bool isSum : {!sumsLast, sumsLast})
      isSum ? order.insert(order.end(), sums.begin(), sums.end())
            : order.insert(order.end(), free.begin(), free.end());
    return order;
  };
  std::optional<DType> type = dtypeOf(op.getResult());
  bool isFloat = type == DType::F32 || type == DType::F64;
  auto fits = [&](mlir::Value value) {
    return dtypeOf(value) == type && bytesOf(value) <= largestRegister && bytesOf(value) > 0;
  };
  if (!isFloat || !fits(op.getLhs()) || !fits(op.getRhs()) || !fits(op.getResult()))
    return addForeign(op);
  TORCHERE_ASSIGN(View left, viewOf(op.getLhs()));
  TORCHERE_ASSIGN(View right, viewOf(op.getRhs()));
  Sizes leftOrder = orderOf(op.getLhs(), numbers.getLhsBatchingDimensions(),
                            numbers.getLhsContractingDimensions(), /*sumsLast=*/true);
  Sizes rightOrder = orderOf(op.getRhs(), numbers.getRhsBatchingDimensions(),
                             numbers.getRhsContractingDimensions(), /*sumsLast=*/false);
  TORCHERE_ASSIGN(Place a, registersOf(transposed(left, leftOrder)));
  TORCHERE_ASSIGN(Place b, registersOf(transposed(right, rightOrder)));
  View result = allocate(op.getResult());
  Draft &made = add(LoopOp::Product);
  made.addOperand(a);
  made.addOperand(b);
  made.result = Place{result.buffer, 0};
  made.instruction.type = *type;
  int64_t batches = 1, sums = 1;
  for (int64_t d : numbers.getLhsBatchingDimensions())
    batches *= left.shape[static_cast<size_t>(d)];
  for (int64_t d : numbers.getLhsContractingDimensions())
    sums *= left.shape[static_cast<size_t>(d)];
  int64_t rows = elementCount(left.shape) / batches / sums,
          columns = elementCount(right.shape) / batches / sums;
  std::copy_n(std::initializer_list<int64_t>{batches, rows, sums, columns}.begin(), 4,
              made.instruction.sizes);
  return {};
}

Status LoopProgramBuilder::addConcatenation(Operation *op) {
  auto dimension = static_cast<size_t>(cast<stablehlo::ConcatenateOp>(op).getDimension());
  View whole = planner.wholeOf(op);
  planner.bind(op->getResult(0), whole);
  if (code == &drafts.preamble)
    fixed.insert(whole.buffer);
  Sizes starts(whole.shape.size()), steps(whole.shape.size(), 1);
  for (mlir::Value operand : op->getOperands()) {
    TORCHERE_ASSIGN(View part, viewOf(operand));
    View place = sliced(whole, starts, part.shape, steps);
    starts[dimension] += part.shape[dimension];
    if (part.buffer != whole.buffer || part.offset != place.offset)
      TORCHERE_TRY(addCopy(part, place));
  }
  return {};
}

Status LoopProgramBuilder::addSlice(stablehlo::DynamicSliceOp op) {
  TORCHERE_ASSIGN(View whole, viewOf(op.getOperand()));
  Sizes part = shapeOf(op.getResult());
  if (!isContiguousPart(whole, part) || bytesOf(op.getResult()) > largestRegister || elementCount(part) == 0)
    return addForeign(op);
  Draft draft;
  TORCHERE_ASSIGN(std::vector<LoopIndex> starts, startsOf(op.getStartIndices(), draft));
  View result = allocate(op.getResult());
  addMemory(LoopOp::Read, whole, part, std::move(starts), {result.buffer, 0}, std::move(draft));
  return {};
}

/// The memory of the updated tensor: that of the one before, or of a copy.
Result<View> LoopProgramBuilder::targetOf(mlir::Value tensor, mlir::Value updated, ArrayRef<View> reads) {
  TORCHERE_TRY(planner.flush());
  TORCHERE_ASSIGN(View whole, viewOf(tensor));
  auto isThere = [&](const View &other) { return other.buffer == whole.buffer; };
  if (llvm::none_of(reads, isThere) && !fixed.contains(whole.buffer) &&
      planner.mayOverwrite(whole, updated.getDefiningOp())) {
    planner.bind(updated, whole);
  } else {
    View copy = allocate(updated);
    TORCHERE_TRY(addCopy(whole, copy));
    whole = copy;
  }
  forget(whole.buffer);
  return whole;
}

Status LoopProgramBuilder::addUpdate(stablehlo::DynamicUpdateSliceOp op) {
  TORCHERE_ASSIGN(View part, viewOf(op.getUpdate()));
  TORCHERE_ASSIGN(View before, viewOf(op.getOperand()));
  if (!isContiguousPart(before, part.shape) || bytesOf(op.getUpdate()) > largestRegister ||
      elementCount(part.shape) == 0)
    return addForeign(op);
  Draft draft;
  TORCHERE_ASSIGN(Place place, registersOf(part));
  TORCHERE_ASSIGN(std::vector<LoopIndex> starts, startsOf(op.getStartIndices(), draft));
  TORCHERE_ASSIGN(View whole, targetOf(op.getOperand(), op.getResult(), part));
  addMemory(LoopOp::Write, whole, part.shape, std::move(starts), place, std::move(draft));
  return {};
}

/// One slice that is written, or left out where it is not inside: single elements along the dimensions that
/// have an index, all of the others.
Result<bool> LoopProgramBuilder::addScatter(stablehlo::ScatterOp op) {
  if (op->getNumResults() != 1 || joinOf(op.getUpdateComputation()) != "replaces")
    return false;
  stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  mlir::Value tensor = op.getInputs()[0], indices = op.getScatterIndices(), update = op.getUpdates()[0];
  Sizes shape = shapeOf(tensor), part = shape;
  ElementType indexType = elementTypeOf(indices);
  ArrayRef<int64_t> map = numbers.getScatterDimsToOperandDims();
  if (!numbers.getInputBatchingDims().empty() || !isInteger(indexType) ||
      elementCount(shapeOf(indices)) != static_cast<int64_t>(map.size()) ||
      numbers.getInsertedWindowDims().size() != map.size() || bytesOf(update) > largestRegister ||
      bytesOf(update) == 0)
    return false;
  for (int64_t dimension : map) {
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), dimension))
      return false;
    part[static_cast<size_t>(dimension)] = 1;
  }
  TORCHERE_ASSIGN(View before, viewOf(tensor));
  if (elementCount(part) != elementCount(shapeOf(update)) || !isContiguousPart(before, part))
    return false;
  TORCHERE_ASSIGN(View written, viewOf(update));
  TORCHERE_ASSIGN(Place place, registersOf(update));
  View zero = planner.constant(ElementType::I32, {}, std::as_bytes(std::span("\0\0\0", 4)));
  TORCHERE_ASSIGN(Place none, registersOf(zero));
  Draft draft;
  std::vector<LoopIndex> starts(shape.size(), {0, ElementType::I32});
  draft.starts.assign(shape.size(), none);
  for (auto [component, dimension] : llvm::enumerate(map)) {
    auto place = static_cast<size_t>(dimension);
    starts[place].type = indexType;
    if (mlir::Value scalar = componentOf(indices, static_cast<int64_t>(component))) {
      auto [value, wrap] = unwrapped(scalar);
      TORCHERE_ASSIGN(draft.starts[place], registersOf(value));
      starts[place].wrap = wrap;
      continue;
    }
    int64_t size = elementTypeInfo(indexType).bytes();
    TORCHERE_ASSIGN(Place list, registersOf(indices));
    draft.starts[place] = {list.buffer, list.bytes + static_cast<int64_t>(component) * size};
  }
  TORCHERE_ASSIGN(View whole, targetOf(tensor, op.getResult(0), written));
  addMemory(LoopOp::Write, whole, part, std::move(starts), place, std::move(draft), true);
  return true;
}

} // namespace torchere::cpu
