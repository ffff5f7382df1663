// GraphLowerer: assertions, ops that check what they compute, and control flow around them.
#include "exporter/graph_lowerer.h"

namespace torchere::exporter {

using lowering::Argument;
using lowering::Context;
using lowering::Dim;
using lowering::Values;
using program::Node;

namespace {

/// A graph that gives the status as one of its outputs, and may take it as one of its inputs.
class CheckedGraph final : public lowering::Subgraph {
public:
  CheckedGraph(const lowering::Subgraph &graph, RunTimeChecks &checks, std::optional<size_t> input,
               std::optional<size_t> output, bool beginsAtAround)
      : graph(graph), checks(checks), input(input), output(output), beginsAtAround(beginsAtAround) {}

  const std::string &name() const override { return graph.name(); }

  Result<std::vector<Argument>> emit(Context &cx, std::vector<Argument> inputs) const override {
    mlir::Value around = checks.exchangeStatus({});
    if (beginsAtAround)
      checks.exchangeStatus(around);
    if (input && *input < inputs.size()) {
      checks.exchangeStatus(*inputs[*input].as<mlir::Value>());
      inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(*input));
    }
    std::string_view barrier;
    if (!output)
      barrier = checks.exchangeBarrier("it is in the condition of a loop");
    auto outputs = graph.emit(cx, std::move(inputs));
    if (!output)
      checks.exchangeBarrier(barrier);
    mlir::Value status = checks.status(cx);
    checks.exchangeStatus(around);
    if (outputs && output && *output <= outputs->size())
      outputs->insert(outputs->begin() + static_cast<ptrdiff_t>(*output), Argument{status});
    return outputs;
  }

private:
  const lowering::Subgraph &graph;
  RunTimeChecks &checks;
  std::optional<size_t> input, output;
  bool beginsAtAround;
};

lowering::GivenArgument *findArgument(std::vector<lowering::GivenArgument> &arguments,
                                      std::string_view name) {
  auto found = llvm::find_if(arguments, [&](const auto &argument) { return argument.name == name; });
  return found == arguments.end() ? nullptr : &*found;
}

Argument::List *findList(std::vector<lowering::GivenArgument> &arguments, std::string_view name) {
  lowering::GivenArgument *found = findArgument(arguments, name);
  return found ? std::get_if<Argument::List>(&found->value.value) : nullptr;
}

/// 1 for each matrix of a batch with NaN among its values, [..., values].
mlir::Value codesOfNan(Context &cx, mlir::Value values) {
  mlir::Value isNan = cx.compare(stablehlo::ComparisonDirection::NE, values, values);
  mlir::Value any =
      cx.reduceWith<stablehlo::OrOp>(isNan, cx.constant(false, DType::Bool), {Context::rank(values) - 1});
  return cx.convert(any, DType::I32);
}

/// What the row gives after the results that the program takes.
std::vector<lowering::TensorType> furtherTypes(Context &cx, const ImpliedCheck &implied,
                                               mlir::Value matrices) {
  lowering::Dims shape = cx.shape(matrices), batch(shape.begin(), shape.end() - 2);
  std::vector<lowering::TensorType> types;
  if (implied.hasFactors)
    types.push_back({Context::dtype(matrices), shape});
  if (implied.hasPivots) {
    types.push_back({DType::I32, batch});
    types.back().shape.push_back(shape.back());
  }
  types.push_back({DType::I32, implied.isOneMatrix ? lowering::Dims() : batch});
  return types;
}

} // namespace

