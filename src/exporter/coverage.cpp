// Coverage: live nodes and the report of ops without a lowering.
#include "exporter/coverage.h"

#include "exporter/custom_call.h"
#include "exporter/exporter.h"
#include "exporter/lowering_registry.h"
#include "exporter/marks.h"
#include "exporter/missing_ops.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace torchere::exporter {

using program::Node;

void forEachReference(const program::Argument &argument, llvm::function_ref<void(program::NodeId)> visit) {
  if (const auto *reference = argument.as<program::NodeReference>())
    visit(reference->node);
  else if (const auto *list = argument.as<program::Argument::List>())
    for (const program::Argument &element : *list)
      forEachReference(element, visit);
}

bool isExpression(const Node &node) {
  return program::numberOf(node.type) && node.kind == program::NodeKind::Call &&
         node.op() != "_operator.getitem" && !lowering::OpTable::instance().find(node.op());
}

/// Marks that are live together, by the outputs of each group.
static std::unordered_map<program::NodeId, std::vector<program::NodeId>>
marksByOutput(const program::Program &program, const program::Graph &graph) {
  std::unordered_map<program::NodeId, std::vector<program::NodeId>> together;
  Result<std::vector<MarkGroup>> groups = groupMarks(program, graph);
  if (!groups)
    return together; // MarkedRegions::find() reports it
  for (const MarkGroup &group : *groups) {
    std::vector<program::NodeId> marks = group.inputs;
    marks.insert(marks.end(), group.outputs.begin(), group.outputs.end());
    for (program::NodeId output : group.outputs)
      together[output] = marks;
  }
  return together;
}

/// torch's symbol for a size that no input has: "u0".
static bool isUnbackedSymbol(std::string_view symbol) {
  return symbol.starts_with('u') && symbol.size() > 1 &&
         symbol.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// Calls `visit` on every symbol of a number, or of the sizes, that a type has.
static void forEachSymbol(const program::ExpressionPool &expressions, const program::Type &type,
                          llvm::function_ref<void(const std::string &)> visit) {
  auto visitNumber = [&](auto &&self, program::SymInt number) -> void {
    if (number.isConstant())
      return;
    const program::Expression &expression = expressions[number];
    if (expression.kind == program::ExpressionKind::Symbol)
      visit(expression.symbol);
    for (program::SymInt operand : expression.operands)
      self(self, operand);
  };
  if (const auto *list = type.as<program::Type::List>())
    for (const program::Type &element : *list)
      forEachSymbol(expressions, element, visit);
  if (const auto *tensor = type.as<program::TensorType>())
    for (program::SymInt size : tensor->shape)
      visitNumber(visitNumber, size);
  if (std::optional<program::SymInt> number = program::numberOf(type))
    visitNumber(visitNumber, *number);
}

/// Whether an op writes to an argument: one that functionalization has left, which has no lowering.
static bool writes(const Node &node) {
  return node.kind == program::NodeKind::Call && node.callee->schema &&
         llvm::any_of(node.callee->schema->arguments,
                      [](const schema::Argument &argument) { return argument.type.isWritten(); });
}

/// By the symbol of a size that depends on data, the first node that has it: the op whose result it is the
/// size of.
static std::unordered_map<std::string, program::NodeId>
definersOfSizes(const program::ExpressionPool &expressions, const program::Graph &graph) {
  std::unordered_map<std::string, program::NodeId> definers;
  for (program::NodeId i = 0; i < graph.nodes.size(); ++i)
    forEachSymbol(expressions, graph.nodes[i].type, [&](const std::string &symbol) {
      if (isUnbackedSymbol(symbol))
        definers.try_emplace(symbol, i);
    });
  std::erase_if(definers,
                [&](const auto &entry) { return graph.nodes[entry.second].kind != program::NodeKind::Call; });
  return definers;
}

std::vector<bool> liveNodes(const program::Program &program, const program::Graph &graph,
                            const std::vector<program::NodeId> &further) {
  const auto &nodes = graph.nodes;
  auto together = marksByOutput(program, graph);
  auto definers = definersOfSizes(program.expressions, graph);
  std::vector<bool> live(nodes.size(), false);
  std::vector<program::NodeId> pending;
  auto mark = [&](program::NodeId node) {
    if (!live[node])
      pending.push_back(node);
    live[node] = true;
  };
  auto markNumber = [&](program::NodeId node) {
    if (program::numberOf(nodes[node].type))
      mark(node);
  };
  for (const program::Argument &output : graph.outputs)
    forEachReference(output, mark);
  for (program::NodeId i = 0; i < nodes.size(); ++i)
    if (hasEffect(nodes[i]) || writes(nodes[i]))
      mark(i);
  std::ranges::for_each(further, mark);
  while (!pending.empty()) {
    program::NodeId i = pending.back();
    pending.pop_back();
    if (auto marks = together.find(i); marks != together.end())
      std::ranges::for_each(marks->second, mark);
    if (!definers.empty())
      forEachSymbol(program.expressions, nodes[i].type, [&](const std::string &symbol) {
        if (auto definer = definers.find(symbol); definer != definers.end())
          mark(definer->second);
      });
    // Sizes come from the symbol table, which reads no tensor for them.
    bool needsNumbersOnly = isExpression(nodes[i]);
    for (const program::Argument &argument : nodes[i].arguments)
      needsNumbersOnly ? forEachReference(argument, markNumber) : forEachReference(argument, mark);
  }
  return live;
}

bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces) {
  return namespaces.contains(std::string(op.substr(0, op.find('.'))));
}

