// Implements the making of loop programs. Values are views of buffers, as everywhere; those of small buffers
// become registers at the end, when all are known.
#include "cpu/frontend/loop_program_builder.h"

#include "base/log.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/loop_drafts.h"
#include "cpu/frontend/region_body.h"
#include "cpu/vector/op_rules.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Longer values are computed by steps, which have several threads and fuse what they compute.
constexpr int64_t longestValue = 2048;
constexpr int64_t largestRegister = longestValue * 8;
constexpr int64_t mostOfRegisters = int64_t(192) << 10; ///< of all registers
constexpr int64_t mostProducts = 8192;                  ///< of a contraction
constexpr int64_t mostOps = 4000;

int64_t registerBytes(mlir::Value value) {
  return elementCount(shapeOf(value)) * elementTypeInfo(elementTypeOf(value)).bytes();
}

bool isMadeOfViews(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ConstantOp, stablehlo::OptimizationBarrierOp,
             stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SliceOp, stablehlo::TransposeOp>(op);
}

/// Whether it is an elementwise op on types that are computed as they lie in memory.
bool hasInstruction(Operation *op) {
  auto isPlain = [](mlir::Value value) {
    std::optional<DType> type = dtypeOf(value);
    return type && primitiveType(*type) >= 0 && computeType(*type) == *type;
  };
  return joinsGroups(op) && !hasComplex(op) && !isa<stablehlo::IotaOp>(op) &&
         llvm::all_of(op->getOperands(), isPlain) && isPlain(op->getResult(0));
}

/// How many products it adds up; -1 for other ops.
int64_t productsOf(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return -1;
  int64_t products = elementCount(shapeOf(dot.getResult()));
  for (int64_t dimension : dot.getDotDimensionNumbers().getLhsContractingDimensions())
    products *= shapeOf(dot.getLhs())[static_cast<size_t>(dimension)];
  return products;
}

bool isForThreads(Operation *op) {
  if (isa<stablehlo::ConvolutionOp, stablehlo::FftOp, stablehlo::SortOp>(op) || productsOf(op) > mostProducts)
    return true;
  auto isLong = [](mlir::Value value) { return elementCount(shapeOf(value)) > longestValue; };
  bool isComputed = isKernelCall(op) || joinsGroups(op) || isa<stablehlo::ReduceOp>(op);
  return isComputed && (llvm::any_of(op->getResults(), isLong) || llvm::any_of(op->getOperands(), isLong));
}

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

class LoopProgramBuilder {
public:
  explicit LoopProgramBuilder(Planner &planner)
      : planner(planner), firstBuffer(static_cast<BufferId>(planner.bufferCount())), drafts(planner),
        code(&drafts.main) {}

  Status plan(stablehlo::WhileOp loop);

private:
  using Place = LoopPlace;
  using Draft = LoopDraft;

  Status addRegion(Region &region, SmallVectorImpl<View> &results);
  Status addOp(Operation *op);
  Status addLoop(stablehlo::WhileOp loop);
  Status addBranches(Operation *op);
  Status addBranch(Region &region, const std::vector<View> &results);
  Status addElementwise(Operation *op);
  Status addInstructions(const VectorProgram &program, ArrayRef<Place> inputs, const View &result);
  Status addFold(stablehlo::ReduceOp op);
  Status addProduct(stablehlo::DotGeneralOp op);
  Status addConcatenation(Operation *op);
  Result<bool> addArrangement(const View &view, const Place &place);
  Status addSlice(stablehlo::DynamicSliceOp op);
  Status addUpdate(stablehlo::DynamicUpdateSliceOp op);
  Result<bool> addScatter(stablehlo::ScatterOp op);
  Status addForeign(Operation *op);
  Status addCopies(ArrayRef<View> values, ArrayRef<View> targets, std::optional<size_t> turn);
  Status addCopy(const View &from, const View &to);
  Result<View> targetOf(mlir::Value tensor, mlir::Value updated, ArrayRef<View> reads);

