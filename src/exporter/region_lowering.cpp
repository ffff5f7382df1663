// GraphLowerer: the regions that marks bound, as the functions of composites.
#include "exporter/composite_attributes.h"
#include "exporter/graph_lowerer.h"
#include "exporter/private_function.h"
#include "lowering/random.h"

#include "llvm/Support/Regex.h"

namespace torchere::exporter {

using lowering::Argument;
using lowering::Dim;
using program::Node;
using program::NodeId;

/// What a region is called with, and what it gives.
struct GraphLowerer::RegionCall {
  std::vector<std::pair<NodeId, Argument>> outside; ///< what nodes were before, to be put back
  lowering::Values operands;
  std::vector<Argument> escapes; ///< the values of the region's escapes in its function
  lowering::Values results;      ///< in the function
  bool drawsNumbers = false;     ///< whether the last result is the generator's state
};

/// A regular expression takes long to compile, and few composites have names of their own.
static Status checkName(const std::string &name) {
  static const llvm::Regex valid("^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$");
  if (!valid.match(name))
    return invalidArgument("[{}] the composite's name: got '{}', expected a name in a namespace, such as "
                           "'my_namespace.my_op'",
                           name, name);
  return {};
}

Status GraphLowerer::lowerRegion(const MarkedRegion &region) {
  const MarkGroup &marks = region.marks;
  const Node &mark = graph.nodes[marks.outputs.front()];
  lowering::Context cx(scope.builder, location(mark), scope.state, symbols);
  TORCHERE_TRY(checkName(marks.name));
  TORCHERE_ASSIGN(std::string json, markAttributes(marks, mark));
  TORCHERE_ASSIGN(auto attributes, compositeAttributes(cx.builder(), marks.name, json));
  RegionCall call;
  std::vector<std::pair<NodeId, Argument>> given;
  for (NodeId input : marks.inputs)
    given.emplace_back(input, valueOf(markedNode(graph.nodes[input])));
  std::vector<std::pair<NodeId, mlir::Operation *>> constants; // the function has its own
  for (NodeId capture : region.captures) {
    const mlir::Value *value = valueOf(capture).as<mlir::Value>();
    if (mlir::Operation *op = value ? value->getDefiningOp() : nullptr;
        op && mlir::isa<stablehlo::ConstantOp>(op))
      constants.emplace_back(capture, op);
    else
      given.emplace_back(capture, valueOf(capture));
  }
  for (const auto &[node, value] : given)
    forEachValue(value, [&](mlir::Value operand) { call.operands.push_back(operand); });
  std::vector<lowering::Dims> shapes;
  for (mlir::Value operand : call.operands)
    shapes.push_back(cx.shape(operand));
  PrivateFunction function(scope.composites.target(), scope.composites.nextMarkedName(marks.name), cx.loc(),
                           mlir::ValueRange(call.operands).getTypes(), shapes, symbols);
  size_t next = 0;
  for (auto &[node, value] : given) {
    call.outside.emplace_back(node, std::move(values[node]));
    values[node] = withValues(value, function.body().getArguments(), next);
  }
  for (auto [node, op] : constants)
    call.outside.emplace_back(node,
                              std::exchange(values[node], {function.builder().clone(*op)->getResult(0)}));
  for (const auto *nodes : {&region.members, &region.seenThrough})
    for (NodeId node : *nodes)
      call.outside.emplace_back(node, std::exchange(values[node], {}));
  TORCHERE_TRY(buildFunction(region, function, call));
  if (call.drawsNumbers)
    call.operands.push_back(lowering::stateAfter(cx, scope.generator, *scope.state.generator));
  for (uint32_t expression : function.furtherSizes())
    call.operands.push_back(symbols.numberOf(program::SymInt::expression(expression)));
  mlir::Operation *op =
      createComposite(cx, {marks.name, function.name(), attributes}, call.operands, function.resultTypes());
  for (auto &[node, value] : call.outside)
    values[node] = std::move(value);
  bindResults(region, cx, op->getResults(), call);
  return {};
}

Status GraphLowerer::buildFunction(const MarkedRegion &region, PrivateFunction &function, RegionCall &call) {
  mlir::Location place = location(graph.nodes[region.marks.outputs.front()]);
  FunctionScope inner{scope.program,    scope.options, function.builder(), function.state(),
                      scope.composites, scope.callees, scope.texts,        scope.checks};
  if (scope.generator && scope.state.generator) {
    inner.generator = function.body().addArgument(scope.generator.getType(), place);
    lowering::Context cx(function.builder(), place, function.state(), function.symbols());
    function.state().generator = lowering::openGenerator(cx, inner.generator);
  }
  GraphLowerer lowerer(inner, *this, function.symbols());
  std::string_view barrier = scope.checks.exchangeBarrier("it is in a composite's function");
  Status lowered = lowerer.lowerSteps(region.members);
  scope.checks.exchangeBarrier(barrier);
  TORCHERE_TRY(lowered);
  TORCHERE_TRY(returnFrom(region, lowerer, inner, function, call));
  if (!inner.generator || call.drawsNumbers)
    return {};
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.body())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
  function.eraseArgument(inner.generator);
  return {};
}

