// Implements the making of loop programs: values, copies, loops and branches.
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

constexpr int64_t mostOfRegisters = int64_t(192) << 10; ///< of all registers
constexpr int64_t mostProducts = 8192;                  ///< of a contraction
constexpr int64_t mostOps = 4000;

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

bool isForThreads(Operation *op) {
  if (isa<stablehlo::ConvolutionOp, stablehlo::FftOp, stablehlo::SortOp>(op) || productsOf(op) > mostProducts)
    return true;
  auto isLong = [](mlir::Value value) {
    return elementCount(shapeOf(value)) > LoopProgramBuilder::longestValue;
  };
  bool isComputed = isKernelCall(op) || joinsGroups(op) || isa<stablehlo::ReduceOp>(op);
  return isComputed && (llvm::any_of(op->getResults(), isLong) || llvm::any_of(op->getOperands(), isLong));
}

} // namespace

int64_t productsOf(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return -1;
  int64_t products = elementCount(shapeOf(dot.getResult()));
  for (int64_t dimension : dot.getDotDimensionNumbers().getLhsContractingDimensions())
    products *= shapeOf(dot.getLhs())[static_cast<size_t>(dimension)];
  return products;
}

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
    run.touched = accesses.read;
    llvm::append_range(run.touched, accesses.written);
  }
  accesses = {};
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

/// `turn`: where the turn that ends with them begins.
Status LoopProgramBuilder::addCopies(ArrayRef<View> values, ArrayRef<View> targets,
                                     std::optional<size_t> turn) {
  auto create = [&](ElementType type, const Sizes &shape) { return allocate(type, shape); };
  auto copy = [&](const View &from, const View &to) { return addCopy(from, to); };
  CopiesTogether together{targets, create, copy};
  TORCHERE_ASSIGN(std::vector<View> sources, together.save(values));
  size_t first = code->size();
  TORCHERE_TRY(together.write(sources));
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
  // What is computed before all loops is there in each turn of the outer one.
  auto mayTake = [&](BufferId id) { return !fixed.contains(id); };
  TORCHERE_ASSIGN(std::vector<View> carried, planner.carriedViews(loop, mayTake, copy));
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

Status LoopProgramBuilder::plan(stablehlo::WhileOp loop) {
  int64_t begin = planner.beginLoop();
  Steps *outer = planner.writeInto(&drafts.program.steps);
  planner.beginAccesses(&accesses);
  Status status = addLoop(loop);
  planner.writeInto(outer);
  planner.endAccesses();
  TORCHERE_TRY(status);
  for (mlir::Value value : loop->getResults())
    drafts.needed.insert(planner.view(value)->buffer);
  auto isRegister = [&](BufferId id) { return isOwn(id); };
  drafts.emit(firstBuffer, begin, isRegister);
  planner.endLoop(begin);
  return {};
}

bool fitsLoopProgram(stablehlo::WhileOp loop) {
  int64_t bytes = 0, ops = 0;
  return !loop.walk([&](Operation *op) {
                for (mlir::Value value : op->getResults()) {
                  int64_t size = bytesOf(value);
                  bytes += size <= LoopProgramBuilder::largestRegister ? size + 8 : 0;
                }
                bool fits = bytes <= mostOfRegisters && ++ops <= mostOps && !isForThreads(op);
                return fits ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

Status planLoopProgram(Planner &planner, stablehlo::WhileOp loop) {
  return LoopProgramBuilder(planner).plan(loop);
}

} // namespace torchere::cpu
