// Marks: the calls in a program that bound the regions which become composites.
#include "exporter/marks.h"

#include <algorithm>
#include <map>
#include <optional>

namespace torchere::exporter {

using program::Node;
using program::NodeId;

namespace {

struct Mark {
  NodeId node;
  std::string name;
  std::string id;
  int64_t position;
  bool isInput;
};

const program::Argument *argument(const Node &node, std::string_view name) {
  for (const program::NamedArgument &given : node.given())
    if (given.name == name)
      return &given.value;
  return nullptr;
}

std::optional<Mark> readMark(const Node &node, NodeId id) {
  const program::Argument *tensor = argument(node, "x");
  const program::Argument *name = argument(node, "name");
  const program::Argument *position = argument(node, "pos");
  const program::Argument *instance = argument(node, "id");
  const program::Argument *isInput = argument(node, "is_input");
  if (!tensor || !tensor->as<program::NodeReference>() || !name || !name->as<std::string>() || !position ||
      !position->as<int64_t>() || !instance || !instance->as<std::string>() || !isInput ||
      !isInput->as<bool>())
    return std::nullopt;
  return Mark{id, *name->as<std::string>(), *instance->as<std::string>(), *position->as<int64_t>(),
              *isInput->as<bool>()};
}

/// A group in the making: the marks by their positions.
struct OpenGroup {
  std::string name;
  std::map<int64_t, NodeId> inputs;
  std::map<int64_t, NodeId> outputs;
};

class Grouping {
public:
  Grouping(const program::Program &program, const program::Graph &graph) : program(program), graph(graph) {}

  Status add(const Mark &mark) {
    std::vector<OpenGroup> &open = builders[{mark.name, mark.id}];
    bool isDone = !open.empty() &&
                  (mark.isInput ? open.back().inputs.contains(mark.position) && !open.back().outputs.empty()
                                : open.back().outputs.contains(mark.position));
    if (isDone)
      TORCHERE_TRY(close(open));
    if (mark.isInput) {
      if (open.empty() || open.back().inputs.contains(mark.position))
        open.push_back({mark.name, {}, {}});
      open.back().inputs[mark.position] = mark.node;
      return {};
    }
    if (open.empty())
      return at(mark.node,
                fail(ErrorCode::InvalidArgument,
                     "[{}] an output of the composite is marked, and no input: got a mark of output {}, "
                     "expected mark_inputs() before mark_outputs()",
                     mark.name, mark.position));
    open.back().outputs[mark.position] = mark.node;
    return {};
  }

  Result<std::vector<MarkGroup>> finish() {
    for (auto &[builder, open] : builders)
      while (!open.empty())
        TORCHERE_TRY(close(open));
    std::ranges::sort(groups, {}, &MarkGroup::end);
    return std::move(groups);
  }

private:
  Status at(NodeId node, Status status) const {
    Error error = std::move(status).error();
    error.where = program.place(graph.nodes[node]);
    return tl::unexpected<Error>(std::move(error));
  }

  /// The marks in the order of their positions, which have no gaps.
  Status list(const OpenGroup &group, const std::map<int64_t, NodeId> &marks, std::string_view what,
              std::vector<NodeId> &nodes) const {
    for (auto [position, node] : marks) {
      if (position != static_cast<int64_t>(nodes.size()))
        return at(node, fail(ErrorCode::InvalidArgument,
                             "[{}] {} {} of the composite is not marked: got a mark of {} {}", group.name,
                             what, nodes.size(), what, position));
      nodes.push_back(node);
    }
    return {};
  }

  /// Ends the innermost group of a builder.
  Status close(std::vector<OpenGroup> &open) {
    OpenGroup group = std::move(open.back());
    open.pop_back();
    MarkGroup made;
    made.name = std::move(group.name);
    group.name = made.name;
    if (group.outputs.empty())
      return at(group.inputs.begin()->second,
                fail(ErrorCode::InvalidArgument,
                     "[{}] the composite's outputs are never marked: got {} marked input{}, expected "
                     "mark_outputs() of the same builder in the same graph",
                     made.name, group.inputs.size(), group.inputs.size() == 1 ? "" : "s"));
    TORCHERE_TRY(list(group, group.inputs, "input", made.inputs));
    TORCHERE_TRY(list(group, group.outputs, "output", made.outputs));
    made.start = std::min(std::ranges::min(made.inputs), std::ranges::min(made.outputs));
    made.firstOutput = std::ranges::min(made.outputs);
    made.end = std::max(std::ranges::max(made.inputs), std::ranges::max(made.outputs));
    groups.push_back(std::move(made));
    return {};
  }

  const program::Program &program;
  const program::Graph &graph;
  std::map<std::pair<std::string, std::string>, std::vector<OpenGroup>> builders; ///< by name and id
  std::vector<MarkGroup> groups;
};

} // namespace

bool isMark(const Node &node) {
  return node.kind == program::NodeKind::Call && node.op() == markOp;
}

NodeId markedNode(const Node &mark) {
  return argument(mark, "x")->as<program::NodeReference>()->node;
}

Result<std::string> markAttributes(const MarkGroup &group, const Node &mark) {
  const program::Argument *given = argument(mark, "attr");
  if (!given || given->isNone())
    return "{}";
  if (const std::string *json = given->as<std::string>())
    return *json;
  return invalidArgument("[{}] the attributes of the composite: got a value of another type, expected what "
                         "serialize_composite_attr() gives",
                         group.name);
}

Result<std::vector<MarkGroup>> groupMarks(const program::Program &program, const program::Graph &graph) {
  Grouping grouping(program, graph);
  for (NodeId i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (!isMark(node))
      continue;
    std::optional<Mark> mark = readMark(node, i);
    if (!mark)
      return invalidArgument("[{}] arguments of a mark are missing: expected x, name, pos, id and is_input",
                             node.name());
    TORCHERE_TRY(grouping.add(*mark));
  }
  return grouping.finish();
}

} // namespace torchere::exporter
