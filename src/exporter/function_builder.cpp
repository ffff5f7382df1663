// FunctionBuilder: lowers the graph of a program into the body of @main.
#include "exporter/function_builder.h"

#include "exporter/custom_call.h"
#include "exporter/literal.h"
#include "exporter/location.h"

#include "llvm/ADT/BitVector.h"

#include <memory>

namespace torchere::exporter {

using lowering::Dim;
using lowering::Dims;
using program::Node;

FunctionBuilder::FunctionBuilder(const program::Program &program, const Options &options, SignaturePlan &plan,
                                 mlir::ModuleOp module)
    : program(program), options(options), plan(plan), module(module), builder(module.getContext()) {
  values.resize(program.graph.nodes.size());
}

Status FunctionBuilder::build(const std::vector<bool> &live) {
  createFunction();
  TORCHERE_TRY(bindInputs(live));
  const auto &nodes = program.graph.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i] || nodes[i].kind == program::NodeKind::Placeholder)
      continue;
    Status status = lowerNode(nodes[i], values[i]);
    if (!status) {
      Error error = std::move(status).error();
      if (error.where.empty())
        error.where = program.place(nodes[i]);
      return tl::unexpected<Error>(std::move(error));
    }
  }
  TORCHERE_TRY(createReturn());
  eraseDeadOps();
  markIntegersInShapes();
  dropUnusedArguments();
  return {};
}

Dim FunctionBuilder::toDim(program::SymInt size) const {
  return size.isConstant() ? Dim(size.constant()) : Dim::expression(size.id());
}

lowering::TensorType FunctionBuilder::toLowering(const program::TensorType &type) const {
  lowering::TensorType result;
  result.dtype = type.dtype;
  for (program::SymInt size : type.shape)
    result.shape.push_back(toDim(size));
  return result;
}

void FunctionBuilder::createFunction() {
  mlir::MLIRContext *context = module.getContext();
  mlir::Location location = mlir::UnknownLoc::get(context);
  builder.setInsertionPointToEnd(module.getBody());
  function = mlir::func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  function.setPublic();
  mlir::Block *entry = function.addEntryBlock();
  symbols = std::make_unique<SymbolTable>(program, *entry, location);
  lowering::Context types(builder, location, state, *symbols);
  for (const PlannedInput &input : plan.inputs) {
    if (input.isInlined)
      continue;
    Dims shape;
    for (program::SymInt size : input.entry.type.shape)
      shape.push_back(toDim(size));
    mlir::Location name = mlir::NameLoc::get(mlir::StringAttr::get(context, input.entry.name));
    entry->addArgument(types.tensorType(shape, input.entry.type.dtype), name);
  }
  builder.setInsertionPointToEnd(entry);
}

Status FunctionBuilder::bindInputs(const std::vector<bool> &live) {
  unsigned index = 0;
  for (const PlannedInput &input : plan.inputs) {
    lowering::Argument &value = values[input.node];
    Dims shape;
    for (program::SymInt size : input.entry.type.shape)
      shape.push_back(toDim(size));
    if (input.isInlined) {
      lowering::Context cx(builder, function.getLoc(), state, *symbols);
      mlir::RankedTensorType type = cx.tensorType(shape, input.entry.type.dtype);
      value.value = stablehlo::ConstantOp::create(builder, function.getLoc(), literal(*input.weight, type))
                        ->getResult(0);
      continue;
    }
    mlir::Value argument = function.getArgument(index++);
    value.value = argument;
    if (input.entry.isSymInt) {
      program::SymInt size = program.graph.nodes[input.node].type.as<program::SymIntType>()->value;
      symbols->define(size, argument);
      value.value = toDim(size);
      continue;
    }
    for (auto [axis, size] : llvm::enumerate(input.entry.type.shape))
      symbols->define(size, argument, static_cast<int64_t>(axis));
    if (!mlir::cast<mlir::RankedTensorType>(argument.getType()).hasStaticShape())
      state.shapes[argument] = shape;
  }
  for (const PlannedInput &input : plan.inputs)
    if (live[input.node])
      TORCHERE_TRY(checkSizes(input.entry.type.shape));
  return {};
}

