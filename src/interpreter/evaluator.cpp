// Implements the execution of functions and regions.
#include "interpreter/evaluator.h"

#include "interpreter/call.h"
#include "interpreter/quantization.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/text_of.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace torchere::interpreter {

/// The limit on nested regions and calls: enough for any program that ends, and far from exhausting the
/// stack.
static constexpr int deepestNesting = 500;

Evaluator::Evaluator(ModuleOp module, const Options &options)
    : run(std::make_shared<Run>(module, options)), ownGrid(&run->grid) {}

Evaluator::Evaluator(const Evaluator &other, ProcessGrid &grid, ProcessId process)
    : run(other.run), ownGrid(&grid), id(process) {}

Result<func::FuncOp> Evaluator::findEntry() const {
  StringRef name = run->options.entry;
  SmallVector<func::FuncOp> functions;
  for (auto function : run->module.getOps<func::FuncOp>()) {
    if (function.getName() == (name.empty() ? StringRef("main") : name))
      return function;
    functions.push_back(function);
  }
  if (name.empty() && functions.size() == 1)
    return functions.front();
  if (name.empty())
    return fail(ErrorCode::NotFound, "[interpret] the module has {} functions and none is called main",
                functions.size());
  return fail(ErrorCode::NotFound, "[interpret] the module has no function \"{}\"", name.str());
}

Result<func::FuncOp> Evaluator::findFunction(StringRef name) const {
  auto function = run->symbols.lookup<func::FuncOp>(name);
  if (!function || function.isExternal())
    return fail(ErrorCode::NotFound, "the module has no body of a function @{}", name.str());
  return function;
}

Result<Values> Evaluator::callFunction(StringRef name, Values arguments) {
  TORCHERE_ASSIGN(func::FuncOp function, findFunction(name));
  return runRegion(function.getBody(), std::move(arguments), nullptr);
}

/// Adds the name of the op or function and the place to an error, unless an inner one has added them.
static tl::unexpected<Error> named(Error error, StringRef name, Location location) {
  if (!error.message.starts_with('['))
    error.message = fmt::format("[{}] {}", name.str(), error.message);
  if (error.where.empty())
    error.where = placeText(location);
  return tl::unexpected<Error>(std::move(error));
}

Result<Values> Evaluator::runEntry(Values arguments) {
  TORCHERE_ASSIGN(func::FuncOp entry, findEntry());
  Result<Values> results = callFunction(entry.getName(), std::move(arguments));
  if (Status rest = ownGrid->finishAll(); results && !rest) // tasks that nobody has waited for
    results = tl::unexpected<Error>(std::move(rest).error());
  if (!results)
    return named(std::move(results).error(), entry.getName(), entry.getLoc());
  return results;
}

Result<Values> Evaluator::runEntryInProcesses(int64_t replicas, int64_t partitions,
                                              std::vector<Values> arguments) {
  TORCHERE_ASSIGN(func::FuncOp entry, findEntry());
  if (arguments.size() != static_cast<size_t>(replicas * partitions))
    return invalidArgument(
        "[interpret] arguments for {} processes, expected for {} replicas of {} partitions", arguments.size(),
        replicas, partitions);
  ProcessGrid grid(replicas, partitions);
  std::vector<ProcessGrid::Program> processes;
  for (auto [place, given] : llvm::enumerate(arguments)) {
    ProcessId id{static_cast<int64_t>(place) / partitions, static_cast<int64_t>(place) % partitions};
    auto evaluator = std::make_shared<Evaluator>(*this, grid, id);
    processes.push_back([evaluator, name = entry.getName(), given = std::move(given)] {
      return evaluator->callFunction(name, given);
    });
  }
  Result<Values> results = grid.runAll(std::move(processes));
  if (!results)
    return named(std::move(results).error(), entry.getName(), entry.getLoc());
  return results;
}

static Status checkTypes(StringRef what, TypeRange types, const Values &values) {
  if (types.size() != values.size())
    return invalidArgument("wrong number of {}s: got {}, expected {}", what.str(), values.size(),
                           types.size());
  for (auto [index, type] : llvm::enumerate(types))
    if (!isOfType(values[index], type))
      return invalidArgument("wrong type of {} {}: got {}, expected {}", what.str(), index,
                             typeText(values[index]), stablehlo::textOf(type));
  return {};
}

