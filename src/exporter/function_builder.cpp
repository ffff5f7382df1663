// FunctionBuilder: lowers a program into the function @main.
#include "exporter/function_builder.h"

#include "exporter/coverage.h"
#include "exporter/literal.h"
#include "exporter/shape_assertions.h"
#include "lowering/random.h"

#include "mlir/IR/Iterators.h"
#include "llvm/ADT/BitVector.h"

#include <memory>

namespace torchere::exporter {

using lowering::Dim;
using lowering::Dims;

FunctionBuilder::FunctionBuilder(const program::Program &program, const Options &options, SignaturePlan &plan,
                                 mlir::ModuleOp module)
    : program(program), options(options), plan(plan), module(module), builder(module.getContext()) {}

Status FunctionBuilder::build() {
  createFunction();
  Composites composites(module, options.composites);
  CalleeTable callees;
  TextFunctions texts(composites);
  RunTimeChecks checks(program, options.checks);
  FunctionScope scope{program, options, builder, state, composites, callees, texts, checks};
  GraphLowerer lowerer(scope, program.graph, *symbols);
  bindInputs(lowerer);
  scope.generator = generator;
  std::vector<bool> live = liveNodes(program, program.graph);
  TORCHERE_TRY(checkInputs(live));
  if (options.shapeAssertions)
    assertShapes();
  TORCHERE_TRY(lowerer.lower(live));
  TORCHERE_TRY(createReturn(lowerer, checks));
  plan.leftOut = checks.leftOut();
  eraseDeadOps();
  markIntegersInShapes();
  dropUnusedArguments();
  return {};
}

void FunctionBuilder::createFunction() {
  mlir::MLIRContext *context = module.getContext();
  mlir::Location location = mlir::UnknownLoc::get(context);
  builder.setInsertionPointToEnd(module.getBody());
  function = mlir::func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  // setPublic() would drop the attribute, since public is the default.
  function.setSymVisibilityAttr(builder.getStringAttr("public"));
  mlir::Block *entry = function.addEntryBlock();
  symbols = std::make_unique<SymbolTable>(program, *entry, location);
  lowering::Context types(builder, location, state, *symbols);
  for (const PlannedInput &input : plan.inputs) {
    if (input.isInlined)
      continue;
    Dims shape = toDims(input.entry.type.shape);
    mlir::Location name = mlir::NameLoc::get(mlir::StringAttr::get(context, input.entry.name));
    entry->addArgument(types.tensorType(shape, input.entry.type.dtype), name);
  }
  builder.setInsertionPointToEnd(entry);
  if (options.inlineNumbers)
    return;
  numbers = std::make_unique<NumberArguments>(plan, *entry);
  state.numberSource = numbers.get();
}

void FunctionBuilder::assertShapes() {
  ShapeAssertions assertions(program, plan.entryPoint.expressions, *symbols, builder, function.getLoc());
  unsigned index = 0;
  for (const PlannedInput &input : plan.inputs)
    if (!input.isInlined)
      assertions.addInput(input.entry, function.getArgument(index++));
  assertions.addRanges();
}

void FunctionBuilder::bindInputs(GraphLowerer &lowerer) {
  unsigned index = 0;
  for (const PlannedInput &input : plan.inputs) {
    Dims shape = toDims(input.entry.type.shape);
    if (input.isInlined) {
      lowering::Context cx(builder, function.getLoc(), state, *symbols);
      mlir::RankedTensorType type = cx.tensorType(shape, input.entry.type.dtype);
      mlir::Value constant =
          stablehlo::ConstantOp::create(builder, function.getLoc(), literal(*input.weight, type))
              ->getResult(0);
      lowerer.bind(input.node, {constant});
      continue;
    }
    mlir::Value argument = function.getArgument(index++);
    if (input.isGenerator) {
      lowering::Context cx(builder, function.getLoc(), state, *symbols);
      generator = argument;
      state.generator = lowering::openGenerator(cx, generator);
      continue;
    }
    if (input.entry.isSymInt) {
      program::SymInt size = program.graph.nodes[input.node].type.as<program::SymIntType>()->value;
      symbols->defineNumber(size, argument);
      lowerer.bind(input.node, {toDim(size)});
      continue;
    }
    lowerer.bind(input.node, {argument});
    for (auto [axis, size] : llvm::enumerate(input.entry.type.shape))
      symbols->define(size, argument, static_cast<int64_t>(axis));
    if (!mlir::cast<mlir::RankedTensorType>(argument.getType()).hasStaticShape())
      state.shapes[argument] = shape;
  }
}

Status FunctionBuilder::checkInputs(const std::vector<bool> &live) const {
  for (const PlannedInput &input : plan.inputs)
    if (!input.isGenerator && live[input.node])
      for (program::SymInt size : input.entry.type.shape)
        TORCHERE_TRY(symbols->check(size));
  return {};
}

void FunctionBuilder::returnGenerator(lowering::Context &cx, lowering::Values &results) {
  if (!state.generator->isUsed)
    return;
  results.push_back(lowering::stateAfter(cx, generator, *state.generator));
  program::EntryOutput output;
  output.destination = program::OutputDestination::Buffer;
  output.name = output.target = program::generatorBuffer;
  output.type = {DType::I64, {2}};
  plan.entryPoint.outputs.push_back(std::move(output));
}

void FunctionBuilder::returnStatus(lowering::Context &cx, const RunTimeChecks &checks,
                                   lowering::Values &results) {
  if (checks.made().empty())
    return;
  results.push_back(checks.status(cx));
  program::EntryOutput output;
  output.destination = program::OutputDestination::Check;
  output.name = "status";
  output.type = {DType::I32, {program::statusSize}};
  plan.entryPoint.outputs.push_back(std::move(output));
  plan.entryPoint.checks = checks.made();
}

Status FunctionBuilder::createReturn(const GraphLowerer &lowerer, const RunTimeChecks &checks) {
  lowering::Context cx(builder, function.getLoc(), state, *symbols);
  lowering::Values results;
  returnGenerator(cx, results);
  for (PlannedOutput &output : plan.outputs) {
    const lowering::Argument &value = lowerer.valueOf(output.value->as<program::NodeReference>()->node);
    if (const mlir::Value *tensor = value.as<mlir::Value>())
      results.push_back(*tensor);
    else if (const Dim *size = value.as<Dim>())
      results.push_back(cx.sizeTensor(*size));
    else
      return fail(ErrorCode::Unimplemented, "[export] output '{}' is not a tensor", output.entry.name);
    plan.entryPoint.outputs.push_back(output.entry);
  }
  returnStatus(cx, checks, results);
  mlir::func::ReturnOp::create(builder, function.getLoc(), results);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(results).getTypes());
  function.setType(builder.getFunctionType(function.getBody().front().getArgumentTypes(), types));
  return {};
}