/// The name that the user knows a call by. An op that runs for its effect is an argument of a higher-order
/// op, which takes and returns a token to keep effects in order.
static std::string nameOf(const Node &node) {
  if (node.op() == "higher_order.with_effects" && node.arguments.size() > 1)
    if (const auto *op = node.arguments[1].as<program::OpReference>())
      return op->name + " (for its effect, which needs a token)";
  return node.op();
}

/// Calls `visit` on every node that has to be lowered, in the main graph and in the graphs that its live
/// nodes use.
static void forEachLowered(const program::Program &program, const program::Graph &graph,
                           llvm::function_ref<void(const Node &)> visit) {
  std::vector<bool> live = liveNodes(program, graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (!live[i])
      continue;
    if (node.kind == program::NodeKind::GetAttr) {
      const auto *child = node.arguments.front().as<program::GraphReference>();
      forEachLowered(program, program.subgraphs[child->index], visit);
    } else if (node.kind == program::NodeKind::Call && node.op() != "_operator.getitem" &&
               !isExpression(node)) {
      visit(node);
    }
  }
}

/// What the user can do about ops without a row. Those of the user's own libraries may also be custom calls.
static std::string adviceOn(const std::set<std::string> &namespaces) {
  std::string advice = "\n  to do: write them with ops that `torchere ops` lists, or decompose them: "
                       "torchere.export(..., decompositions={op: function})";
  std::string own;
  for (const std::string &name : namespaces)
    if (name != "aten" && name != "prims" && name != "higher_order")
      own += fmt::format("{}\"{}\"", own.empty() ? "" : ", ", name);
  if (!own.empty())
    advice += fmt::format("; or keep them as custom calls: "
                          "torchere.stablehlo.StableHLOExportOptions(custom_ops_allowed_in_graph={{{}}})",
                          own);
  return advice;
}

Error sizeFromData(const Node &node, std::string_view size) {
  return {ErrorCode::Unimplemented,
          fmt::format("[{}] a result's size depends on the data: got '{}', expected sizes that follow from "
                      "those of the inputs (to do: keep every element, and choose among them with "
                      "torch.where; a number that becomes a size can be an int argument of the program)",
                      node.op(), size),
          {}};
}

Error halfComplex(std::string_view subject, std::string_view what) {
  return {
      ErrorCode::Unimplemented,
      fmt::format("[{}] complex numbers of half precision are not supported: got {}, expected complex64 or "
                  "complex128",
                  subject, what),
      {}};
}

static bool isUnbacked(const program::ExpressionPool &expressions, program::SymInt size) {
  if (size.isConstant())
    return false;
  const program::Expression &expression = expressions[size];
  bool isSymbol = expression.kind == program::ExpressionKind::Symbol;
  return isSymbol ? isUnbackedSymbol(expression.symbol)
                  : llvm::any_of(expression.operands,
                                 [&](program::SymInt operand) { return isUnbacked(expressions, operand); });
}

std::optional<program::SymInt> unbackedSize(const program::ExpressionPool &expressions,
                                            const program::Type &type) {
  if (const auto *list = type.as<program::Type::List>())
    for (const program::Type &element : *list)
      if (auto size = unbackedSize(expressions, element))
        return size;
  if (const auto *tensor = type.as<program::TensorType>())
    for (program::SymInt size : tensor->shape)
      if (isUnbacked(expressions, size))
        return size;
  return std::nullopt;
}

std::vector<MissingOp> missingOps(const program::Program &program,
                                  const std::set<std::string> &customOpNamespaces) {
  const lowering::OpTable &table = lowering::OpTable::instance();
  std::map<std::string, MissingOp> missing;
  std::set<std::string> own = ownOps();
  forEachLowered(program, program.graph, [&](const Node &node) {
    bool hasLowering = table.find(node.op()) || own.contains(node.op()) ||
                       isCustomCall(node.op(), customOpNamespaces) ||
                       LoweringRegistry::instance().find(node.op());
    if (hasLowering && !writes(node))
      return;
    MissingOp &entry = missing[nameOf(node)];
    entry.writes |= writes(node);
    entry.places.push_back(program.place(node));
    if (auto size = unbackedSize(program.expressions, node.type); size && !entry.sizeFromData) {
      entry.sizeFromData = sizeFromData(node, program.expressions.print(*size));
      entry.sizeFromData->where = program.place(node);
    }
  });
  std::vector<MissingOp> list;
  for (auto &[name, entry] : missing) {
    entry.name = name;
    list.push_back(std::move(entry));
  }
  return list;
}

Status checkCoverage(const program::Program &program, const std::set<std::string> &customOpNamespaces) {
  std::vector<MissingOp> missing = missingOps(program, customOpNamespaces);
  if (missing.empty())
    return {};
  std::string list;
  std::set<std::string> namespaces;
  for (MissingOp &entry : missing) {
    if (entry.sizeFromData)
      return tl::unexpected(*std::move(entry.sizeFromData));
    if (!entry.writes)
      namespaces.insert(entry.name.substr(0, entry.name.find('.')));
    const std::string &place = entry.places.front();
    list += fmt::format("\n  {}{}: {} use{}{}", entry.name,
                        entry.writes ? " (which writes to its arguments)" : "", entry.places.size(),
                        entry.places.size() == 1 ? "" : "s", place.empty() ? "" : ", first at " + place);
  }
  return fail(ErrorCode::Unimplemented, "[export] {} op{} of this program cannot be lowered yet:{}{}",
              missing.size(), missing.size() == 1 ? "" : "s", list, adviceOn(namespaces));
}

} // namespace torchere::exporter
