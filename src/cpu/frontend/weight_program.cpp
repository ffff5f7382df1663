// Implements weight programs.
#include "cpu/frontend/weight_program.h"

#include "cpu/execute/copy_step.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/evaluated_module.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/planner.h"
#include "passes/simplify/dead_code.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <type_traits>

using namespace mlir;

namespace torchere::cpu {

namespace {

bool isLeaf(Operation *op) {
  return isa<stablehlo::ConstantOp, stablehlo::IotaOp>(op);
}

/// Whether the op concerns others than the process that runs it.
bool isShared(Operation *op) {
  return isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp, stablehlo::AllToAllOp,
             stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp, stablehlo::CrossReplicaSumOp,
             stablehlo::ReduceScatterOp, stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op) ||
         (isa<stablehlo::CustomCallOp>(op) && !isKernelCall(op)) || isKernelCall(op, "random_words");
}

} // namespace

bool isRepeatable(Operation *op) {
  bool isSeen = op->walk([](Operation *each) {
                    return isShared(each) ? WalkResult::interrupt() : WalkResult::advance();
                  }).wasInterrupted();
  bool givesTensors =
      llvm::all_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  return !isSeen && givesTensors && (isa<stablehlo::CustomCallOp>(op) || isMemoryEffectFree(op));
}

namespace {

/// Whether several elements of the value are one in memory, or integers that a few elementwise ops
/// make of such.
bool isRepeated(mlir::Value value, int depth = 3) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return cast<ElementsAttr>(constant->getAttr("value")).isSplat();
  Type element = getElementTypeOrSelf(value.getType());
  bool isIndex = element.isIntOrFloat() && element.isInteger() && element.getIntOrFloatBitWidth() >= 32;
  if (isIndex && isElementwise(op) && op->getNumOperands() > 0 && depth > 0)
    return llvm::all_of(op->getOperands(),
                        [&](mlir::Value operand) { return isRepeated(operand, depth - 1); });
  auto countOf = [](mlir::Value of) { return cast<ShapedType>(of.getType()).getNumElements(); };
  return isa<stablehlo::IotaOp>(op) ||
         (isa<stablehlo::BroadcastInDimOp>(op) && countOf(op->getOperand(0)) < countOf(value));
}

class WeightSplit {
public:
  WeightSplit(func::FuncOp entry, const std::vector<bool> &isWeight) : entry(entry) {
    for (BlockArgument argument : entry.getArguments())
      if (isWeight[argument.getArgNumber()])
        fixed.insert(argument);
  }
  func::FuncOp run();

private:
  bool isFixed(Operation *op) const;
  bool isKept(Operation *op) const;
  void findRoots();
  void need(mlir::Value value);
  llvm::SetVector<Operation *> closure() const;
  func::FuncOp moveRoots();

  func::FuncOp entry;
  llvm::DenseSet<mlir::Value> fixed; ///< computed from weights and constants alone
  llvm::SetVector<mlir::Value> roots;
  llvm::DenseSet<mlir::Value> needed; ///< by what is computed in every call
};

bool WeightSplit::isFixed(Operation *op) const {
  auto isIn = [&](mlir::Value value) { return fixed.contains(value); };
  return op->getNumResults() != 0 && isRepeatable(op) && llvm::all_of(op->getOperands(), isIn) &&
         llvm::all_of(capturesOf(op), isIn);
}

bool WeightSplit::isKept(Operation *op) const {
  if (isLeaf(op) || isa<stablehlo::BroadcastInDimOp, stablehlo::TransposeOp, stablehlo::SliceOp,
                        stablehlo::ReverseOp, stablehlo::OptimizationBarrierOp>(op))
    return true;
  auto isInOrder = [](mlir::Value value) { // a reshape of it copies nothing
    Operation *source = value.getDefiningOp();
    while (source && isa<stablehlo::ReshapeOp>(source))
      source = source->getOperand(0).getDefiningOp();
    return !source || isLeaf(source) ||
           !isa<stablehlo::BroadcastInDimOp, stablehlo::TransposeOp, stablehlo::SliceOp, stablehlo::ReverseOp,
                stablehlo::OptimizationBarrierOp>(source);
  };
  if (isa<stablehlo::ReshapeOp>(op))
    return isInOrder(op->getOperand(0));
  return isElementwise(op) &&
         llvm::all_of(op->getOperands(), [](mlir::Value operand) { return isRepeated(operand); });
}

/// The value stays in the entry, or is a root.
void WeightSplit::need(mlir::Value value) {
  SmallVector<mlir::Value> open{value};
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !fixed.contains(next) || !needed.insert(next).second)
      continue;
    if (isKept(op))
      open.append(op->operand_begin(), op->operand_end());
    else
      roots.insert(next);
  }
}