  Result<View> viewOf(mlir::Value value);
  Result<Place> registersOf(const View &view);
  Result<Place> registersOf(mlir::Value value);
  Result<std::vector<LoopIndex>> startsOf(mlir::ValueRange starts, Draft &draft);
  void addSteps();
  Draft &add(LoopOp op) {
    code->emplace_back();
    code->back().instruction.op = op;
    return code->back();
  }
  void jump(LoopOp op, size_t label, std::optional<Place> predicate = {}) {
    Draft &made = add(op);
    made.instruction.index = static_cast<uint32_t>(label);
    if (predicate)
      made.addOperand(*predicate);
  }
  void addMemory(LoopOp op, const View &whole, const Sizes &part, std::vector<LoopIndex> starts,
                 const Place &place, Draft draft = {}, bool isDropped = false);
  View allocate(ElementType type, const Sizes &shape) {
    View made = planner.allocate(type, shape);
    if (code == &drafts.preamble)
      fixed.insert(made.buffer);
    return made;
  }
  View allocate(mlir::Value value) {
    View made = allocate(elementTypeOf(value), shapeOf(value));
    planner.bind(value, made);
    return made;
  }

  bool isOwn(BufferId id) const {
    return id >= firstBuffer && planner.buffer(id).home == Home::Arena &&
           planner.buffer(id).bytes <= largestRegister;
  }
  /// Whether it holds the same in all of the program.
  bool isFixed(BufferId id) const {
    return fixed.contains(id) || planner.buffer(id).home == Home::Constant ||
           (id < firstBuffer && !written.contains(id));
  }
  bool canHoist(Operation *op) {
    return code == &drafts.main && isMemoryEffectFree(op) && op->getNumRegions() <= 1 &&
           !isa<stablehlo::CustomCallOp, stablehlo::RngOp>(op) &&
           llvm::all_of(op->getOperands(), [&](mlir::Value value) {
             return !planner.isPending(value.getDefiningOp()) && isFixed(planner.view(value)->buffer);
           });
  }
  void forget(BufferId id) {
    llvm::erase_if(copies, [&](const auto &each) { return each.first.buffer == id; });
  }

  Planner &planner;
  BufferId firstBuffer;
  LoopDrafts drafts;
  std::vector<Draft> *code;
  std::vector<BufferId> touched;
  size_t addedSteps = 0;
  llvm::DenseSet<BufferId> fixed;                  ///< written in the preamble alone
  llvm::DenseSet<BufferId> written;                ///< of those from outside
  std::vector<std::pair<View, Place>> fixedCopies; ///< of views, as dense registers
  std::vector<std::pair<View, Place>> copies;      ///< likewise, while this region lasts
};

Result<View> LoopProgramBuilder::viewOf(mlir::Value value) {
  TORCHERE_ASSIGN(View found, planner.view(value));
  addSteps();
  return found;
}

/// Instructions that run the steps which were planned meanwhile.
void LoopProgramBuilder::addSteps() {
  for (; addedSteps < drafts.program.steps.size(); ++addedSteps) {
    Draft &run = add(LoopOp::Run);
    run.instruction.index = static_cast<uint32_t>(addedSteps);
    run.touched = touched;
  }
  touched.clear();
}

void LoopProgramBuilder::addMemory(LoopOp op, const View &whole, const Sizes &part,
                                   std::vector<LoopIndex> starts, const Place &place, Draft draft,
                                   bool isDropped) {
  draft.instruction.op = op;
  draft.instruction.index = static_cast<uint32_t>(drafts.program.accesses.size());
  draft.touched.push_back(whole.buffer);
  if (op == LoopOp::Read)
    draft.result = place;
  else
    draft.addOperand(place);
  (op == LoopOp::Read ? drafts.reads : drafts.writes).push_back(whole);
  drafts.program.accesses.push_back({whole, part, std::move(starts), isDropped});
  code->push_back(std::move(draft));
}

Result<LoopPlace> LoopProgramBuilder::registersOf(mlir::Value value) {
  TORCHERE_ASSIGN(View view, viewOf(value));
  return registersOf(view);
}