Status FunctionBuilder::checkSizes(std::span<const program::SymInt> shape) const {
  for (program::SymInt size : shape)
    TORCHERE_TRY(symbols->check(size));
  return {};
}

Result<std::vector<lowering::TensorType>> FunctionBuilder::resultTypes(const Node &node) const {
  std::vector<lowering::TensorType> types;
  if (const auto *tensor = node.type.as<program::TensorType>()) {
    TORCHERE_TRY(checkSizes(tensor->shape));
    types.push_back(toLowering(*tensor));
    return types;
  }
  const auto *list = node.type.as<program::Type::List>();
  if (!list)
    return fail(ErrorCode::Unimplemented,
                "[{}] gives neither tensors nor sizes: expected a tensor or a list of them", node.op());
  for (const program::Type &type : *list) {
    const auto *tensor = type.as<program::TensorType>();
    if (tensor)
      TORCHERE_TRY(checkSizes(tensor->shape));
    types.push_back(tensor ? toLowering(*tensor) : lowering::TensorType{});
  }
  return types;
}

Result<lowering::Argument> FunctionBuilder::toLowering(const program::Argument &argument,
                                                       const Node &node) const {
  using namespace program;
  if (const auto *reference = argument.as<NodeReference>()) {
    const lowering::Argument &value = values[reference->node];
    if (value.isNone())
      return fail(ErrorCode::Unimplemented,
                  "[{}] argument is a value that is known only at run time: got '{}', "
                  "expected a tensor or a size",
                  node.op(), program.graph.nodes[reference->node].name());
    return value;
  }
  if (const auto *list = argument.as<program::Argument::List>()) {
    lowering::Argument::List result;
    for (const program::Argument &element : *list) {
      TORCHERE_ASSIGN(lowering::Argument value, toLowering(element, node));
      result.push_back(std::move(value));
    }
    return lowering::Argument{std::move(result)};
  }
  if (argument.as<GraphReference>())
    return fail(ErrorCode::Unimplemented,
                "[{}] argument is a graph: no lowering takes one, expected a tensor or a constant",
                node.op());
  struct Convert {
    lowering::Argument operator()(std::monostate) { return {}; }
    lowering::Argument operator()(int64_t value) { return {value}; }
    lowering::Argument operator()(double value) { return {value}; }
    lowering::Argument operator()(bool value) { return {value}; }
    lowering::Argument operator()(const std::complex<double> &value) { return {value}; }
    lowering::Argument operator()(const std::string &value) { return {value}; }
    lowering::Argument operator()(DType value) { return {value}; }
    lowering::Argument operator()(const Device &value) { return {lowering::Opaque{value.name}}; }
    lowering::Argument operator()(const Layout &value) { return {lowering::Opaque{value.name}}; }
    lowering::Argument operator()(const MemoryFormat &value) { return {lowering::Opaque{value.name}}; }
    lowering::Argument operator()(const OpReference &value) { return {value.name}; }
    lowering::Argument operator()(const Constant::List &) { return {}; } // those are lists of arguments
  };
  return std::visit(Convert{}, argument.constant()->value);
}

Result<lowering::Argument> FunctionBuilder::getItem(const Node &node) const {
  if (node.arguments.size() != 2)
    return invalidArgument("[_operator.getitem] wrong number of arguments of '{}': got {}, expected 2",
                           node.name(), node.arguments.size());
  const auto *source = node.arguments[0].as<program::NodeReference>();
  const auto *index = node.arguments[1].as<int64_t>();
  const auto *list = source ? values[source->node].as<lowering::Argument::List>() : nullptr;
  if (!list || !index || *index < 0 || static_cast<size_t>(*index) >= list->size())
    return invalidArgument("[_operator.getitem] '{}' does not take an element of a list of results",
                           node.name());
  return (*list)[*index];
}