void WeightSplit::findRoots() {
  for (Operation &op : entry.front()) {
    if (isFixed(&op)) {
      fixed.insert(op.result_begin(), op.result_end());
      continue;
    }
    for (mlir::Value operand : op.getOperands())
      need(operand);
    for (mlir::Value captured : capturesOf(&op))
      need(captured);
  }
}

/// The ops that the roots are computed by.
llvm::SetVector<Operation *> WeightSplit::closure() const {
  llvm::SetVector<Operation *> ops;
  for (mlir::Value root : roots)
    ops.insert(root.getDefiningOp());
  for (size_t next = 0; next < ops.size(); ++next) {
    SmallVector<mlir::Value> reads(ops[next]->getOperands());
    reads.append(capturesOf(ops[next]));
    for (mlir::Value read : reads)
      if (Operation *op = read.getDefiningOp())
        ops.insert(op);
  }
  return ops;
}

func::FuncOp WeightSplit::moveRoots() {
  OpBuilder builder(entry);
  SmallVector<Type> results(ValueRange(roots.getArrayRef()).getTypes());
  auto moved = func::FuncOp::create(builder, entry.getLoc(), (entry.getName() + ".weights").str(),
                                    builder.getFunctionType(entry.getArgumentTypes(), results));
  Block *block = moved.addEntryBlock();
  IRMapping mapping;
  mapping.map(entry.getArguments(), block->getArguments());
  builder.setInsertionPointToEnd(block);
  llvm::SetVector<Operation *> ops = closure();
  for (Operation &op : entry.front())
    if (ops.contains(&op))
      builder.clone(op, mapping);
  SmallVector<mlir::Value> values;
  for (mlir::Value root : roots)
    values.push_back(mapping.lookup(root));
  func::ReturnOp::create(builder, entry.getLoc(), values);
  for (mlir::Value root : roots) {
    unsigned index = entry.getNumArguments();
    (void)entry.insertArgument(index, root.getType(), {}, root.getLoc());
    root.replaceAllUsesWith(entry.getArgument(index));
  }
  passes::eraseDeadOps(entry);
  return moved;
}

func::FuncOp WeightSplit::run() {
  findRoots();
  return roots.empty() ? func::FuncOp() : moveRoots();
}

} // namespace

func::FuncOp splitWeights(func::FuncOp entry, const std::vector<bool> &isWeight) {
  return WeightSplit(entry, isWeight).run();
}

namespace {

/// Text that is equal for equal functions of one context, in which attributes and types are unique.
class Structure {
public:
  template <class T> void add(const T &plain) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char *>(&plain), sizeof plain);
  }
  void add(Block &block);
  std::string text;

private:
  void number(mlir::Value value) {
    add(value.getType().getAsOpaquePointer());
    numbers.try_emplace(value, numbers.size());
  }
  llvm::DenseMap<mlir::Value, size_t> numbers;
};

void Structure::add(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (!argument.use_empty()) { // others may have the sizes of a call
      add(argument.getArgNumber());
      number(argument);
    }
  for (Operation &op : block) {
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary().getAsOpaquePointer());
    add(op.getNumOperands());
    for (mlir::Value operand : op.getOperands())
      add(numbers.at(operand));
    add(op.getNumResults());
    for (mlir::Value result : op.getResults())
      number(result);
    add(op.getNumRegions());
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        add(nested);
  }
}

/// With where the values lie in the arena, and which they are.
std::string keyOf(const WeightProgram &program, const Plan &main, func::FuncOp weights,
                  const std::vector<View> &copies) {
  Structure structure;
  if (weights)
    structure.add(weights.front());
  for (const View &view : copies) {
    structure.add(main.buffers[view.buffer].index);
    structure.add(view.type);
    structure.add(view.offset);
    structure.add(view.shape.size());
    for (size_t i = 0; i < view.shape.size(); ++i) {
      structure.add(view.shape[i]);
      structure.add(view.strides[i]);
    }
  }
  for (size_t value = 0; value < program.plan.results.size(); ++value) {
    structure.add(static_cast<char>(program.isKept[value]));
    structure.add(program.plan.buffers[program.plan.results[value]].offset);
    structure.add(program.plan.buffers[program.plan.results[value]].last);
  }
  return structure.text;
}

} // namespace

std::vector<bool> weightsOf(func::FuncOp entry, const std::vector<bool> &isDonated) {
  std::vector<bool> isWeight;
  for (unsigned index = 0; index < entry.getNumArguments(); ++index) {
    auto mark = entry.getArgAttrOfType<BoolAttr>(index, stablehlo::weightAttribute);
    isWeight.push_back(!isDonated[index] && mark && mark.getValue());
  }
  return isWeight;
}

