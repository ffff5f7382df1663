// Implements the planner's walk over ops, and what becomes of buffers.
#include "cpu/frontend/planner.h"

#include "cpu/execute/copy_step.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/joined_reductions.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"

#include "llvm/ADT/ScopeExit.h"

#include <cstring>
#include <new>

using namespace mlir;

namespace torchere::cpu {

Sizes shapeOf(mlir::Value value) {
  return Sizes(cast<RankedTensorType>(value.getType()).getShape());
}

ElementType elementTypeOf(mlir::Value value) {
  return *stablehlo::storedTypeOf(cast<RankedTensorType>(value.getType()).getElementType());
}

int64_t bytesOf(mlir::Value value) {
  return elementCount(shapeOf(value)) * elementTypeInfo(elementTypeOf(value)).bytes();
}

std::optional<DType> dtypeOf(mlir::Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (!element.isIntOrFloat() && !isa<ComplexType>(element))
    return std::nullopt;
  return elementTypeInfo(elementTypeOf(value)).dtype;
}

Sizes integersOf(Operation *op, StringRef name, size_t count, int64_t value) {
  Attribute list = op->getAttr(name);
  if (!list)
    return Sizes(count, value);
  Sizes values;
  if (auto array = dyn_cast<DenseI64ArrayAttr>(list))
    llvm::append_range(values, array.asArrayRef());
  else if (auto bools = dyn_cast<DenseBoolArrayAttr>(list))
    llvm::append_range(values, bools.asArrayRef());
  else if (auto tensor = dyn_cast<DenseIntElementsAttr>(list))
    for (const APInt &element : tensor.getValues<APInt>())
      values.push_back(element.getSExtValue());
  return values;
}

OpPlanner PlannerTable::find(Operation *op) const {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && isKernelCall(call))
    return calls.lookup(call.getCallTargetName());
  return rows.lookup(op->getName().getStringRef());
}

BufferId Planner::addBuffer(Home home, size_t index, int64_t bytes) {
  result.buffers.push_back({home, index, bytes, 0, now, now});
  return static_cast<BufferId>(result.buffers.size() - 1);
}

Result<Plan> Planner::plan(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    View view = denseView(0, elementTypeOf(argument), shapeOf(argument));
    view.buffer =
        addBuffer(Home::Argument, argument.getArgNumber(), elementCount(view.shape) * view.elementSize());
    bind(argument, view);
  }
  argumentCount = function.getNumArguments();
  isDonated.resize(argumentCount);
  isWeight.resize(argumentCount);
  result.writtenArguments.resize(argumentCount);
  result.readArguments.resize(argumentCount);
  steps = &result.steps;
  for (Operation &op : function.front().without_terminator())
    TORCHERE_TRY(planOp(&op));
  TORCHERE_TRY(planResults(function));
  layArena(result);
  return std::move(result);
}

Result<View> Planner::view(mlir::Value value) {
  if (Operation *op = value.getDefiningOp(); isPending(op))
    TORCHERE_TRY(planGroup(op));
  return views.lookup(value);
}

Result<View> Planner::viewDense(mlir::Value value) {
  TORCHERE_ASSIGN(View found, view(value));
  if (isDense(found))
    return found;
  return copyOf(found);
}

/// One constant, repeated: no copy is made from call to call of as many elements as channels have.
std::optional<View> Planner::repeatedConstant(const View &view) {
  constexpr int64_t mostElements = 4096;
  int64_t count = elementCount(view.shape);
  bool isRepeated = isConstant(view) && count > 0 && count <= mostElements &&
                    llvm::all_of(view.strides, [](int64_t stride) { return stride == 0; });
  if (!isRepeated)
    return std::nullopt;
  auto bytes = static_cast<size_t>(view.elementSize());
  const std::byte *element =
      result.constants[result.buffers[view.buffer].index].get() + view.offset * view.elementSize();
  std::vector<std::byte> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.insert(elements.end(), element, element + bytes);
  return constant(view.type, view.shape, elements);
}

