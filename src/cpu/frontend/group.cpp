// Implements the planning of elementwise ops that have waited: one vector program for all that a result is
// computed from.
#include "cpu/frontend/group.h"
#include "cpu/execute/cell_step.h"
#include "cpu/execute/vector_step.h"
#include "cpu/frontend/complex_elements.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/joined_reductions.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Whether the elements of a row lie so far apart, by a power of two or nearly so, that the few lines of the
/// L1 cache they share do not hold the row until the next one reads the elements beside them. A copy by tiles
/// takes a quarter of the time then.
bool evictsItself(const View &view) {
  constexpr int64_t kLine = 64, kWay = 4096, kWays = 8, kFewElements = 1 << 14;
  if (view.shape.size() < 2 || elementCount(view.shape) < kFewElements)
    return false;
  bool sharesLines = false;
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides)) {
    if (size > 1 && stride == 0) // a copy of what is repeated would be larger than the memory that is read
      return false;
    sharesLines |= size > 1 && std::abs(stride) * view.elementSize() < kLine;
  }
  int64_t step = std::abs(view.strides.back()) * view.elementSize();
  int64_t lines = kWays * std::max<int64_t>(1, kWay / std::max(std::gcd(step, kWay), kLine));
  return step >= kLine && view.shape.back() > lines && sharesLines;
}

/// The dimensions in the order in which the elements follow each other; none if they do not, or if that is
/// the order that they have.
std::optional<Sizes> orderInMemory(const View &view) {
  Sizes order(view.shape.size());
  std::iota(order.begin(), order.end(), 0);
  auto strideOf = [&](int64_t dimension) { return view.strides[static_cast<size_t>(dimension)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return strideOf(a) > strideOf(b); });
  int64_t stride = 1;
  for (int64_t dimension : llvm::reverse(order)) {
    int64_t size = view.shape[static_cast<size_t>(dimension)];
    if (size != 1 && strideOf(dimension) != stride)
      return std::nullopt;
    stride *= size;
  }
  return isDense(view) ? std::nullopt : std::optional(order);
}

} // namespace

/// More tiles would not stay in the L1 cache together.
static constexpr size_t maxGroupOps = 48;

void Group::collect(ArrayRef<mlir::Value> roots) {
  auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  SmallVector<Operation *, 32> open; // a heap, the last in the block first
  auto add = [&](mlir::Value value) {
    if (!joins(value))
      return;
    set.insert(value.getDefiningOp());
    open.push_back(value.getDefiningOp());
    std::push_heap(open.begin(), open.end(), isBefore);
  };
  for (mlir::Value root : roots)
    add(root);
  // Of too many the last: between them lies no other, so that those before can be planned first.
  while (!open.empty() && ops.size() < maxGroupOps) {
    std::pop_heap(open.begin(), open.end(), isBefore);
    ops.push_back(open.pop_back_val());
    for (mlir::Value operand : ops.back()->getOperands())
      add(operand);
  }
  for (Operation *op : open)
    set.erase(op);
  std::reverse(ops.begin(), ops.end());
}

bool Group::joins(mlir::Value value) const {
  Operation *op = value.getDefiningOp();
  bool isIndex = op && isa<stablehlo::IotaOp>(op);
  return planner.isPending(op) && joinsGroups(op) && shapeOf(value) == shape && !set.contains(op) &&
         !(isIndex && readsIndices);
}

bool Group::walksFreely() const {
  return llvm::none_of(ops, [](Operation *op) { return isa<stablehlo::IotaOp>(op); });
}

Status Group::readInput(mlir::Value value) {
  if (contains(value.getDefiningOp()) || read.contains(value))
    return {};
  auto iota = readsIndices ? value.getDefiningOp<stablehlo::IotaOp>() : stablehlo::IotaOp();
  bool isIndex = iota && planner.isPending(iota) && shapeOf(value) == shape;
  std::optional<View> indices = isIndex ? planner.indicesOf(iota) : std::nullopt;
  View view;
  if (indices) {
    view = *indices;
  } else {
    TORCHERE_ASSIGN(view, planner.view(value));
  }
  if (view.shape.size() != shape.size()) // a scalar that serves all elements
    view = broadcast(view, shape, {});
  if (evictsItself(view)) {
    TORCHERE_ASSIGN(view, planner.viewDense(value));
  }
  read[value] = view;
  return {};
}