Result<Values> Evaluator::runRegion(Region &region, Values arguments, const Scope *outer) {
  if (!llvm::hasSingleElement(region))
    return invalidArgument("a region has {} blocks, expected 1", region.getBlocks().size());
  if (depth == deepestNesting)
    return fail(ErrorCode::ResourceExhausted, "calls and regions are nested more than {} deep",
                deepestNesting);
  TORCHERE_TRY(checkTypes("argument", region.getArgumentTypes(), arguments));
  struct Nesting {
    int &depth;
    ~Nesting() { --depth; }
  } nesting{++depth};
  Scope scope(outer);
  for (auto [name, value] : llvm::zip_equal(region.getArguments(), arguments))
    scope.bind(name, std::move(value));
  for (Operation &op : region.front()) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      Values results;
      for (mlir::Value operand : op.getOperands())
        results.push_back(scope.find(operand));
      return results;
    }
    TORCHERE_TRY(evaluate(op, scope));
  }
  return invalidArgument("a region has no terminator");
}

/// Verifies the constraints of an op with dynamic sizes on its runtime sizes.
static Status verifyAtHand(Operation &op, const Values &operands) {
  OwningOpRef<ModuleOp> holder = ModuleOp::create(op.getLoc());
  Block &block = *holder->getBody();
  IRMapping mapping;
  for (auto [name, value] : llvm::zip_equal(op.getOperands(), operands)) {
    Type type = name.getType();
    if (value.isTensor())
      type = RankedTensorType::get(value.tensor().shape(), getElementTypeOrSelf(type));
    mapping.map(name, block.addArgument(type, op.getLoc()));
  }
  op.walk([&](Operation *nested) { // values that the op's regions capture
    for (mlir::Value name : nested->getOperands())
      if (!mapping.contains(name) && !op.isAncestor(name.getParentRegion()->getParentOp()))
        mapping.map(name, block.addArgument(name.getType(), op.getLoc()));
  });
  stablehlo::DiagnosticText diagnostics(*op.getContext());
  // A name that is used twice has one value, so the last mapping is as good as the first.
  Operation *concrete = op.clone(mapping);
  block.push_back(concrete);
  if (failed(verify(concrete)))
    return invalidArgument("{}", diagnostics.take());
  return {};
}

static bool isOpen(mlir::Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && !type.hasStaticShape();
}

EvaluationTable::Row Evaluator::findRow(Operation &op) {
  auto [row, isNew] = found.try_emplace(op.getName());
  if (isNew)
    row->second = run->table.find(op.getName().getStringRef());
  return row->second;
}

Result<Values> Evaluator::compute(Operation &op, const Values &operands, const Scope &scope) {
  EvaluationTable::Row row = findRow(op);
  if (!row.evaluation)
    return fail(ErrorCode::Unimplemented, "the op cannot be interpreted");
  if (llvm::any_of(op.getOperands(), isOpen))
    TORCHERE_TRY(verifyAtHand(op, operands));
  Values results;
  if (row.computes && hasQuantizedTypes(op)) {
    TORCHERE_ASSIGN(Values numbers, dequantize(operands, op.getOperandTypes()));
    TORCHERE_ASSIGN(results, row.evaluation(Call(&op, numbers, scope, *this, /*onNumbers=*/true)));
    TORCHERE_ASSIGN(results, quantize(std::move(results), op.getResultTypes()));
  } else {
    TORCHERE_ASSIGN(results, row.evaluation(Call(&op, operands, scope, *this)));
  }
  TORCHERE_TRY(checkTypes("result", op.getResultTypes(), results));
  return results;
}

Status Evaluator::evaluate(Operation &op, Scope &scope) {
  Values operands;
  operands.reserve(op.getNumOperands());
  for (mlir::Value operand : op.getOperands())
    operands.push_back(scope.find(operand));
  Result<Values> results = compute(op, operands, scope);
  if (!results)
    return named(std::move(results).error(), op.getName().getStringRef(), op.getLoc());
  for (auto [name, value] : llvm::zip_equal(op.getResults(), *results))
    scope.bind(name, std::move(value));
  return {};
}

} // namespace torchere::interpreter