Result<View> Planner::copyOf(const View &view) {
  if (std::optional<View> repeated = repeatedConstant(view))
    return *repeated;
  std::optional<size_t> argument = argumentOf(view);
  if (!argument || !isWeight[*argument]) {
    View dense = allocate(view.type, view.shape);
    TORCHERE_TRY(emitCopy(view, dense));
    return dense;
  }
  View dense = denseView(0, view.type, view.shape);
  auto found = llvm::find(copiedWeights, view);
  size_t index = argumentCount + static_cast<size_t>(found - copiedWeights.begin());
  if (found == copiedWeights.end()) {
    copiedWeights.push_back(view);
    isDonated.push_back(false);
    isWeight.push_back(true);
    result.writtenArguments.push_back(false);
    result.readArguments.push_back(false);
  }
  dense.buffer = addBuffer(Home::Argument, index, elementCount(view.shape) * view.elementSize());
  return dense;
}

void Planner::bind(mlir::Value value, const View &view) {
  views[value] = view;
  valuesIn[view.buffer].push_back(value);
}

View Planner::allocate(ElementType type, const Sizes &shape) {
  View view = denseView(0, type, shape);
  view.buffer = addBuffer(Home::Arena, 0, elementCount(shape) * view.elementSize());
  return view;
}

View Planner::allocate(mlir::Value value) {
  View view = allocate(elementTypeOf(value), shapeOf(value));
  bind(value, view);
  return view;
}

View Planner::allocateInOrder(mlir::Value value, std::span<const int64_t> order) {
  Sizes shape = shapeOf(value), inMemory(order.size()), places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inMemory[i] = shape[static_cast<size_t>(order[i])];
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  View view = transposed(allocate(elementTypeOf(value), inMemory), places);
  bind(value, view);
  return view;
}

View Planner::wholeOf(Operation *concatenation) {
  auto found = wholes.find(concatenation);
  return found == wholes.end() ? allocateInPlace(concatenation->getResult(0)) : found->second;
}

/// Whether nothing reads the value but this concatenation, of which it may also give parts (padding by what
/// lies at the edges).
static bool isReadBy(mlir::Value value, stablehlo::ConcatenateOp join) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == join.getOperation() ||
           (isa<stablehlo::SliceOp, stablehlo::ReverseOp, stablehlo::BroadcastInDimOp>(user) &&
            isReadBy(user->getResult(0), join));
  });
}

/// The concatenation that alone reads the value, which is one of its parts.
static stablehlo::ConcatenateOp onlyJoinOf(mlir::Value value) {
  for (Operation *user : value.getUsers())
    if (auto join = dyn_cast<stablehlo::ConcatenateOp>(user))
      return llvm::count(join->getOperands(), value) == 1 && isReadBy(value, join)
                 ? join
                 : stablehlo::ConcatenateOp();
  return {};
}

View Planner::allocateInPlace(mlir::Value value) {
  mlir::Value part = value;
  while (part.hasOneUse() && llvm::isa<stablehlo::ReshapeOp>(*part.user_begin()))
    part = part.user_begin()->getResult(0);
  stablehlo::ConcatenateOp join = onlyJoinOf(part);
  if (!join || join->getBlock() != value.getParentBlock() || elementCount(shapeOf(value)) == 0)
    return allocate(value);
  auto dimension = static_cast<size_t>(join.getDimension());
  Sizes shape = shapeOf(join->getResult(0)), starts(shape.size()), steps(shape.size(), 1);
  if (hasPartsInRow(shape, dimension)) // any part is laid there afterwards
    return allocate(value);
  for (mlir::Value operand : join->getOperands()) {
    if (operand == part)
      break;
    starts[dimension] += shapeOf(operand)[dimension];
  }
  View whole = wholes[join] = wholeOf(join);
  std::optional<View> place = reshaped(sliced(whole, starts, shapeOf(part), steps), shapeOf(value));
  if (!place)
    return allocate(value);
  bind(value, *place);
  return *place;
}

View Planner::constant(ElementType type, const Sizes &shape, std::span<const std::byte> bytes) {
  View view = denseView(0, type, shape);
  view.buffer = addBuffer(Home::Constant, result.constants.size(), static_cast<int64_t>(bytes.size()));
  Result<Memory> memory = allocateMemory(static_cast<int64_t>(bytes.size()));
  if (!memory)
    throw std::bad_alloc();
  if (!bytes.empty())
    std::memcpy(memory->get(), bytes.data(), bytes.size());
  result.constants.push_back(*std::move(memory));
  return view;
}