SmallVector<mlir::Value> Group::waitingInputs(ArrayRef<mlir::Value> roots) const {
  SmallVector<mlir::Value> found;
  auto add = [&](mlir::Value value) {
    Operation *source = value.getDefiningOp();
    bool isIndex = readsIndices && source && isa<stablehlo::IotaOp>(source);
    if (planner.isPending(source) && !contains(source) && !isIndex)
      found.push_back(value);
  };
  llvm::for_each(roots, add);
  for (Operation *op : ops)
    llvm::for_each(op->getOperands(), add);
  return found;
}

Status Group::readInputs(ArrayRef<mlir::Value> roots) {
  for (Operation *op : ops)
    for (mlir::Value operand : op->getOperands())
      TORCHERE_TRY(readInput(operand));
  for (mlir::Value root : roots)
    TORCHERE_TRY(readInput(root));
  return {};
}

ElementParts Group::addInput(VectorBuilder &builder, mlir::Value value, const View &view) {
  if (!isComplex(view.type)) {
    inputs.push_back(view);
    return {builder.input(laneTypeOf(value)), -1};
  }
  DType part = *elementTypeInfo(partType(view.type)).dtype;
  inputs.push_back(partsView(view, false));
  inputs.push_back(partsView(view, true));
  VectorBuilder::Value real = builder.input(part);
  return {real, builder.input(part)};
}

std::optional<Sizes> Group::orderOf(ArrayRef<mlir::Value> results) const {
  auto isToBlocks = [](Operation *user) { return isKernelCall(user, "to_blocked"); };
  bool isFree = walksFreely() && llvm::all_of(results, [&](mlir::Value value) {
                  return !value.use_empty() && llvm::all_of(value.getUsers(), isToBlocks);
                });
  for (const View &view : inputs)
    if (std::optional<Sizes> order = isFree ? orderInMemory(view) : std::nullopt)
      return order;
  return std::nullopt;
}

std::optional<VectorProgram> Group::build(ArrayRef<mlir::Value> results) {
  VectorBuilder builder;
  llvm::DenseMap<mlir::Value, ElementParts> values;
  inputs.clear();
  for (auto &[value, view] : read)
    values[value] = addInput(builder, value, view);
  for (Operation *op : ops) {
    SmallVector<ElementParts> operands;
    SmallVector<VectorBuilder::Value> numbers;
    for (mlir::Value operand : op->getOperands()) {
      operands.push_back(values.lookup(operand));
      numbers.push_back(operands.back().real);
    }
    if (hasComplex(op)) {
      values[op->getResult(0)] = applyComplex(builder, op, operands);
      continue;
    }
    std::optional<VectorBuilder::Value> made = applyElementwise(builder, op, numbers);
    if (!made)
      return std::nullopt;
    values[op->getResult(0)] = {*made, -1};
  }
  for (mlir::Value result : results) {
    ElementType type = elementTypeOf(result);
    ElementParts parts = values.lookup(result);
    // An index along another dimension than the last is computed once a row.
    parts.real = builder.spread(parts.real);
    if (!isComplex(type)) {
      builder.output(parts.real, laneTypeOf(result));
      continue;
    }
    builder.output(parts.real, *elementTypeInfo(partType(type)).dtype);
    builder.output(builder.spread(parts.imaginary), *elementTypeInfo(partType(type)).dtype);
  }
  Result<VectorProgram> program = builder.finish();
  return program ? std::optional(*std::move(program)) : std::nullopt;
}

/// Plans what a group would read while its members still wait: they may be what that is computed from. True
/// if there was nothing.
Result<bool> Planner::settle(ArrayRef<mlir::Value> waiting) {
  bool outer = std::exchange(isSettling, true);
  llvm::scope_exit restore([&] { isSettling = outer; });
  for (mlir::Value value : waiting)
    if (isPending(value.getDefiningOp()))
      TORCHERE_TRY(view(value));
  return waiting.empty();
}

