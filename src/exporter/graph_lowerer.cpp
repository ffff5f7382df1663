// GraphLowerer: lowers the nodes of one graph of a program into a block.
#include "exporter/graph_lowerer.h"

#include "exporter/coverage.h"
#include "exporter/custom_call.h"
#include "exporter/location.h"
#include "exporter/lowering_registry.h"
#include "exporter/uniform_quantization.h"
#include "lowering/random.h"
#include "stablehlo/text_of.h"

#include <utility>

namespace torchere::exporter {

using lowering::Dim;
using lowering::Dims;
using program::Node;

namespace {

/// A graph that the program holds, as an argument of one of its ops.
class ChildGraph final : public lowering::Subgraph {
public:
  ChildGraph(const FunctionScope &scope, const program::Graph &graph, SymbolTable &symbols)
      : scope(scope), graph(graph), symbols(symbols) {}

  const std::string &name() const override { return graph.name; }

  Result<std::vector<lowering::Argument>> emit(lowering::Context &cx,
                                               std::vector<lowering::Argument> inputs) const override {
    SymbolTable inner(symbols, *cx.builder().getInsertionBlock(), cx.loc());
    GraphLowerer lowerer(scope, graph, inner);
    TORCHERE_TRY(lowerer.bindAll(std::move(inputs), cx.opName()));
    TORCHERE_TRY(lowerer.lower(liveNodes(scope.program, graph)));
    return lowerer.outputs();
  }

private:
  const FunctionScope &scope;
  const program::Graph &graph;
  SymbolTable &symbols; ///< of the graph that holds this one
};

} // namespace

Dim toDim(program::SymInt size) {
  return size.isConstant() ? Dim(size.constant()) : Dim::expression(size.id());
}

Dims toDims(std::span<const program::SymInt> shape) {
  Dims dims;
  for (program::SymInt size : shape)
    dims.push_back(toDim(size));
  return dims;
}

GraphLowerer::GraphLowerer(const FunctionScope &scope, const program::Graph &graph, SymbolTable &symbols)
    : scope(scope), graph(graph), symbols(symbols), regions(ownRegions), ownValues(graph.nodes.size()),
      values(ownValues) {}

GraphLowerer::GraphLowerer(const FunctionScope &scope, const GraphLowerer &around, SymbolTable &symbols)
    : scope(scope), graph(around.graph), symbols(symbols), regions(around.regions), values(around.values) {}

/// Outside its region, the mark of an input is what it marks.
const lowering::Argument &GraphLowerer::valueOf(program::NodeId node) const {
  while (values[node].isNone() && isMark(graph.nodes[node]))
    node = markedNode(graph.nodes[node]);
  return values[node];
}

/// As the state dict has it, or the constants.
std::string GraphLowerer::weightName(program::NodeId node) const {
  while (isMark(graph.nodes[node]))
    node = markedNode(graph.nodes[node]);
  bool isInput = &graph == &scope.program.graph && node < scope.program.inputs.size();
  return isInput ? scope.program.inputs[node].target : std::string(graph.nodes[node].name());
}

Status GraphLowerer::bindAll(std::vector<lowering::Argument> inputs, const std::string &op) {
  size_t count = 0;
  while (count < graph.nodes.size() && graph.nodes[count].kind == program::NodeKind::Placeholder)
    ++count;
  if (inputs.size() != count)
    return invalidArgument("[{}] wrong number of inputs of graph '{}': got {}, expected {}", op, graph.name,
                           inputs.size(), count);
  for (size_t i = 0; i < count; ++i) {
    TORCHERE_TRY(bindSizes(graph.nodes[i], inputs[i]));
    values[i] = std::move(inputs[i]);
  }
  return {};
}

/// Symbols unknown to the enclosing graphs are sizes of this graph's inputs.
Status GraphLowerer::bindSizes(const Node &placeholder, lowering::Argument &value) {
  if (const auto *size = placeholder.type.as<program::SymIntType>())
    return defineSize(size->value, value);
  const auto *type = placeholder.type.as<program::TensorType>();
  const mlir::Value *tensor = value.as<mlir::Value>();
  if (!type || !tensor)
    return {};
  for (auto [axis, size] : llvm::enumerate(type->shape))
    if (!symbols.check(size))
      symbols.define(size, *tensor, static_cast<int64_t>(axis));
  return {};
}

/// An int computed at run time defines the symbol that represents it in the program.
Status GraphLowerer::defineSize(program::SymInt size, lowering::Argument &value) {
  mlir::Value tensor;
  if (const mlir::Value *computed = value.as<mlir::Value>())
    tensor = *computed;
  else if (const Dim *dim = value.as<Dim>(); dim && dim->isComputed())
    tensor = dim->value();
  if (tensor)
    symbols.defineNumber(size, tensor);
  TORCHERE_TRY(symbols.check(size));
  value.value = toDim(size);
  return {};
}

Status GraphLowerer::lower(const std::vector<bool> &live) {
  TORCHERE_ASSIGN(ownRegions, MarkedRegions::find(scope.program, graph, live));
  std::vector<program::NodeId> checking = scope.checks.nodesIn(graph);
  std::vector<bool> checked;
  if (!checking.empty())
    checked = liveNodes(scope.program, graph, checking);
  for (program::NodeId i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == program::NodeKind::Placeholder || regions.isMember(i))
      continue;
    if (live[i])
      TORCHERE_TRY(lowerStep(i));
    else if (!checked.empty() && checked[i])
      lowerForChecks(i, checking);
  }
  return {};
}