/// Where the elements lie in registers, one after the other.
Result<LoopPlace> LoopProgramBuilder::registersOf(const View &view) {
  bool isOne = elementCount(view.shape) == 1;
  if (isOwn(view.buffer) && (isOne || isDense(view)))
    return Place{view.buffer, view.offset * view.elementSize()};
  bool isAlways = isFixed(view.buffer);
  auto &known = isAlways ? fixedCopies : copies;
  for (auto &[other, place] : known)
    if (other == view)
      return place;
  std::vector<Draft> *outer = std::exchange(code, isAlways ? &drafts.preamble : code);
  llvm::scope_exit restore([&] { code = outer; });
  View made = allocate(view.type, view.shape);
  Place place{made.buffer, 0};
  bool isRepeated = llvm::all_of(view.strides, [](int64_t stride) { return stride == 0; });
  if (isOne || isDense(view)) {
    View source = isOne ? denseView(view.buffer, view.type, {}) : view;
    source.offset = view.offset;
    addMemory(LoopOp::Read, source, source.shape, {}, place);
  } else if (isRepeated && primitiveType(elementTypeInfo(view.type).dtype.value_or(DType::C32)) >= 0) {
    View one{view.buffer, view.type, view.offset, {}, {}};
    TORCHERE_ASSIGN(Place element, registersOf(one));
    Draft &spread = add(LoopOp::Spread);
    spread.addOperand(element);
    spread.result = place;
    spread.instruction.type = *elementTypeInfo(view.type).dtype;
    spread.instruction.count = elementCount(view.shape);
  } else {
    TORCHERE_ASSIGN(bool isArranged, addArrangement(view, place));
    if (!isArranged) {
      TORCHERE_TRY(planner.emitCopy(view, made));
      addSteps();
    }
  }
  known.push_back({view, place});
  return place;
}

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

/// The view's elements in registers, one after the other, where they lie in two dimensions of registers.
Result<bool> LoopProgramBuilder::addArrangement(const View &view, const Place &place) {
  Sizes dense = rowMajorStrides(view.shape);
  const Sizes *strides[] = {&view.strides, &dense};
  Walk walk = walkOver(view.shape, strides);
  size_t rank = walk.shape.size();
  std::optional<DType> type = elementTypeInfo(view.type).dtype;
  if (!isOwn(view.buffer) || rank > 2 || rank == 0 || !type || primitiveType(*type) < 0)
    return false;
  Draft &made = add(LoopOp::Arrange);
  LoopInstruction &instruction = made.instruction;
  instruction.type = *type;
  instruction.sizes[0] = rank == 2 ? walk.shape[0] : 1;
  instruction.sizes[1] = walk.shape.back();
  instruction.sizes[2] = rank == 2 ? walk.strides[0][0] : 0;
  instruction.sizes[3] = walk.strides[0].back();
  made.addOperand({view.buffer, view.offset * view.elementSize()});
  made.result = place;
  return true;
}

Status LoopProgramBuilder::addCopy(const View &from, const View &to) {
  if (elementCount(to.shape) == 0)
    return {};
  bool isSingle = elementCount(to.shape) == 1;
  bool isToRegisters = isOwn(to.buffer) && isDense(to);
  bool isFromRegisters = isOwn(from.buffer) && (isSingle || isDense(from));
  if (isToRegisters && isFromRegisters) {
    Draft &move = add(LoopOp::Move);
    move.addOperand({from.buffer, from.offset * from.elementSize()});
    move.result = Place{to.buffer, to.offset * to.elementSize()};
    move.instruction.count = elementCount(to.shape) * to.elementSize();
    return {};
  }
  if (isToRegisters && isDense(from)) {
    addMemory(LoopOp::Read, from, from.shape, {}, {to.buffer, to.offset * to.elementSize()});
    return {};
  }
  TORCHERE_TRY(planner.emitCopy(from, to));
  addSteps();
  return {};
}

/// As Planner::planCopies. `turn`: where the turn that ends with them begins.
Status LoopProgramBuilder::addCopies(ArrayRef<View> values, ArrayRef<View> targets,
                                     std::optional<size_t> turn) {
  SmallVector<View> sources(values);
  for (size_t i = 0; i < sources.size(); ++i)
    for (size_t other = 0; other < targets.size(); ++other)
      if (other != i && targets[other].buffer == values[i].buffer) {
        sources[i] = allocate(values[i].type, values[i].shape);
        TORCHERE_TRY(addCopy(values[i], sources[i]));
        break;
      }
  size_t first = code->size();
  for (size_t i = 0; i < sources.size(); ++i) {
    bool isThere = sources[i].buffer == targets[i].buffer;
    if (isThere && isDense(sources[i]) && sources[i].offset == targets[i].offset)
      continue;
    if (isThere) { // the same elements in another order
      View moved = allocate(sources[i].type, sources[i].shape);
      TORCHERE_TRY(addCopy(sources[i], moved));
      sources[i] = moved;
    }
    TORCHERE_TRY(addCopy(sources[i], targets[i]));
  }
  if (turn)
    drafts.turns.push_back({*turn, first, code->size()});
  return {};
}

