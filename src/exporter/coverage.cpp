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

bool isAssertion(std::string_view op) {
  static const std::set<std::string_view> assertions = {
      "aten._assert_scalar.default",      "aten._assert_tensor_metadata.default",
      "aten._assert_async.msg",           "aten._assert_async.default",
      "aten.sym_constrain_range.default", "aten.sym_constrain_range_for_size.default",
  };
  return assertions.contains(op);
}

std::vector<bool> liveNodes(const program::Program &program) {
  const auto &nodes = program.graph.nodes;
  std::vector<bool> live(nodes.size(), false);
  auto mark = [&](program::NodeId node) { live[node] = true; };
  for (const Argument &output : program.graph.outputs)
    forEachReference(output, mark);
  for (size_t i = nodes.size(); i-- > 0;)
    if (live[i] && !nodes[i].type.as<program::SymIntType>()) // sizes come from the symbol table
      for (const Argument &argument : nodes[i].arguments)
        forEachReference(argument, mark);
  return live;
}

bool isCustomCall(std::string_view op, const std::set<std::string> &namespaces) {
  return namespaces.contains(std::string(op.substr(0, op.find('.'))));
}

/// What the user knows a call by: an op that runs for its effect is an argument of a higher-order one, which
/// takes and gives a token so that effects keep their order.
static std::string nameOf(const Node &node) {
  if (node.op() == "higher_order.with_effects" && node.arguments.size() > 1)
    if (const auto *op = node.arguments[1].as<program::OpReference>())
      return op->name + " (for its effect, which needs a token)";
  return node.op();
}

Status checkCoverage(const program::Program &program, const std::vector<bool> &live,
                     const std::set<std::string> &customOpNamespaces) {
  const lowering::OpTable &table = lowering::OpTable::instance();
  struct Missing {
    int64_t count = 0;
    const Node *first = nullptr;
  };
  std::map<std::string, Missing> missing;
  for (size_t i = 0; i < program.graph.nodes.size(); ++i) {
    const Node &node = program.graph.nodes[i];
    bool isLowered = live[i] && node.kind == program::NodeKind::Call && node.op() != "_operator.getitem" &&
                     !node.type.as<program::SymIntType>();
    if (!isLowered || table.find(node.op()) || isCustomCall(node.op(), customOpNamespaces))
      continue;
    Missing &entry = missing[nameOf(node)];
    if (++entry.count == 1)
      entry.first = &node;
  }
  if (missing.empty())
    return {};
  std::string list;
  for (const auto &[op, entry] : missing) {
    std::string place = program.place(*entry.first);
    list += fmt::format("\n  {}: {} use{}{}", op, entry.count, entry.count == 1 ? "" : "s",
                        place.empty() ? "" : ", first at " + place);
  }
  return fail(ErrorCode::Unimplemented, "[export] {} op{} of this program cannot be lowered yet:{}",
              missing.size(), missing.size() == 1 ? "" : "s", list);
}

} // namespace torchere::exporter