/// A node that nothing but checks needs.
void GraphLowerer::lowerForChecks(program::NodeId id, const std::vector<program::NodeId> &checking) {
  if (madeAssertions.contains(id))
    return;
  const Node &node = graph.nodes[id];
  Status status = scope.checks.isAssertion(graph, node) ? lowerAssertion(node) : lowerStep(id);
  if (!status && llvm::is_contained(checking, id))
    scope.checks.leaveOut(node, status.error().message);
  if (!status)
    values[id] = {};
}

Status GraphLowerer::lowerSteps(const std::vector<program::NodeId> &steps) {
  for (program::NodeId step : steps)
    TORCHERE_TRY(lowerStep(step));
  return {};
}

/// A node, or the region whose last mark it is.
Status GraphLowerer::lowerStep(program::NodeId id) {
  const Node &node = graph.nodes[id];
  const MarkedRegion *region = regions.endingAt(id);
  Status status;
  if (region)
    status = lowerRegion(*region);
  else if (!isMark(node))
    status = lowerNode(node, values[id]);
  if (status)
    return status;
  Error error = std::move(status).error();
  if (error.where.empty())
    error.where = scope.program.place(node);
  return tl::unexpected<Error>(std::move(error));
}

Result<std::vector<lowering::Argument>> GraphLowerer::outputs() const {
  std::vector<lowering::Argument> results;
  for (const program::Argument &output : graph.outputs) {
    TORCHERE_ASSIGN(lowering::Argument result, toLowering(output, graph.name));
    // The symbols of this graph are unknown where its outputs are used.
    if (const Dim *size = result.as<Dim>(); size && size->isExpression())
      result.value = Dim::computed(symbols.valueOf(size->expressionId()));
    results.push_back(std::move(result));
  }
  return results;
}

/// A result's size in terms of known symbols: torch names each anew that a branch gives, also where all
/// branches give what is known outside.
program::SymInt GraphLowerer::sizeInBranches(const Node &node, size_t result, size_t axis,
                                             program::SymInt size) const {
  std::optional<program::SymInt> common;
  for (const program::Argument &argument : node.arguments) {
    const auto *reference = argument.as<program::NodeReference>();
    if (!reference || graph.nodes[reference->node].kind != program::NodeKind::GetAttr)
      continue;
    const auto *branch = graph.nodes[reference->node].arguments.front().as<program::GraphReference>();
    const program::Graph &body = scope.program.subgraphs[branch->index];
    const auto *output =
        result < body.outputs.size() ? body.outputs[result].as<program::NodeReference>() : nullptr;
    const auto *type = output ? body.nodes[output->node].type.as<program::TensorType>() : nullptr;
    if (!type || axis >= type->shape.size() || (common && *common != type->shape[axis]))
      return size;
    common = type->shape[axis];
  }
  return common && symbols.check(*common) ? *common : size;
}