/// A call with the codes of its matrices, from its own row or from one that gives them too.
Result<Values> GraphLowerer::lowerChecked(Context &cx, const Node &node, const ImpliedCheck &implied,
                                          std::vector<lowering::GivenArgument> arguments,
                                          std::vector<lowering::TensorType> types) {
  size_t count = types.size();
  Result<Values> results;
  if (implied.row.empty()) {
    results = lowerWith(cx, node, std::move(arguments), std::move(types));
  } else {
    const lowering::OpTable::Row *row = lowering::OpTable::instance().find(implied.row);
    lowering::GivenArgument *matrices = findArgument(arguments, implied.matrices);
    const mlir::Value *value = matrices ? matrices->value.as<mlir::Value>() : nullptr;
    if (!row || !value)
      return fail(ErrorCode::Internal, "[{}] has no row for its check: expected {}", node.op(), implied.row);
    llvm::append_range(types, furtherTypes(cx, implied, *value));
    for (lowering::GivenArgument &argument : arguments)
      argument.position = row->schema.position(argument.name);
    results = lowering::OpTable::instance().lower(*row, cx, std::move(arguments), std::move(types));
  }
  if (!results) { // the user has called the op, not the row
    Error error = std::move(results).error();
    if (llvm::StringRef message = error.message; message.consume_front(fmt::format("[{}]", implied.row)))
      error.message = fmt::format("[{}]{}", node.op(), std::string_view(message));
    return tl::unexpected<Error>(std::move(error));
  }
  mlir::Value codes = implied.source == CodeSource::NanInResults ? codesOfNan(cx, (*results)[implied.values])
                                                                 : results->back();
  scope.checks.addFactorization(cx, node, implied.name, codes);
  results->resize(count);
  return results;
}

/// A bool, from a number or a tensor of one element; null where it is neither.
static mlir::Value asCondition(Context &cx, const Argument &argument) {
  if (const bool *known = argument.as<bool>())
    return cx.constant(*known, DType::Bool);
  mlir::Value value;
  if (const Dim *number = argument.as<Dim>())
    value = cx.sizeTensor(*number);
  else if (const mlir::Value *tensor = argument.as<mlir::Value>())
    value = *tensor;
  auto type = value ? mlir::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return {};
  return cx.reshape(cx.convert(value, DType::Bool), {});
}

/// What an assertion says of a symbol alone: `symbol >= bound` or `symbol <= bound`, or the strict relation.
struct Bound {
  bool isLeast = false, isStrict = false;
  program::SymInt value;
};
static std::optional<Bound> boundOf(const program::ExpressionPool &expressions, program::SymInt symbol,
                                    program::SymInt relation) {
  if (relation.isConstant())
    return std::nullopt;
  const program::Expression &expression = expressions[relation];
  std::string_view name = expression.symbol;
  bool isLeast = name == "Ge" || name == "Gt", isStrict = name == "Gt" || name == "Lt";
  if ((!isLeast && name != "Le" && name != "Lt") || expression.operands.size() != 2 ||
      expression.operands[0] != symbol)
    return std::nullopt;
  return Bound{isLeast, isStrict, expression.operands[1]};
}

/// Whether a tensor of the graph has a size with the symbol.
static bool isPartOfSizes(const program::ExpressionPool &expressions, const program::Graph &graph,
                          program::SymInt symbol) {
  std::function<bool(program::SymInt)> holds = [&](program::SymInt size) {
    return size == symbol || (!size.isConstant() && llvm::any_of(expressions[size].operands, holds));
  };
  return llvm::any_of(graph.nodes, [&](const Node &node) {
    const auto *tensor = node.type.as<program::TensorType>();
    return tensor && llvm::any_of(tensor->shape, holds);
  });
}

/// A number that becomes a size, within what the program asserts of it: ops on sizes out of bounds would fail
/// first, and their errors say less. The assertions are made here, on the number as it is.
mlir::Value GraphLowerer::withinAssertions(program::SymInt symbol, mlir::Value number) {
  if (!scope.checks.canAdd() || !isPartOfSizes(scope.program.expressions, graph, symbol))
    return number;
  Context cx(scope.builder, number.getLoc(), scope.state, symbols);
  mlir::Value result = number;
  for (program::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    const auto *reference =
        scope.checks.isAssertion(graph, node) && node.op() == "aten._assert_scalar.default"
            ? node.arguments.front().as<program::NodeReference>()
            : nullptr;
    auto relation = reference ? program::numberOf(graph.nodes[reference->node].type) : std::nullopt;
    auto bound = relation ? boundOf(scope.program.expressions, symbol, *relation) : std::nullopt;
    if (!bound || !symbols.check(bound->value))
      continue;
    mlir::Value limit = symbols.numberOf(bound->value, program::NumberKind::Int);
    if (mlir::Value one = cx.constant(int64_t{1}, DType::I64); bound->isStrict)
      limit = bound->isLeast ? cx.elementwise<stablehlo::AddOp>({limit, one})
                             : cx.elementwise<stablehlo::SubtractOp>({limit, one});
    using Direction = stablehlo::ComparisonDirection;
    const std::string *text = node.arguments.size() > 1 ? node.arguments[1].as<std::string>() : nullptr;
    scope.checks.addAssertion(cx, node, text ? *text : "a size is out of its bounds",
                              cx.compare(bound->isLeast ? Direction::GE : Direction::LE, number, limit));
    result = bound->isLeast ? cx.elementwise<stablehlo::MaxOp>({result, limit})
                            : cx.elementwise<stablehlo::MinOp>({result, limit});
    madeAssertions.insert(id);
  }
  return result;
}