Result<lowering::Values> FunctionBuilder::lowerCall(const Node &node, lowering::Context &cx) {
  std::vector<lowering::GivenArgument> arguments;
  for (const program::NamedArgument &argument : node.given()) {
    TORCHERE_ASSIGN(lowering::Argument value, toLowering(argument.value, node));
    arguments.push_back({argument.name, std::move(value)});
  }
  TORCHERE_ASSIGN(std::vector<lowering::TensorType> types, resultTypes(node));
  const lowering::OpTable &table = lowering::OpTable::instance();
  if (const lowering::OpTable::Row *row = table.find(node.op()))
    return table.lower(*row, cx, std::move(arguments), std::move(types));
  return customCall(cx, node, arguments, types); // checkCoverage() has let nothing else pass
}

Status FunctionBuilder::lowerNode(const Node &node, lowering::Argument &result) {
  if (const auto *size = node.type.as<program::SymIntType>()) {
    TORCHERE_TRY(symbols->check(size->value));
    result.value = toDim(size->value);
    return {};
  }
  if (node.op() == "_operator.getitem") {
    TORCHERE_ASSIGN(result, getItem(node));
    return {};
  }
  mlir::MLIRContext *context = module.getContext();
  mlir::Location location =
      options.nodeMetadata ? metadataLocation(program, node, context) : locationOf(program, node, context);
  lowering::Context cx(builder, location, state, *symbols);
  TORCHERE_ASSIGN(lowering::Values lowered, lowerCall(node, cx));
  if (node.type.as<program::TensorType>()) {
    result.value = lowered.front();
    return {};
  }
  lowering::Argument::List list;
  for (mlir::Value value : lowered)
    list.push_back(value ? lowering::Argument{value} : lowering::Argument{});
  result.value = std::move(list);
  return {};
}

Status FunctionBuilder::createReturn() {
  lowering::Context cx(builder, function.getLoc(), state, *symbols);
  lowering::Values results;
  for (PlannedOutput &output : plan.outputs) {
    const lowering::Argument &value = values[output.value->as<program::NodeReference>()->node];
    if (const mlir::Value *tensor = value.as<mlir::Value>())
      results.push_back(*tensor);
    else if (const Dim *size = value.as<Dim>())
      results.push_back(cx.sizeTensor(*size));
    else
      return fail(ErrorCode::Unimplemented, "[export] output '{}' is not a tensor", output.entry.name);
    plan.entryPoint.outputs.push_back(output.entry);
  }
  mlir::func::ReturnOp::create(builder, function.getLoc(), results);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(results).getTypes());
  function.setType(builder.getFunctionType(function.getBody().front().getArgumentTypes(), types));
  return {};
}

void FunctionBuilder::eraseDeadOps() {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

/// Whether a shape, or the place of a slice, comes from the value by integer arithmetic.
static bool isInShapes(mlir::Value value) {
  llvm::SmallVector<mlir::Value> pending = {value};
  llvm::SmallPtrSet<mlir::Operation *, 16> seen;
  while (!pending.empty()) {
    for (mlir::Operation *user : pending.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (mlir::isa<stablehlo::RealDynamicSliceOp, stablehlo::DynamicBroadcastInDimOp,
                    stablehlo::DynamicConvOp, stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp,
                    stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp>(user))
        return true;
      for (mlir::Value result : user->getResults()) {
        auto type = mlir::dyn_cast<mlir::RankedTensorType>(result.getType());
        if (type && type.getRank() <= 1 && type.getElementType().isInteger())
          pending.push_back(result);
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
      plan.entryPoint.unusedInputs.push_back(input.entry);
    } else {
      plan.entryPoint.inputs.push_back(input.entry);
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