/// The type of a tensor; numbers that an op computes become 0-d tensors. Sizes that the op's own results
/// define are unknown yet.
Result<lowering::TensorType> GraphLowerer::resultType(const program::Type &type, const Node &node,
                                                      size_t index) const {
  if (std::optional<DType> number = program::numberDType(type))
    return lowering::TensorType{*number, {}};
  const auto *tensor = type.as<program::TensorType>();
  if (!tensor)
    return lowering::TensorType{}; // nothing reads it
  if (tensor->dtype == DType::C32)
    return tl::unexpected(halfComplex(node.op(), "a result of complex32"));
  const lowering::OpTable::Row *row = scope.callees.find(*node.callee).row;
  std::vector<program::SymInt> shape(tensor->shape.begin(), tensor->shape.end());
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (node.op() == "higher_order.cond" && !symbols.check(size))
      size = sizeInBranches(node, index, axis, size);
    bool isKnown = symbols.check(size).has_value() || (row && row->givesSizes);
    if (!isKnown && node.op().starts_with("higher_order."))
      return fail(ErrorCode::Unimplemented,
                  "[{}] a result's size depends on what is run: got '{}', expected the same sizes from every "
                  "branch and round",
                  node.op(), scope.program.expressions.print(size));
    if (!isKnown)
      return tl::unexpected(sizeFromData(node, scope.program.expressions.print(size)));
  }
  return lowering::TensorType{tensor->dtype, toDims(shape)};
}

Result<std::vector<lowering::TensorType>> GraphLowerer::resultTypes(const Node &node) const {
  std::vector<lowering::TensorType> types;
  if (node.type.as<program::TensorType>() || program::numberDType(node.type)) {
    TORCHERE_ASSIGN(lowering::TensorType type, resultType(node.type, node, 0));
    types.push_back(std::move(type));
    return types;
  }
  const auto *list = node.type.as<program::Type::List>();
  if (!list)
    return fail(ErrorCode::Unimplemented,
                "[{}] gives neither tensors nor sizes: expected a tensor or a list of them", node.op());
  for (const program::Type &element : *list) {
    TORCHERE_ASSIGN(lowering::TensorType type, resultType(element, node, types.size()));
    types.push_back(std::move(type));
  }
  return types;
}

Result<lowering::Argument> GraphLowerer::toLowering(const program::Argument &argument,
                                                    const std::string &op) const {
  using namespace program;
  if (const auto *reference = argument.as<NodeReference>()) {
    const lowering::Argument &value = valueOf(reference->node);
    if (value.isNone())
      return fail(ErrorCode::Unimplemented,
                  "[{}] argument is a value that is known only at run time: got '{}', "
                  "expected a tensor or a size",
                  op, graph.nodes[reference->node].name());
    const auto *type = graph.nodes[reference->node].type.as<TensorType>();
    if (type && type->dtype == DType::C32)
      return tl::unexpected(
          halfComplex(op, fmt::format("complex32 for weight '{}'", weightName(reference->node))));
    return value;
  }
  if (const auto *list = argument.as<program::Argument::List>()) {
    lowering::Argument::List result;
    for (const program::Argument &element : *list) {
      TORCHERE_ASSIGN(lowering::Argument value, toLowering(element, op));
      result.push_back(std::move(value));
    }
    return lowering::Argument{std::move(result)};
  }
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
    lowering::Argument operator()(const Constant::List &) {
      return {};
    } // lists of constants arrive as lists of arguments
  };
  std::optional<Constant> constant = argument.constant();
  return constant ? std::visit(Convert{}, constant->value) : lowering::Argument{}; // GetAttr takes graphs
}

Result<lowering::Argument> GraphLowerer::getItem(const Node &node) const {
  if (node.arguments.size() != 2)
    return invalidArgument("[_operator.getitem] wrong number of arguments of '{}': got {}, expected 2",
                           node.name(), node.arguments.size());
  const auto *source = node.arguments[0].as<program::NodeReference>();
  const auto *index = node.arguments[1].as<int64_t>();
  const auto *list = source ? valueOf(source->node).as<lowering::Argument::List>() : nullptr;
  if (!list || !index || *index < 0 || static_cast<size_t>(*index) >= list->size())
    return invalidArgument("[_operator.getitem] '{}' does not take an element of a list of results",
                           node.name());
  return (*list)[*index];
}