/// A node that is lowered for what it checks. What cannot be lowered leaves the check out.
Status GraphLowerer::lowerAssertion(const Node &node) {
  Context cx(scope.builder, location(node), scope.state, symbols);
  std::vector<Argument> arguments;
  for (const program::Argument &argument : node.arguments) {
    TORCHERE_ASSIGN(Argument value, toLowering(argument, node.op()));
    arguments.push_back(std::move(value));
  }
  const std::string *text = arguments.size() > 1 ? arguments[1].as<std::string>() : nullptr;
  if (node.op() == "aten._linalg_check_errors.default") {
    const mlir::Value *codes = arguments.empty() ? nullptr : arguments.front().as<mlir::Value>();
    if (!codes || !text || Context::dtype(*codes) != DType::I32)
      return invalidArgument("[{}] wrong arguments: expected codes of int32 and a name", node.op());
    scope.checks.addFactorization(cx, node, *text, *codes);
    return {};
  }
  mlir::Value holds = arguments.empty() ? mlir::Value() : asCondition(cx, arguments.front());
  if (!holds)
    return invalidArgument("[{}] no condition: expected a bool or a tensor of one element", node.op());
  scope.checks.addAssertion(cx, node,
                            text ? *text : "Expected Tensor with single nonzero value, but got zero", holds);
  return {};
}

/// Control flow whose graphs hold checks: the status goes through it, as one value more.
Result<Values> GraphLowerer::lowerWithStatus(Context &cx, const Node &node,
                                             std::vector<lowering::GivenArgument> arguments,
                                             std::vector<lowering::TensorType> types) {
  const lowering::OpTable::Row *row = scope.callees.find(*node.callee).row;
  for (lowering::GivenArgument &argument : arguments) // torch has no schema of these ops, and no names
    if (row && argument.position < row->schema.arguments.size())
      argument.name = row->schema.arguments[argument.position].name;
  mlir::Value before = scope.checks.status(cx);
  bool isBranch = node.op() == "higher_order.cond", isMap = node.op() == "higher_order.map_impl";
  size_t place = types.size();
  lowering::Dims shape = {Dim(program::statusSize)};
  if (isMap) {
    const Argument::List *sources = findList(arguments, "xs");
    const mlir::Value *first = sources && !sources->empty() ? sources->front().as<mlir::Value>() : nullptr;
    if (!first || Context::rank(*first) == 0)
      return lowerWith(cx, node, std::move(arguments), std::move(types)); // the row says what is wrong
    shape.insert(shape.begin(), cx.size(*first, 0));
  } else if (Argument::List *carried = findList(arguments, "carried_inputs")) {
    carried->push_back({before});
  } else if (Argument::List *initial = findList(arguments, "init")) {
    place = initial->size();
    initial->push_back({before});
  }
  types.insert(types.begin() + static_cast<ptrdiff_t>(place), {DType::I32, shape});
  std::optional<size_t> input = isBranch || isMap ? std::nullopt : std::optional(place);
  for (lowering::GivenArgument &argument : arguments) {
    const auto *graph = argument.value.as<const lowering::Subgraph *>();
    if (!graph)
      continue;
    auto output = argument.name == "cond_fn" ? std::nullopt : std::optional(place);
    children.push_back(std::make_unique<CheckedGraph>(**graph, scope.checks, input, output, isBranch));
    argument.value.value = children.back().get();
  }
  if (isBranch)
    scope.checks.exchangeStatus(before);
  TORCHERE_ASSIGN(Values results, lowerWith(cx, node, std::move(arguments), std::move(types)));
  mlir::Value status = results[place];
  results.erase(results.begin() + place);
  if (isMap)
    scope.checks.addFirstOf(cx, status);
  else
    scope.checks.exchangeStatus(status);
  return results;
}

} // namespace torchere::exporter
