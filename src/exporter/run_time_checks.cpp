// RunTimeChecks: which nodes check something, and the status in which a function keeps what failed first.
#include "exporter/run_time_checks.h"

#include "exporter/coverage.h"

#include <limits>
#include <unordered_map>

namespace torchere::exporter {

using lowering::Context;
using lowering::Dim;
using program::Graph;
using program::Node;
using program::NodeId;
using Direction = stablehlo::ComparisonDirection;

// ---- which nodes check something

static const std::unordered_map<std::string_view, ImpliedCheck> &impliedChecks() {
  static const std::unordered_map<std::string_view, ImpliedCheck> checks = {
      {"aten.linalg_cholesky.default",
       {.name = "linalg.cholesky", .row = "aten.linalg_cholesky_ex.default", .matrices = "self"}},
      {"aten.cholesky.default",
       {.name = "cholesky", .row = "aten.linalg_cholesky_ex.default", .matrices = "self"}},
      {"aten.linalg_cholesky_ex.default", {.name = "linalg.cholesky_ex", .row = {}, .isOnRequest = true}},
      {"aten.cholesky_inverse.default",
       {.name = "cholesky_inverse", .row = "aten.cholesky_inverse.default", .matrices = "self"}},
      {"aten.linalg_inv.default", {.name = "linalg.inv", .row = "aten.linalg_inv_ex.default"}},
      {"aten.linalg_inv_ex.default", {.name = "linalg.inv_ex", .row = {}, .isOnRequest = true}},
      {"aten.linalg_tensorinv.default",
       {.name = "inv", .row = "aten.linalg_tensorinv.default", .matrices = "self", .isOneMatrix = true}},
      {"aten.linalg_solve.default",
       {.name = "torch.linalg.solve",
        .row = "aten._linalg_solve_ex.default",
        .hasFactors = true,
        .hasPivots = true}},
      {"aten._linalg_solve_ex.default", {.name = "torch.linalg.solve_ex", .row = {}, .isOnRequest = true}},
      {"aten.linalg_lu_factor.default",
       {.name = "torch.linalg.lu_factor", .row = "aten.linalg_lu_factor_ex.default"}},
      {"aten.linalg_lu_factor_ex.default",
       {.name = "torch.linalg.lu_factor_ex", .row = {}, .isOnRequest = true}},
      {"aten._linalg_svd.default",
       {.name = "linalg.svd", .row = {}, .source = CodeSource::NanInResults, .values = 1}},
      {"aten._linalg_eigh.default",
       {.name = "linalg.eigh", .row = {}, .source = CodeSource::NanInResults, .values = 0}},
  };
  return checks;
}

const ImpliedCheck *RunTimeChecks::impliedBy(const Node &node) const {
  if (!areWanted || node.kind != program::NodeKind::Call)
    return nullptr;
  auto found = impliedChecks().find(node.op());
  if (found == impliedChecks().end())
    return nullptr;
  bool isRequested = !found->second.isOnRequest;
  for (auto [name, value] : node.given())
    isRequested |= name == "check_errors" && value.as<bool>() && *value.as<bool>();
  return isRequested ? &found->second : nullptr;
}

/// Whether a number has a symbol that no size of the inputs gives: torch's u0 or, of a float, zuf0.
static bool dependsOnData(const program::ExpressionPool &expressions, program::SymInt number) {
  if (number.isConstant())
    return false;
  const program::Expression &expression = expressions[number];
  if (expression.kind != program::ExpressionKind::Symbol)
    return llvm::any_of(expression.operands,
                        [&](program::SymInt operand) { return dependsOnData(expressions, operand); });
  llvm::StringRef digits(expression.symbol);
  return (digits.consume_front("zuf") || digits.consume_front("u")) && !digits.empty() &&
         digits.find_first_not_of("0123456789") == llvm::StringRef::npos;
}

/// The elements of a tensor of known sizes.
static std::optional<int64_t> countOf(const program::Type &type) {
  const auto *tensor = type.as<program::TensorType>();
  if (!tensor)
    return std::nullopt;
  int64_t count = 1;
  for (program::SymInt size : tensor->shape) {
    if (!size.isConstant())
      return std::nullopt;
    count *= size.constant();
  }
  return count;
}

/// The first dimension of a tensor, or of one in a list, that has the size.
static std::optional<size_t> axisOf(const program::Type &type, program::SymInt size) {
  if (const auto *list = type.as<program::Type::List>())
    for (const program::Type &element : *list)
      if (auto axis = axisOf(element, size))
        return axis;
  if (const auto *tensor = type.as<program::TensorType>())
    for (auto [axis, dimension] : llvm::enumerate(tensor->shape))
      if (dimension == size)
        return axis;
  return std::nullopt;
}

/// How many elements there are to select from: those along an axis of the first tensor, or of the largest.
static int64_t mostOf(const Graph &graph, const Node &node, std::optional<size_t> axis) {
  int64_t most = 0;
  for (const program::Argument &argument : node.arguments)
    forEachReference(argument, [&](NodeId operand) {
      const program::Type &type = graph.nodes[operand].type;
      const auto *tensor = type.as<program::TensorType>();
      if (axis && !tensor)
        return;
      bool isKnown = axis && *axis < tensor->shape.size() && tensor->shape[*axis].isConstant();
      std::optional<int64_t> count = !axis     ? countOf(type)
                                     : isKnown ? std::optional(tensor->shape[*axis].constant())
                                               : std::nullopt;
      most = std::max(most, count.value_or(std::numeric_limits<int64_t>::max()));
    });
  return most;
}

/// Whether the number is a size of what an op selects, and how many elements it can select from; or the place
/// of a view in its memory, which only torch asserts, and which exported programs have none of.
bool RunTimeChecks::isSizeOfSelection(const Graph &graph, program::SymInt size, int64_t &most) const {
  for (const Node &node : graph.nodes) {
    if (node.kind != program::NodeKind::Call || node.op() == "_operator.getitem")
      continue;
    llvm::StringRef op(node.op());
    most = std::numeric_limits<int64_t>::max();
    if (op == "aten.sym_storage_offset.default" && program::numberOf(node.type) == size)
      return true;
    std::optional<size_t> axis = axisOf(node.type, size);
    if (!axis)
      continue;
    bool isPart = op == "aten.slice.Tensor" || op == "aten.slice_copy.Tensor";
    if (!isPart && op != "aten.nonzero.default" && op != "aten.index.Tensor" &&
        op != "aten.masked_select.default" && !op.contains("unique"))
      return false;
    most = mostOf(graph, node, isPart ? axis : std::nullopt);
    return true;
  }
  return false;
}

/// What holds whatever the data is: torch asserts of each size that depends on it that it is a size.
bool RunTimeChecks::canFail(const Graph &graph, const program::Argument &condition) const {
  const auto *reference = condition.as<program::NodeReference>();
  if (!reference)
    return false;
  std::optional<program::SymInt> number = program::numberOf(graph.nodes[reference->node].type);
  if (!number)
    return true;
  if (!dependsOnData(program.expressions, *number))
    return false; // a relation of sizes, which calls check as a guard
  const program::Expression &relation = program.expressions[*number];
  bool isLeast = relation.symbol == "Ge", isMost = relation.symbol == "Le";
  int64_t most = 0;
  if ((!isLeast && !isMost) || relation.operands.size() != 2 || !relation.operands[1].isConstant() ||
      !isSizeOfSelection(graph, relation.operands[0], most))
    return true;
  int64_t bound = relation.operands[1].constant();
  return isLeast ? bound > 0 : bound < most;
}

bool RunTimeChecks::isAssertion(const Graph &graph, const Node &node) const {
  if (!areWanted || node.kind != program::NodeKind::Call)
    return false;
  const std::string &op = node.op();
  if (op == "aten._assert_scalar.default")
    return !node.arguments.empty() && canFail(graph, node.arguments.front());
  return op == "aten._assert_async.default" || op == "aten._assert_async.msg" ||
         op == "aten._linalg_check_errors.default";
}

bool RunTimeChecks::areRunBy(const Graph &graph, const Node &node) const {
  if (!areWanted || !node.op().starts_with("higher_order."))
    return false;
  return llvm::any_of(node.arguments, [&](const program::Argument &argument) {
    const auto *reference = argument.as<program::NodeReference>();
    if (!reference || graph.nodes[reference->node].kind != program::NodeKind::GetAttr)
      return false;
    const auto *child = graph.nodes[reference->node].arguments.front().as<program::GraphReference>();
    return areIn(program.subgraphs[child->index]);
  });
}

std::vector<NodeId> RunTimeChecks::nodesIn(const Graph &graph) const {
  std::vector<NodeId> found;
  for (NodeId id = 0; areWanted && id < graph.nodes.size(); ++id)
    if (const Node &node = graph.nodes[id];
        impliedBy(node) || isAssertion(graph, node) || areRunBy(graph, node))
      found.push_back(id);
  return found;
}

bool RunTimeChecks::areIn(const Graph &graph) const {
  return !nodesIn(graph).empty();
}

// ---- the status

static mlir::RankedTensorType statusType(Context &cx) {
  return cx.tensorType({Dim(program::statusSize)}, DType::I32);
}

mlir::Value RunTimeChecks::status(Context &cx) const {
  return present ? present : cx.full(int64_t{0}, DType::I32, {Dim(program::statusSize)});
}

/// Whether nothing has failed in a status.
static mlir::Value isClear(Context &cx, mlir::Value status) {
  mlir::Value number = cx.reshape(cx.sliceAxis(status, 0, 0, 1), {});
  return cx.compare(Direction::EQ, number, cx.constant(int64_t{0}, DType::I32));
}

/// False where checks cannot be made.
bool RunTimeChecks::add(Context &cx, const Node &node, program::RunTimeCheck check,
                        const CheckOutcome &outcome) {
  if (!barrier.empty()) {
    leaveOut(node, barrier);
    return false;
  }
  check.op = node.op();
  check.where = program.place(node);
  checks.push_back(std::move(check));
  mlir::Value number = cx.constant(static_cast<int64_t>(checks.size()), DType::I32);
  lowering::Values parts;
  for (mlir::Value part : {number, outcome.element, outcome.code})
    parts.push_back(cx.reshape(part, {Dim(1)}));
  mlir::Value failed = cx.concatenate(parts, 0), before = status(cx), isFirst = outcome.fails;
  if (present)
    isFirst = cx.elementwise<stablehlo::AndOp>({isClear(cx, before), isFirst});
  present = cx.create<stablehlo::SelectOp>(statusType(cx), {isFirst, failed, before});
  return true;
}

/// The first of a batch that fails.
static CheckOutcome firstFailure(Context &cx, mlir::Value codes) {
  mlir::Value zero = cx.constant(int64_t{0}, DType::I32);
  if (Context::rank(codes) == 0)
    return {cx.compare(Direction::NE, codes, zero), zero, codes};
  lowering::Dims shape = {cx.product(cx.shape(codes))};
  mlir::Value flat = cx.reshape(codes, shape);
  mlir::Value numbers = cx.elementwise<stablehlo::AddOp>(
      {cx.iota(shape, DType::I32, 0), cx.full(int64_t{1}, DType::I32, shape)});
  mlir::Value none = cx.constant(std::numeric_limits<int32_t>::max(), DType::I32);
  mlir::Value isFailure = cx.compare(Direction::NE, flat, cx.full(int64_t{0}, DType::I32, shape));
  mlir::Value failures = cx.select(isFailure, numbers, cx.broadcastTo(none, shape));
  mlir::Value element = cx.reduceWith<stablehlo::MinOp>(failures, none, {0});
  mlir::Value isFirst = cx.compare(Direction::EQ, numbers, cx.broadcastTo(element, shape));
  mlir::Value code = cx.reduceWith<stablehlo::AddOp>(
      cx.select(isFirst, flat, cx.full(int64_t{0}, DType::I32, shape)), zero, {0});
  return {cx.compare(Direction::NE, element, none), element, code};
}

void RunTimeChecks::addFactorization(Context &cx, const Node &node, std::string_view name,
                                     mlir::Value codes) {
  add(cx, node, {.op = {}, .message = factorizationMessage(name), .where = {}, .isFactorization = true},
      firstFailure(cx, codes));
}

void RunTimeChecks::addAssertion(Context &cx, const Node &node, std::string message, mlir::Value holds) {
  mlir::Value zero = cx.constant(int64_t{0}, DType::I32);
  add(cx, node, {.op = {}, .message = std::move(message), .where = {}},
      {cx.elementwise<stablehlo::NotOp>({holds}), zero, zero});
}

void RunTimeChecks::addFirstOf(Context &cx, mlir::Value statuses) {
  lowering::Dims shape = cx.shape(statuses);
  mlir::Value numbers = cx.reshape(cx.sliceAxis(statuses, 1, 0, 1), {shape[0]});
  mlir::Value row = firstFailure(cx, numbers).element;
  mlir::Value zero = cx.constant(int64_t{0}, DType::I32);
  mlir::Value places = cx.elementwise<stablehlo::AddOp>(
      {cx.iota(shape, DType::I32, 0), cx.full(int64_t{1}, DType::I32, shape)});
  mlir::Value isFirst = cx.compare(Direction::EQ, places, cx.broadcastTo(row, shape));
  mlir::Value first = cx.reduceWith<stablehlo::AddOp>(
      cx.select(isFirst, statuses, cx.full(int64_t{0}, DType::I32, shape)), zero, {0});
  mlir::Value before = status(cx);
  present = cx.create<stablehlo::SelectOp>(statusType(cx), {isClear(cx, before), first, before});
}

void RunTimeChecks::leaveOut(const Node &node, std::string_view reason) {
  std::string place = program.place(node);
  omitted.push_back(
      fmt::format("[{}] is not checked: {}{}", node.op(), reason, place.empty() ? "" : "; at " + place));
}

std::string factorizationMessage(std::string_view name) {
  auto is = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  std::string_view text =
      is("inv")     ? "The diagonal element {code} is zero, the inversion could not be completed because the "
                      "input matrix is singular."
      : is("solve") ? "The solver failed because the input matrix is singular."
      : is("cholesky")  ? "The factorization could not be completed because the input is not "
                          "positive-definite (the leading "
                          "minor of order {code} is not positive-definite)."
      : is("lu_factor") ? "U[{code},{code}] is zero and using it on lu_solve would result in a division by "
                          "zero. If you still "
                          "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                          "linalg.lu_factor_ex(A, pivot)"
      : is("svd")
          ? "The algorithm failed to converge because the input matrix contained non-finite values."
          : "The algorithm failed to converge because the input matrix contained non-finite values, or is "
            "ill-conditioned.";
  return fmt::format("{}{}: {}", name, program::batchMark, text);
}

} // namespace torchere::exporter