mlir::Location GraphLowerer::location(const Node &node) const {
  mlir::MLIRContext *context = scope.builder.getContext();
  mlir::Location location = scope.options.nodeMetadata
                                ? metadataLocation(scope.program, node, scope.options, context)
                                : locationOf(scope.program, node, context);
  return unbackedSize(scope.program.expressions, node.type) ? namedAfterOp(location, node) : location;
}

Result<lowering::Values> GraphLowerer::lowerCall(const Node &node) {
  lowering::Context cx(scope.builder, location(node), scope.state, symbols);
  const Callee &callee = scope.callees.find(*node.callee);
  std::vector<lowering::GivenArgument> arguments;
  mlir::Value generator;
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    if (!node.arguments[i].isGiven())
      continue;
    TORCHERE_ASSIGN(lowering::Argument value, toLowering(node.arguments[i], node.op()));
    const std::string &name = node.callee->argumentNames[i];
    if (const mlir::Value *state = value.as<mlir::Value>(); state && name == "generator") {
      generator = *state;
      value = {};
      if (callee.row && callee.positions[i] >= callee.row->schema.arguments.size())
        continue; // the row draws without being asked to
    }
    arguments.push_back({name, callee.row ? callee.positions[i] : i, std::move(value)});
  }
  TORCHERE_ASSIGN(std::vector<lowering::TensorType> types, resultTypes(node));
  if (const ImpliedCheck *implied = scope.checks.impliedBy(node))
    return lowerChecked(cx, node, *implied, std::move(arguments), std::move(types));
  if (scope.checks.canAdd() && scope.checks.areRunBy(graph, node))
    return lowerWithStatus(cx, node, std::move(arguments), std::move(types));
  if (!generator)
    return lowerWith(cx, node, std::move(arguments), std::move(types));
  return lowerDrawing(cx, node, generator, std::move(arguments), std::move(types));
}

/// A call whose argument `generator` is a tensor draws from a generator in that state, i64[2], and gives the
/// state that it leaves as its last result.
Result<lowering::Values> GraphLowerer::lowerDrawing(lowering::Context &cx, const Node &node,
                                                    mlir::Value generator,
                                                    std::vector<lowering::GivenArgument> arguments,
                                                    std::vector<lowering::TensorType> types) {
  if (generator.getType() != cx.tensorType({Dim(2)}, DType::I64))
    return invalidArgument("[{}] no state of a generator: got {}, expected tensor<2xi64>", node.op(),
                           stablehlo::textOf(generator.getType()));
  if (types.size() < 2)
    return invalidArgument("[{}] no result for the generator's state: got {} results, expected 2 or more",
                           node.op(), types.size());
  types.pop_back();
  std::optional<lowering::Generator> own =
      std::exchange(cx.generator(), lowering::openGenerator(cx, generator));
  Result<lowering::Values> results = lowerWith(cx, node, std::move(arguments), std::move(types));
  if (results)
    results->push_back(lowering::stateAfter(cx, generator, *cx.generator()));
  cx.generator() = std::move(own);
  return results;
}

Result<lowering::Values> GraphLowerer::lowerWith(lowering::Context &cx, const Node &node,
                                                 std::vector<lowering::GivenArgument> arguments,
                                                 std::vector<lowering::TensorType> types) {
  const lowering::OpTable::Row *row = scope.callees.find(*node.callee).row;
  if (scope.options.quantizedTypes && types.size() == 1)
    if (mlir::Value value = uniformQuantization(cx, node, arguments, types.front()))
      return lowering::Values{value};
  if (row && scope.composites.wants(*row))
    return scope.composites.lower(*row, cx, symbols, std::move(arguments), types);
  if (row)
    return lowering::OpTable::instance().lower(*row, cx, std::move(arguments), std::move(types));
  return lowerWithoutRow(cx, node, arguments, types);
}