void FunctionBuilder::eraseDeadOps() {
  module.walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([](mlir::Operation *op) {
    if (mlir::isOpTriviallyDead(op))
      op->erase();
  });
}

/// The values that one use flows into: an op's results, a loop's arguments, the argument of a composite's
/// function.
static llvm::SmallVector<mlir::Value> flowsTo(mlir::OpOperand &use) {
  mlir::Operation *user = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto composite = mlir::dyn_cast<stablehlo::CompositeOp>(user)) {
    llvm::SmallVector<mlir::Value> values(user->getResults());
    auto function = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(
        user, composite.getDecompositionAttr());
    values.push_back(function.getArgument(index));
    return values;
  }
  bool isReturned = mlir::isa<stablehlo::ReturnOp>(user);
  if (isReturned)
    user = user->getParentOp();
  // The value returned by a loop's condition affects all results; the first one represents them.
  if (auto loop = mlir::dyn_cast<stablehlo::WhileOp>(user); loop && index < loop->getNumResults())
    return {loop->getResult(index), loop.getCond().getArgument(index), loop.getBody().getArgument(index)};
  if (isReturned && mlir::isa<stablehlo::IfOp>(user))
    return {user->getResult(index)};
  return user->getResults();
}

/// Whether a custom call takes a result's shape from this operand.
static bool isShapeOperand(mlir::OpOperand &use) {
  auto indices = use.getOwner()->getAttrOfType<mlir::DenseIntElementsAttr>("indices_of_shape_operands");
  return indices && llvm::is_contained(indices.getValues<int64_t>(), int64_t{use.getOperandNumber()});
}

/// Whether a shape, or the position of a slice, is computed from the value by arithmetic of integers, or of
/// 0-d floats.
static bool isInShapes(mlir::Value value) {
  llvm::SmallVector<mlir::Value> pending = {value};
  llvm::SmallPtrSet<mlir::OpOperand *, 16> seen;
  while (!pending.empty()) {
    for (mlir::OpOperand &use : pending.pop_back_val().getUses()) {
      if (!seen.insert(&use).second)
        continue;
      if (mlir::isa<stablehlo::RealDynamicSliceOp, stablehlo::DynamicBroadcastInDimOp,
                    stablehlo::DynamicConvOp, stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp,
                    stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp>(use.getOwner()) ||
          isShapeOperand(use))
        return true;
      for (mlir::Value next : flowsTo(use)) {
        auto type = mlir::dyn_cast<mlir::RankedTensorType>(next.getType());
        bool isNumber = type && (type.getElementType().isInteger() || type.getElementType().isF64());
        if (isNumber && type.getRank() <= (type.getElementType().isF64() ? 0 : 1))
          pending.push_back(next);
      }
    }
  }
  return false;
}

void FunctionBuilder::markIntegersInShapes() {
  unsigned index = 0;
  for (PlannedInput &input : plan.inputs)
    if (!input.isInlined)
      input.entry.isInShapes = isInShapes(function.getArgument(index++)) && input.entry.isSymInt;
}

void FunctionBuilder::dropUnusedArguments() {
  llvm::BitVector unused(function.getNumArguments());
  unsigned index = 0;
  for (const PlannedInput &input : plan.inputs) {
    if (input.isInlined)
      continue;
    if (function.getArgument(index).use_empty()) {
      unused.set(index);
      if (!input.isGenerator)
        plan.entryPoint.unusedInputs.push_back(input.entry);
    } else {
      plan.entryPoint.inputs.push_back(input.entry);
      if (input.isGenerator)
        plan.stateDict.emplace(input.entry.name, *input.weight);
      if (input.entry.source == program::InputSource::Constant) {
        plan.entryPoint.inputs.back().position = static_cast<int64_t>(plan.constants.size());
        plan.constants.push_back(*input.weight);
      }
    }
    ++index;
  }
  (void)function.eraseArguments(unused);
}

} // namespace torchere::exporter
