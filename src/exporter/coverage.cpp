// Coverage: live nodes and the report of ops without a lowering.
#include "exporter/coverage.h"

#include <map>
#include <set>

namespace torchere::exporter {

using program::Argument;
using program::Node;

void forEachReference(const Argument &argument, llvm::function_ref<void(program::NodeId)> visit) {
  if (const auto *reference = argument.as<program::NodeReference>())
    visit(reference->node);
  else if (const auto *list = argument.as<Argument::List>())
    for (const Argument &element : *list)
      forEachReference(element, visit);
}

std::vector<bool> liveNodes(const program::Graph &graph) {
  const auto &nodes = graph.nodes;
  std::vector<bool> live(nodes.size(), false);
  auto mark = [&](program::NodeId node) { live[node] = true; };
  auto markSize = [&](program::NodeId node) {
    if (nodes[node].type.as<program::SymIntType>())
      mark(node);
  };
  for (const Argument &output : graph.outputs)
    forEachReference(output, mark);
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!live[i])
      continue;
    // Sizes come from the symbol table, which reads no tensor for them. An int computed by a loop is the
    // exception: it is known as an element of the loop's results.
    bool needsSizesOnly = nodes[i].type.as<program::SymIntType>() && nodes[i].op() != "_operator.getitem";
    for (const Argument &argument : nodes[i].arguments)
      needsSizesOnly ? forEachReference(argument, markSize) : forEachReference(argument, mark);
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
  std::vector<bool> live = liveNodes(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (!live[i])
      continue;
    if (node.kind == program::NodeKind::GetAttr) {
      const auto *child = node.arguments.front().as<program::GraphReference>();
      forEachLowered(program, program.subgraphs[child->index], visit);
    } else if (node.kind == program::NodeKind::Call && node.op() != "_operator.getitem" &&
               !node.type.as<program::SymIntType>()) {
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

Status checkCoverage(const program::Program &program, const std::set<std::string> &customOpNamespaces) {
  const lowering::OpTable &table = lowering::OpTable::instance();
  struct Missing {
    int64_t count = 0;
    const Node *first = nullptr;
  };
  std::map<std::string, Missing> missing;
  forEachLowered(program, program.graph, [&](const Node &node) {
    if (table.find(node.op()) || isCustomCall(node.op(), customOpNamespaces))
      return;
    Missing &entry = missing[nameOf(node)];
    if (++entry.count == 1)
      entry.first = &node;
  });
  if (missing.empty())
    return {};
  std::string list;
  std::set<std::string> namespaces;
  for (const auto &[op, entry] : missing) {
    namespaces.insert(op.substr(0, op.find('.')));
    std::string place = program.place(*entry.first);
    list += fmt::format("\n  {}: {} use{}{}", op, entry.count, entry.count == 1 ? "" : "s",
                        place.empty() ? "" : ", first at " + place);
  }
  return fail(ErrorCode::Unimplemented, "[export] {} op{} of this program cannot be lowered yet:{}{}",
              missing.size(), missing.size() == 1 ? "" : "s", list, adviceOn(namespaces));
}

} // namespace torchere::exporter