Result<lowering::Values> GraphLowerer::lowerWithoutRow(lowering::Context &cx, const Node &node,
                                                       const std::vector<lowering::GivenArgument> &arguments,
                                                       const std::vector<lowering::TensorType> &types) {
  if (isStatedCall(node))
    return statedCall(cx, arguments, types);
  if (node.op() == textOp)
    return scope.texts.call(cx, arguments, types);
  TextLowering lowering = LoweringRegistry::instance().find(node.op());
  if (!lowering && isCustomCall(node.op(), scope.options.customOpNamespaces))
    return customCall(cx, node, arguments, types);
  if (!lowering) // only what checks alone need has not passed checkCoverage()
    return fail(ErrorCode::Unimplemented, "[{}] has no lowering", node.op());
  TORCHERE_ASSIGN(SplitArguments split, splitArguments(node.op(), arguments));
  LoweringCall call{node.op(), {}, {}, split.json};
  for (mlir::Value operand : split.operands)
    call.operands.push_back(stablehlo::textOf(operand.getType()));
  for (const lowering::TensorType &type : types)
    call.results.push_back(stablehlo::textOf(cx.tensorType(type.shape, type.dtype)));
  TORCHERE_ASSIGN(std::string text, lowering(call));
  return scope.texts.call(cx, node.op(), text, split.operands, types);
}

/// A number that follows from symbols.
Status GraphLowerer::setNumber(const Node &node, lowering::Argument &result) {
  program::SymInt number = *program::numberOf(node.type);
  TORCHERE_TRY(symbols.check(number));
  if (node.type.as<program::SymIntType>())
    result.value = toDim(number);
  else
    result.value =
        symbols.numberOf(number, node.type.as<program::SymBoolType>() ? program::NumberKind::Bool
                                                                      : program::NumberKind::Float);
  return {};
}

/// An element of a tensor defines the symbol that torch has for it; a bool is Eq(symbol, 1) to torch.
void GraphLowerer::defineElement(const Node &node, lowering::Argument &result) {
  std::optional<program::SymInt> number = program::numberOf(node.type);
  if (!number || number->isConstant())
    return;
  mlir::Value element = *result.as<mlir::Value>();
  const program::Expression &expression = scope.program.expressions[*number];
  if (expression.kind == program::ExpressionKind::Symbol) {
    bool isInt = node.type.as<program::SymIntType>();
    symbols.defineNumber(*number, isInt ? withinAssertions(*number, element) : element);
    if (isInt)
      result.value = toDim(*number);
  } else if (expression.symbol == "Eq" && !expression.operands[0].isConstant() &&
             expression.operands[1] == program::SymInt(1)) {
    lowering::Context cx(scope.builder, element.getLoc(), scope.state, symbols);
    symbols.defineNumber(expression.operands[0], cx.convert(element, DType::I64));
  }
}

/// Sizes that depend on data are those of the first result that has them.
Status GraphLowerer::defineSizes(const Node &node, const program::Type &type, mlir::Value result) {
  const auto *tensor = type.as<program::TensorType>();
  if (!tensor || !result)
    return {};
  for (auto [axis, size] : llvm::enumerate(tensor->shape)) {
    if (!symbols.check(size))
      symbols.define(size, result, static_cast<int64_t>(axis));
    if (!symbols.check(size))
      return tl::unexpected(sizeFromData(node, scope.program.expressions.print(size)));
  }
  return {};
}

Status GraphLowerer::lowerNode(const Node &node, lowering::Argument &result) {
  const auto *size = node.type.as<program::SymIntType>();
  if (node.kind == program::NodeKind::GetAttr) {
    const auto *reference = node.arguments.front().as<program::GraphReference>();
    children.push_back(
        std::make_unique<ChildGraph>(scope, scope.program.subgraphs[reference->index], symbols));
    result.value = children.back().get();
    return {};
  }
  if (node.op() == "_operator.getitem") {
    TORCHERE_ASSIGN(result, getItem(node));
    return size ? defineSize(size->value, result) : Status();
  }
  if (isExpression(node))
    return setNumber(node, result);
  TORCHERE_ASSIGN(lowering::Values lowered, lowerCall(node));
  const auto *list = node.type.as<program::Type::List>();
  if (!list) {
    result.value = lowered.front();
    defineElement(node, result);
    TORCHERE_TRY(defineSizes(node, node.type, lowered.front()));
    return {};
  }
  lowering::Argument::List elements;
  for (auto [value, type] : llvm::zip(lowered, *list)) {
    TORCHERE_TRY(defineSizes(node, type, value));
    if (!value)
      elements.push_back({});
    else if (type.as<program::SymIntType>())
      elements.push_back({Dim::computed(value)});
    else
      elements.push_back({value});
  }
  result.value = std::move(elements);
  return {};
}

} // namespace torchere::exporter