Status LoopProgramBuilder::addRegion(Region &region, SmallVectorImpl<View> &results) {
  size_t known = copies.size();
  for (Operation &op : region.front().without_terminator())
    TORCHERE_TRY(addOp(&op));
  for (mlir::Value value : region.front().getTerminator()->getOperands()) {
    TORCHERE_ASSIGN(View found, viewOf(value));
    results.push_back(found);
  }
  TORCHERE_TRY(planner.flush());
  addSteps();
  if (copies.size() > known)
    copies.resize(known);
  return {};
}

Status LoopProgramBuilder::addOp(Operation *op) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return addLoop(loop);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return addBranches(op);
  if (op->use_empty() && isMemoryEffectFree(op))
    return {};
  std::vector<Draft> *outer = code;
  if (!isMadeOfViews(op) && canHoist(op))
    code = &drafts.preamble;
  llvm::scope_exit restore([&] { code = outer; });
  if (hasInstruction(op) && elementCount(shapeOf(op->getResult(0))) > 0)
    return addElementwise(op);
  if (isa<stablehlo::ConcatenateOp>(op))
    return addConcatenation(op);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return addFold(reduce);
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return addProduct(dot);
  if (auto slice = dyn_cast<stablehlo::DynamicSliceOp>(op))
    return addSlice(slice);
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return addUpdate(update);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op)) {
    TORCHERE_ASSIGN(bool isAdded, addScatter(scatter));
    if (isAdded)
      return {};
  }
  return addForeign(op);
}

/// Steps of the planner's. What is hoisted is computed there, not where it is needed.
Status LoopProgramBuilder::addForeign(Operation *op) {
  if (isMadeOfViews(op) || joinsGroups(op)) {
    TORCHERE_TRY(planner.planOp(op));
  } else {
    TORCHERE_TRY(planner.flush());
    TORCHERE_TRY(planner.planOp(op));
  }
  if (code == &drafts.preamble)
    for (mlir::Value value : op->getResults()) {
      TORCHERE_ASSIGN(View made, planner.view(value));
      fixed.insert(made.buffer);
    }
  addSteps();
  return {};
}

Status LoopProgramBuilder::addLoop(stablehlo::WhileOp loop) {
  auto copy = [&](const View &from, const View &to) { return addCopy(from, to); };
  TORCHERE_TRY(planner.flush());
  addSteps();
  TORCHERE_ASSIGN(std::vector<View> carried, planner.carriedViews(loop, copy));
  for (const View &view : carried) {
    forget(view.buffer);
    if (view.buffer < firstBuffer)
      written.insert(view.buffer);
  }
  auto bindArguments = [&](Region &region) {
    for (auto [value, view] : llvm::zip_equal(region.getArguments(), carried))
      planner.bind(value, view);
  };
  size_t body = drafts.newLabel(), condition = drafts.newLabel();
  jump(LoopOp::Jump, condition);
  drafts.place(body);
  size_t begin = code->size();
  bindArguments(loop.getBody());
  SmallVector<View> results, predicate;
  TORCHERE_TRY(addRegion(loop.getBody(), results));
  TORCHERE_TRY(addCopies(results, carried, begin));
  drafts.place(condition);
  bindArguments(loop.getCond());
  TORCHERE_TRY(addRegion(loop.getCond(), predicate));
  TORCHERE_ASSIGN(Place place, registersOf(predicate[0]));
  jump(LoopOp::JumpIf, body, place);
  return {};
}

Status LoopProgramBuilder::addBranch(Region &region, const std::vector<View> &results) {
  SmallVector<View> values;
  TORCHERE_TRY(addRegion(region, values));
  return addCopies(values, results, {});
}