/// Adds a copy of a view of the main plan's arguments, which is a further one from then on.
static void addCopy(WeightProgram &program, const Plan &main, const View &view, size_t argumentCount) {
  Plan &plan = program.plan;
  int64_t number = plan.stepNumbers.empty() ? 0 : plan.stepNumbers.back() + 1;
  View from = view;
  size_t argument = main.buffers[view.buffer].index;
  bool isValue = argument >= argumentCount;
  from.buffer = isValue ? plan.results[argument - argumentCount] : static_cast<BufferId>(argument);
  plan.buffers[from.buffer].last = number;
  if (!isValue && !llvm::is_contained(program.arguments, argument))
    program.arguments.push_back(argument);
  Buffer buffer{Home::Result, plan.results.size(), elementCount(view.shape) * view.elementSize(), 0, number,
                number};
  View to = denseView(static_cast<BufferId>(plan.buffers.size()), view.type, view.shape);
  plan.buffers.push_back(buffer);
  plan.results.push_back(to.buffer);
  plan.steps.push_back(std::make_unique<const CopyStep>(from, to));
  plan.stepNumbers.push_back(number);
}

/// Finds the values that steps only pack, and lays them into the arena until they are packed.
static void placeValues(CompiledModule &compiled, WeightProgram &program) {
  Plan &plan = program.plan;
  size_t argumentCount = compiled.entry.arguments.size();
  program.isKept.assign(compiled.plan->readArguments.begin() + static_cast<ptrdiff_t>(argumentCount),
                        compiled.plan->readArguments.end());
  std::vector<std::pair<BufferId, size_t>> packed; // of the main plan, with the value
  for (BufferId id = 0; id < compiled.plan->buffers.size(); ++id)
    if (const Buffer &buffer = compiled.plan->buffers[id]; buffer.home == Home::Argument &&
                                                           buffer.index >= argumentCount &&
                                                           !program.isKept[buffer.index - argumentCount])
      packed.emplace_back(id, buffer.index - argumentCount);
  compiled.packers.resize(plan.steps.size() + 1);
  for (const std::unique_ptr<const Step> &step : compiled.plan->steps) {
    SmallVector<Buffer *> values;
    for (auto [id, value] : packed)
      if (step->packs(id))
        values.push_back(&plan.buffers[plan.results[value]]);
    if (values.empty()) {
      compiled.packers.back().push_back(step.get());
      continue;
    }
    int64_t last = 0;
    for (Buffer *value : values)
      last = std::max(last, value->last);
    for (Buffer *value : values)
      value->last = last;
    auto after = llvm::lower_bound(plan.stepNumbers, last);
    compiled.packers[static_cast<size_t>(after - plan.stepNumbers.begin())].push_back(step.get());
  }
  for (auto [id, value] : packed)
    plan.buffers[plan.results[value]].home = Home::Arena;
  layArena(plan);
}

Status planWeights(CompiledModule &compiled, func::FuncOp weights, const std::vector<View> &copies,
                   const Target &target) {
  if (!weights && copies.empty())
    return {};
  WeightProgram program;
  size_t argumentCount = compiled.entry.arguments.size();
  if (weights) {
    TORCHERE_ASSIGN(program.plan, Planner(compiled.module, target.isa, {}).plan(weights));
    for (BlockArgument argument : weights.getArguments())
      if (!argument.use_empty())
        program.arguments.push_back(argument.getArgNumber());
  } else {
    for (size_t index = 0; index < argumentCount; ++index) {
      const interpreter::TensorType &type = compiled.entry.arguments[index].type;
      int64_t bytes = elementCount(type.shape) * elementTypeInfo(type.elementType).bytes();
      program.plan.buffers.push_back({Home::Argument, index, bytes});
    }
    program.plan.writtenArguments.resize(argumentCount);
    program.plan.readArguments.resize(argumentCount);
  }
  for (const View &view : copies)
    addCopy(program, *compiled.plan, view, argumentCount);
  for (Buffer &buffer : program.plan.buffers) // whose sizes then tell equal programs apart
    if (buffer.home == Home::Argument && !llvm::is_contained(program.arguments, buffer.index))
      buffer.bytes = 0;
  placeValues(compiled, program);
  if (target.isFlat)
    program.key = keyOf(program, *compiled.plan, weights, copies);
  compiled.weights = std::make_shared<const WeightProgram>(std::move(program));
  return {};
}

} // namespace torchere::cpu