Status Planner::planGroup(Operation *root) {
  if (!joinsReductions(root) && !joinsGroups(root))
    return planWaitingView(root);
  if (Operation *last = rowRootOf(root); last && last != root) {
    TORCHERE_TRY(planGroup(last));
    if (!isPending(root))
      return {};
  }
  if (joinsReductions(root))
    return planReductions(root);
  Operation *outer = std::exchange(current, root);
  llvm::scope_exit restore([&] { current = outer; });
  TORCHERE_ASSIGN(bool areRows, planRows(root));
  if (areRows)
    return {};
  Group group(*this, {root->getResult(0)}, /*readsIndices=*/false);
  TORCHERE_ASSIGN(bool isSettled, settle(group.waitingInputs({})));
  if (!isSettled)
    return isPending(root) ? planGroup(root) : Status();
  for (Operation *op : group.members())
    pending.remove(op);
  TORCHERE_TRY(group.readInputs({}));
  computed.insert(group.members().begin(), group.members().end());
  SmallVector<mlir::Value> results;
  for (Operation *op : group.members())
    if (op == root || group.isNeededOutside(op))
      results.push_back(op->getResult(0));
  if (elementCount(shapeOf(root->getResult(0))) == 0) {
    for (mlir::Value result : results)
      allocate(result);
    return {};
  }
  std::optional<VectorProgram> program = group.build(results);
  if (!program) {
    for (Operation *op : group.members())
      TORCHERE_TRY(planEvaluation(op));
    return {};
  }
  std::optional<Sizes> order = group.orderOf(results);
  std::vector<View> reads = group.inputs, writes;
  for (mlir::Value value : results) {
    View whole = order ? allocateInOrder(value, *order) : allocate(value);
    if (isComplex(whole.type)) {
      writes.push_back(partsView(whole, false));
      writes.push_back(partsView(whole, true));
    } else {
      writes.push_back(whole);
    }
  }
  for (std::vector<View> *views : {&reads, &writes})
    for (View &view : *views)
      view = order ? transposed(view, *order) : view;
  TORCHERE_ASSIGN(std::unique_ptr<const Step> step,
                  VectorStep::create(*std::move(program), reads, writes, group.walksFreely(), isa()));
  if (!joinProduct(*step, reads, writes))
    emit(std::move(step), reads, writes);
  return {};
}

/// The step before the last, if it slices for the last alone, or for what is computed by now.
const Step *Planner::sliceForLast() const {
  if (steps->size() < 2)
    return nullptr;
  const Step &step = *(*steps)[steps->size() - 2];
  if (step.storedClass() != &storedClassOf<SliceStep>)
    return nullptr;
  BufferId part = static_cast<const SliceStep &>(step).partView().buffer;
  int64_t readers = 0, waiting = 0;
  for (mlir::Value value : valuesIn.lookup(part))
    for (Operation *user : value.getUsers()) {
      bool isView = user->getNumResults() == 1 && views.contains(user->getResult(0)) &&
                    views.lookup(user->getResult(0)).buffer == part;
      readers += !isView;
      waiting += !isView && !computed.contains(user);
    }
  return readers == 1 || waiting == 0 ? &step : nullptr;
}

/// A recurrent cell's product and what becomes of its gates are one step, which has the product's number. So
/// is the slice in front of it.
bool Planner::joinProduct(const Step &vector, std::span<const View> reads, std::span<const View> writes) {
  if (steps->empty())
    return false;
  const Step &product = *steps->back();
  const Step *slice = sliceForLast();
  std::unique_ptr<const Step> cell = CellStep::create(product, vector, slice, isa());
  if (!cell) {
    slice = nullptr;
    cell = CellStep::create(product, vector, slice, isa());
  }
  if (!cell)
    return false;
  replaceLast(std::move(cell), reads, writes);
  if (slice)
    dropSlice(static_cast<const SliceStep &>(*slice));
  return true;
}

bool Planner::joinCell(const SliceStep &slice, std::span<const View> reads, const View &whole) {
  if (steps->empty() || steps->back()->storedClass() != &storedClassOf<CellStep>)
    return false;
  std::unique_ptr<const Step> cell = static_cast<const CellStep &>(*steps->back()).writing(slice, isa());
  if (!cell)
    return false;
  replaceLast(std::move(cell), reads, {&whole, 1});
  return true;
}

/// A step in the place of the last one, which it does with more: it reads and writes these too.
void Planner::replaceLast(std::unique_ptr<const Step> step, std::span<const View> reads,
                          std::span<const View> writes) {
  const Step &last = *steps->back();
  StepOrigin origin = result.origins[&last];
  origin.bytes += bytesOf(reads) + bytesOf(writes);
  --now;
  tell(*step, reads, writes);
  for (const View &view : writes)
    result.buffers[view.buffer].first = std::min(result.buffers[view.buffer].first, now);
  ++now;
  result.origins.erase(&last);
  result.origins[step.get()] = std::move(origin);
  steps->back() = std::move(step);
}

/// What it reads is read by the step behind it from now on.
void Planner::dropSlice(const SliceStep &slice) {
  --now;
  use(slice.wholeView());
  for (const View &start : slice.startViews())
    use(start);
  ++now;
  result.origins.erase(&slice);
  if (steps == &result.steps)
    result.stepNumbers.erase(result.stepNumbers.end() - 2);
  steps->erase(steps->end() - 2);
}

} // namespace torchere::cpu