/// A result that is an outer value in one branch stays where that is, if nothing needs it any more: the other
/// branch writes there.
Status LoopProgramBuilder::addBranches(Operation *op) {
  TORCHERE_TRY(planner.flush());
  TORCHERE_ASSIGN(Place index, registersOf(op->getOperand(0)));
  std::vector<View> results;
  for (auto [i, value] : llvm::enumerate(op->getResults())) {
    std::optional<View> place;
    for (Region &region : op->getRegions()) {
      mlir::Value given = region.front().getTerminator()->getOperand(static_cast<unsigned>(i));
      if (given.getParentBlock() == &region.front())
        continue;
      TORCHERE_ASSIGN(View view, viewOf(given));
      bool isTaken = llvm::any_of(results, [&](const View &other) { return other.buffer == view.buffer; });
      bool isReady = isDense(view) && view.offset == 0 &&
                     (isOwn(view.buffer) || written.contains(view.buffer) || view.buffer >= firstBuffer);
      if (isReady && !isTaken && !fixed.contains(view.buffer) && planner.mayOverwrite(view, op))
        place = view;
    }
    results.push_back(place ? *place : allocate(value));
    planner.bind(value, results.back());
    forget(results.back().buffer);
  }
  size_t end = drafts.newLabel();
  SmallVector<size_t> labels;
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    labels.push_back(drafts.newLabel());
  if (isBool(elementTypeOf(op->getOperand(0)))) {
    jump(LoopOp::JumpUnless, labels[1], index);
  } else {
    Draft &choice = add(LoopOp::Switch);
    choice.addOperand(index);
    choice.instruction.index = static_cast<uint32_t>(drafts.program.targets.size());
    choice.instruction.count = static_cast<int64_t>(labels.size());
    drafts.program.targets.insert(drafts.program.targets.end(), labels.begin(), labels.end());
  }
  for (unsigned i = 0; i < op->getNumRegions(); ++i) {
    drafts.place(labels[i]);
    TORCHERE_TRY(addBranch(op->getRegion(i), results));
    if (i + 1 < op->getNumRegions())
      jump(LoopOp::Jump, end);
  }
  drafts.place(end);
  return {};
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
  auto isShort = [](mlir::Value value) {
    return registerBytes(value) <= largestRegister && registerBytes(value) > 0;
  };
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
    return dtypeOf(value) == type && registerBytes(value) <= largestRegister && registerBytes(value) > 0;
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
  if (!isContiguousPart(whole, part) || registerBytes(op.getResult()) > largestRegister ||
      elementCount(part) == 0)
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
  if (!isContiguousPart(before, part.shape) || registerBytes(op.getUpdate()) > largestRegister ||
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
      numbers.getInsertedWindowDims().size() != map.size() || registerBytes(update) > largestRegister ||
      registerBytes(update) == 0)
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

Status LoopProgramBuilder::plan(stablehlo::WhileOp loop) {
  int64_t begin = planner.beginLoop();
  Steps *outer = planner.writeInto(&drafts.program.steps);
  planner.tellBuffersTo(&touched);
  Status status = addLoop(loop);
  planner.writeInto(outer);
  planner.tellBuffersTo(nullptr);
  TORCHERE_TRY(status);
  for (mlir::Value value : loop->getResults())
    drafts.needed.insert(planner.view(value)->buffer);
  auto isRegister = [&](BufferId id) { return isOwn(id); };
  drafts.emit(firstBuffer, begin, isRegister);
  planner.endLoop(begin);
  return {};
}

} // namespace

bool fitsLoopProgram(stablehlo::WhileOp loop) {
  int64_t bytes = 0, ops = 0;
  return !loop.walk([&](Operation *op) {
                for (mlir::Value value : op->getResults())
                  bytes += registerBytes(value) <= largestRegister ? registerBytes(value) + 8 : 0;
                bool fits = bytes <= mostOfRegisters && ++ops <= mostOps && !isForThreads(op);
                return fits ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

Status planLoopProgram(Planner &planner, stablehlo::WhileOp loop) {
  return LoopProgramBuilder(planner).plan(loop);
}

} // namespace torchere::cpu