void Planner::use(const View &view) {
  Buffer &buffer = result.buffers[view.buffer];
  buffer.last = std::max(buffer.last, now);
}

void Planner::read(const View &view, const Step &step) {
  use(view);
  if (std::optional<size_t> argument = argumentOf(view); argument && !step.packs(view.buffer))
    result.readArguments[*argument] = true;
}

/// What step `now` reads and writes is in use there.
void Planner::tell(const Step &step, std::span<const View> reads, std::span<const View> writes) {
  for (const View &view : reads)
    read(view, step);
  for (Accesses *accesses : listeners) {
    for (const View &view : reads)
      accesses->read.push_back(view.buffer);
    for (const View &view : writes)
      accesses->written.push_back(view.buffer);
  }
  for (const View &view : writes) {
    use(view);
    if (std::optional<size_t> argument = argumentOf(view))
      result.writtenArguments[*argument] = true;
  }
}

void Planner::emit(std::unique_ptr<const Step> step, std::span<const View> reads,
                   std::span<const View> writes) {
  tell(*step, reads, writes);
  note(*step, reads, writes);
  if (steps == &result.steps)
    result.stepNumbers.push_back(now);
  steps->push_back(std::move(step));
  ++now;
}

void Planner::emitInto(Steps &list, Operation *op, std::unique_ptr<const Step> step,
                       std::span<const View> reads, std::span<const View> writes) {
  Steps *outer = std::exchange(steps, &list);
  Operation *before = std::exchange(current, op);
  emit(std::move(step), reads, writes);
  steps = outer;
  current = before;
}

int64_t bytesOf(std::span<const View> views) {
  int64_t bytes = 0;
  for (const View &view : views) {
    int64_t count = view.elementSize();
    for (size_t i = 0; i < view.shape.size(); ++i)
      count *= view.strides[i] == 0 ? std::min<int64_t>(view.shape[i], 1) : view.shape[i];
    bytes += count;
  }
  return bytes;
}

/// "model.py:31 in encoder.layer.0", as far as it is known. A node's metadata are no name.
static std::string sourceOf(Location location) {
  std::string line, scope;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part);
        name && scope.empty() && !name.getName().strref().starts_with("{"))
      scope = name.getName().str();
    if (auto place = dyn_cast<FileLineColLoc>(part); place && line.empty())
      line = fmt::format("{}:{}", place.getFilename().str(), place.getLine());
    return WalkResult::advance();
  });
  return line.empty() || scope.empty() ? line + scope : fmt::format("{} in {}", line, scope);
}

void Planner::note(const Step &step, std::span<const View> reads, std::span<const View> writes) {
  StepOrigin &origin = result.origins[&step];
  origin.bytes = bytesOf(reads) + bytesOf(writes);
  if (!current)
    return;
  auto call = dyn_cast<stablehlo::CustomCallOp>(current);
  origin.op = (call ? call.getCallTargetName() : current->getName().getStringRef()).str();
  origin.source = sourceOf(current->getLoc());
}

Status Planner::emitCopy(const View &from, const View &to) {
  if (elementCount(to.shape) == 0)
    return {};
  emit(std::make_unique<CopyStep>(from, to), {&from, 1}, {&to, 1});
  return {};
}

Status Planner::emitPadded(const View &from, const View &to, const Sizes &low, const Sizes &interior) {
  size_t rank = from.shape.size();
  Sizes first(rank), start(rank), count(rank), steps(rank), ones(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    steps[i] = interior[i] + 1;
    first[i] = std::min(low[i] < 0 ? (-low[i] + steps[i] - 1) / steps[i] : 0, from.shape[i]);
    start[i] = low[i] + first[i] * steps[i];
    count[i] =
        std::clamp<int64_t>((to.shape[i] - start[i] + steps[i] - 1) / steps[i], 0, from.shape[i] - first[i]);
  }
  if (elementCount(count) == 0)
    return {};
  return emitCopy(sliced(from, first, count, ones), sliced(to, start, count, steps));
}

/// Vectors of the widest kernels but one stay whole.
static constexpr int64_t partAlignment = 32;