Status GraphLowerer::returnFrom(const MarkedRegion &region, GraphLowerer &inner,
                                const FunctionScope &innerScope, PrivateFunction &function,
                                RegionCall &call) {
  const auto &nodes = graph.nodes;
  for (NodeId output : region.marks.outputs) {
    const mlir::Value *value = inner.valueOf(markedNode(nodes[output])).as<mlir::Value>();
    if (!value)
      return fail(ErrorCode::Unimplemented, "[{}] an output of the composite is no tensor: got '{}'",
                  region.marks.name, graph.nameOf(markedNode(nodes[output])));
    call.results.push_back(*value);
  }
  for (NodeId escape : region.escapes) {
    Argument value = inner.valueOf(escape);
    if (const Dim *number = value.as<Dim>(); number && number->isExpression())
      value.value = inner.symbols.valueOf(number->expressionId());
    forEachValue(value, [&](mlir::Value result) { call.results.push_back(result); });
    call.escapes.push_back(std::move(value));
  }
  mlir::Location place = location(nodes[region.marks.outputs.front()]);
  if (auto &generator = function.state().generator; generator && generator->isUsed) {
    lowering::Context cx(function.builder(), place, function.state(), function.symbols());
    call.results.push_back(lowering::stateAfter(cx, innerScope.generator, *generator));
    call.drawsNumbers = true;
  }
  function.finish(place, call.results);
  return {};
}

/// A result of the composite as the graph around it reads it.
static mlir::Value asTyped(lowering::Context &cx, mlir::Value result, const program::Type &type) {
  const auto *tensor = type.as<program::TensorType>();
  return tensor ? cx.withShape(result, toDims(tensor->shape)) : result;
}

void GraphLowerer::bindResults(const MarkedRegion &region, lowering::Context &cx, mlir::ValueRange results,
                               const RegionCall &call) {
  size_t next = 0;
  for (NodeId output : region.marks.outputs)
    values[output] = {asTyped(cx, results[next++], graph.nodes[output].type)};
  for (auto [escape, inside] : llvm::zip(region.escapes, call.escapes))
    bindComputed(escape, cx, results, next, inside);
  if (!call.drawsNumbers)
    return;
  scope.state.generator = lowering::openGenerator(cx, results.back());
  scope.state.generator->isUsed = true;
}

void GraphLowerer::bindComputed(NodeId id, lowering::Context &cx, mlir::ValueRange results, size_t &next,
                                const Argument &inside) {
  const Node &node = graph.nodes[id];
  Argument value = withValues(inside, results, next);
  if (const mlir::Value *result = value.as<mlir::Value>()) {
    value.value = asTyped(cx, *result, node.type);
    defineElement(node, value);
  } else if (auto *list = std::get_if<Argument::List>(&value.value)) {
    if (const auto *types = node.type.as<program::Type::List>())
      for (auto [element, type] : llvm::zip(*list, *types))
        if (const mlir::Value *tensor = element.as<mlir::Value>())
          element.value = asTyped(cx, *tensor, type);
  }
  values[id] = std::move(value);
}

} // namespace torchere::exporter