bool Planner::layInto(const View &part, const View &whole, int64_t element) {
  Buffer &inner = result.buffers[part.buffer], &outer = result.buffers[whole.buffer];
  int64_t offset = element * whole.elementSize();
  bool isAll =
      isDense(part) && part.offset == 0 && elementCount(part.shape) * part.elementSize() == inner.bytes;
  // In a loop the part's memory may be written again while the whole is in use.
  if (inner.home != Home::Arena || outer.home != Home::Arena || part.buffer == whole.buffer || !isAll ||
      offset % partAlignment != 0 || steps != &result.steps)
    return false;
  inner.home = Home::Part;
  inner.index = whole.buffer;
  inner.offset = offset;
  return true;
}

bool Planner::hasParts(BufferId whole) const {
  return llvm::any_of(result.buffers, [&](const Buffer &buffer) {
    return buffer.home == Home::Part && buffer.index == whole;
  });
}

std::optional<size_t> Planner::argumentOf(const View &view) const {
  const Buffer &buffer = result.buffers[view.buffer];
  return buffer.home == Home::Argument ? std::optional(buffer.index) : std::nullopt;
}

bool isView(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ConstantOp, stablehlo::ReshapeOp, stablehlo::ReverseOp,
             stablehlo::SliceOp, stablehlo::TransposeOp>(op);
}

/// Ops that wait for each other are planned by nested calls, which a small stack must hold, and each
/// reduction goes through all of them. Models have far fewer without a product between them. A multiple of
/// the most ops of a group, so that a chain is cut where its groups end.
static constexpr size_t mostWaitingDepth = 480;

/// Plans the operands that as many ops as may wait for each other lead to.
Status Planner::limitWaiting(Operation *op) {
  for (mlir::Value operand : op->getOperands())
    if (pending.depthOf(operand.getDefiningOp()) >= mostWaitingDepth)
      TORCHERE_TRY(view(operand));
  return {};
}

Status Planner::planOp(Operation *op) {
  TORCHERE_TRY(limitWaiting(op));
  if (keepsRows(op)) {
    defer(op);
    return {};
  }
  Operation *outer = std::exchange(current, op);
  llvm::scope_exit restore([&] { current = outer; });
  bool waits = joinsReductions(op);
  if (op->getNumRegions() != 0 && !waits)
    TORCHERE_TRY(flush()); // what regions use is computed outside
  if (!waits && !isView(op) && !joinsGroups(op))
    TORCHERE_TRY(flushReductions()); // while what they read is in a cache
  static const PlannerTable table;
  if (OpPlanner planner = table.find(op)) {
    TORCHERE_ASSIGN(bool isPlanned, planner(*this, op));
    if (isPlanned)
      return {};
  }
  return planEvaluation(op);
}

Status Planner::planEvaluation(Operation *op) {
  if (isKernelCall(op))
    return fail(ErrorCode::Internal, "[{}] no kernel for these operands",
                cast<stablehlo::CustomCallOp>(op).getCallTargetName().str());
  std::vector<EvaluationStep::Input> inputs;
  std::vector<View> reads, writes;
  SmallVector<mlir::Value> values(op->getOperands());
  values.append(capturesOf(op));
  for (mlir::Value value : values) {
    TORCHERE_ASSIGN(View dense, viewDense(value));
    inputs.push_back({value, dense});
    reads.push_back(dense);
  }
  for (mlir::Value value : op->getResults())
    writes.push_back(allocate(value));
  emit(std::make_unique<EvaluationStep>(module, op, std::move(inputs), writes), reads, writes);
  ++result.evaluated[op->getName().getStringRef().str()];
  return {};
}

Status Planner::flush() {
  while (!pending.empty())
    TORCHERE_TRY(planGroup(pending.back()));
  return {};
}

/// Whether the value is read, if at all, only while the op does not run: it stands for the same memory in
/// another region of a loop, or behind the loop, where it is what the body left there.
static bool isElsewhere(mlir::Value value, Operation *op) {
  if (isa<BlockArgument>(value))
    return !value.getParentRegion()->isAncestor(op->getParentRegion());
  return value.getDefiningOp()->isProperAncestor(op) || !value.getParentBlock()->findAncestorOpInBlock(*op);
}

/// Whether `user`, in the block or in regions in it, has read its operands when the op runs, and does not
/// read them again before they are computed anew.
static bool hasReadBefore(Operation *user, Operation *op, Block *block) {
  Operation *there = block->findAncestorOpInBlock(*user), *here = block->findAncestorOpInBlock(*op);
  if (there != here)
    return there->isBeforeInBlock(here);
  if (user == here)
    return true;
  if (!isa<stablehlo::IfOp, stablehlo::CaseOp>(here))
    return false;
  Region *own = op->getParentRegion();
  while (own && own->getParentOp() != here)
    own = own->getParentRegion();
  return !own || !own->isAncestor(user->getParentRegion()) || hasReadBefore(user, op, &own->front());
}

/// Whether the view's elements are those of the whole buffer, in any order.
static bool isWhole(const View &view, const Buffer &buffer) {
  SmallVector<std::pair<int64_t, int64_t>> dimensions; // stride, size
  for (size_t i = 0; i < view.shape.size(); ++i)
    if (view.shape[i] != 1)
      dimensions.push_back({std::abs(view.strides[i]), view.shape[i]});
  llvm::sort(dimensions);
  int64_t count = 1;
  for (auto [stride, size] : dimensions) {
    if (stride != count)
      return false;
    count *= size;
  }
  return count * view.elementSize() == buffer.bytes;
}

bool Planner::mayOverwrite(const View &view, Operation *op) {
  const Buffer &buffer = result.buffers[view.buffer];
  bool isOurs = buffer.home == Home::Arena || (buffer.home == Home::Argument && isDonated[buffer.index]);
  if (!isOurs || hasParts(view.buffer) || !isWhole(view, buffer))
    return false;
  return llvm::all_of(valuesIn[view.buffer], [&](mlir::Value value) {
    return isElsewhere(value, op) || llvm::all_of(value.getUsers(), [&](Operation *user) {
             return hasReadBefore(user, op, value.getParentBlock());
           });
  });
}

Result<std::vector<View>> Planner::carriedViews(Operation *loop, llvm::function_ref<bool(BufferId)> mayTake,
                                                llvm::function_ref<Status(const View &, const View &)> copy) {
  std::vector<View> carried;
  for (auto [operand, value] : llvm::zip_equal(loop->getOperands(), loop->getResults())) {
    TORCHERE_ASSIGN(View initial, view(operand));
    auto isThere = [&](const View &other) { return other.buffer == initial.buffer; };
    bool isWhole = isDense(initial) && initial.offset == 0 && initial.shape == shapeOf(value);
    if (isWhole && llvm::none_of(carried, isThere) && mayTake(initial.buffer) &&
        mayOverwrite(initial, loop)) {
      llvm::erase_if(concatenations, [&](const Concatenation &each) { return isThere(each.whole); });
      bind(value, initial);
      carried.push_back(initial);
      continue;
    }
    carried.push_back(allocate(value));
    TORCHERE_TRY(copy(initial, carried.back()));
  }
  return carried;
}

void Planner::keepInUse(BufferId first, int64_t begin) {
  for (BufferId id = first; id < result.buffers.size(); ++id) {
    result.buffers[id].first = begin;
    result.buffers[id].last = now;
  }
}

void Planner::layParts(const View &whole, llvm::ArrayRef<std::pair<BufferId, int64_t>> parts, BufferId first,
                       int64_t begin) {
  keepInUse(first, begin);
  for (auto [id, offset] : parts) {
    result.buffers[id].home = Home::Part;
    result.buffers[id].index = whole.buffer;
    result.buffers[id].offset = offset;
  }
}

void Planner::endLoop(int64_t begin) {
  for (Buffer &buffer : result.buffers)
    if (buffer.first < begin && buffer.last >= begin)
      buffer.last = now;
}

bool Planner::maySwap(const View &value, const View &next, size_t firstNew) const {
  auto isAll = [&](const View &view) {
    const Buffer &buffer = result.buffers[view.buffer];
    return buffer.home == Home::Arena && isDense(view) && view.offset == 0 && !hasParts(view.buffer) &&
           elementCount(view.shape) * view.elementSize() == buffer.bytes;
  };
  return next.buffer >= firstNew && value.buffer < firstNew && isAll(value) && isAll(next) &&
         result.buffers[value.buffer].bytes == result.buffers[next.buffer].bytes;
}

void Planner::useBeforeLoop(BufferId buffer, int64_t begin) {
  result.buffers[buffer].first = std::min(result.buffers[buffer].first, begin - 1);
}

Result<Planner::PlannedRegion> Planner::planRegion(Region &region, std::span<const View> arguments) {
  PlannedRegion planned;
  Steps *outer = std::exchange(steps, &planned.steps);
  for (auto [value, view] : llvm::zip_equal(region.getArguments(), arguments))
    bind(value, view);
  auto fill = [&]() -> Status {
    for (Operation &op : region.front().without_terminator())
      TORCHERE_TRY(planOp(&op));
    for (mlir::Value value : region.front().getTerminator()->getOperands()) {
      TORCHERE_ASSIGN(View found, view(value));
      planned.results.push_back(found);
    }
    for (Operation &op : region.front()) // dead ones
      pending.remove(&op);
    return {};
  };
  Status status = fill();
  steps = outer;
  TORCHERE_TRY(status);
  return planned;
}

Result<std::vector<View>> CopiesTogether::save(std::span<const View> values) const {
  std::vector<View> sources(values.begin(), values.end());
  for (size_t i = 0; i < sources.size(); ++i)
    for (size_t other = 0; other < targets.size(); ++other)
      if (other != i && targets[other].buffer == values[i].buffer) {
        sources[i] = allocate(values[i].type, values[i].shape);
        TORCHERE_TRY(copy(values[i], sources[i]));
        break;
      }
  return sources;
}

Status CopiesTogether::write(std::span<const View> sources) const {
  for (size_t i = 0; i < sources.size(); ++i) {
    bool isThere = sources[i].buffer == targets[i].buffer;
    if (isThere && isDense(sources[i]) && sources[i].offset == targets[i].offset)
      continue;
    View from = sources[i];
    if (isThere) { // the same elements in another order
      from = allocate(from.type, from.shape);
      TORCHERE_TRY(copy(sources[i], from));
    }
    TORCHERE_TRY(copy(from, targets[i]));
  }
  return {};
}

Result<Steps> Planner::planCopies(std::span<const View> values, std::span<const View> targets) {
  Steps copies;
  Steps *outer = std::exchange(steps, &copies);
  llvm::scope_exit restore([&] { steps = outer; });
  auto create = [&](ElementType type, const Sizes &shape) { return allocate(type, shape); };
  auto copy = [&](const View &from, const View &to) { return emitCopy(from, to); };
  CopiesTogether together{targets, create, copy};
  TORCHERE_ASSIGN(std::vector<View> sources, together.save(values));
  TORCHERE_TRY(together.write(sources));
  return copies;
}

/// The result that takes the argument's memory; -1 for none.
static int64_t aliasOf(func::FuncOp function, size_t argument) {
  auto alias =
      function.getArgAttrOfType<IntegerAttr>(static_cast<unsigned>(argument), stablehlo::aliasingAttribute);
  return alias ? alias.getInt() : -1;
}

/// A result is computed in its own memory where nothing else needs it elsewhere.
Status Planner::planResults(func::FuncOp function) {
  for (auto [index, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
    TORCHERE_ASSIGN(View found, view(value));
    Buffer &buffer = result.buffers[found.buffer];
    int64_t bytes = elementCount(found.shape) * found.elementSize();
    bool isWhole = isDense(found) && found.offset == 0 && bytes == buffer.bytes && !hasParts(found.buffer) &&
                   !llvm::is_contained(result.results, found.buffer);
    if (isWhole && buffer.home == Home::Argument && result.writtenArguments[buffer.index] &&
        aliasOf(function, buffer.index) == static_cast<int64_t>(index)) {
      result.results.push_back(found.buffer);
      continue;
    }
    if (isWhole && buffer.home == Home::Arena) {
      buffer.home = Home::Result;
      buffer.index = index;
      result.results.push_back(found.buffer);
      continue;
    }
    View own = denseView(addBuffer(Home::Result, index, bytes), found.type, found.shape);
    TORCHERE_TRY(emitCopy(found, own));
    result.results.push_back(own.buffer);
  }
  return {};
}

} // namespace torchere::cpu
