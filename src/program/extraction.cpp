// extract(): which nodes are needed, and their copies with other numbers.
#include "program/extraction.h"

#include "program/argument_list.h"

#include <algorithm>
#include <vector>

namespace torchere::program {

namespace {

class Extractor {
public:
  Extractor(const Program &whole, Program &part)
      : whole(whole), part(part), isNeeded(whole.graph.nodes.size()), isInput(whole.graph.nodes.size()),
        numbers(whole.graph.nodes.size()) {}

  Status run(std::span<const NodeId> outputs, std::span<const NodeId> inputs) {
    TORCHERE_TRY(mark(outputs, inputs));
    copySurroundings();
    for (NodeId input : inputs)
      addInput(input);
    for (NodeId id = 0; id < whole.inputs.size(); ++id)
      if (!isInput[id] && (isNeeded[id] || definesSizes(whole.graph.nodes[id].type)))
        addInput(id);
    for (NodeId id = 0; id < whole.graph.nodes.size(); ++id)
      if (isNeeded[id] && whole.graph.nodes[id].kind != NodeKind::Placeholder && !isInput[id])
        addNode(id);
    for (NodeId output : outputs) {
      Argument value{NodeReference{numbers[output]}};
      part.graph.outputs.push_back(value);
      part.outputs.push_back({OutputKind::UserOutput, value, ""});
    }
    return {};
  }

private:
  Status mark(std::span<const NodeId> outputs, std::span<const NodeId> inputs) {
    size_t count = whole.graph.nodes.size();
    for (std::span<const NodeId> list : {outputs, inputs})
      for (NodeId id : list)
        if (id >= count)
          return invalidArgument("[extract] no such node: got {}, expected one below {}", id, count);
    for (NodeId id : inputs) {
      const Type &type = whole.graph.nodes[id].type;
      if (isInput[id] || (!type.as<TensorType>() && !type.as<SymIntType>()))
        return invalidArgument("[extract] '{}' cannot be an input: expected a tensor or an int, once",
                               whole.graph.nameOf(id));
      isInput[id] = true;
    }
    for (NodeId id : outputs)
      isNeeded[id] = true;
    for (NodeId id = static_cast<NodeId>(count); id-- > 0;)
      if (isNeeded[id] && !isInput[id])
        for (const Argument &argument : whole.graph.nodes[id].arguments)
          markUsed(argument);
    return {};
  }

  void markUsed(const Argument &argument) {
    if (const auto *reference = argument.as<NodeReference>())
      isNeeded[reference->node] = true;
    if (const auto *list = argument.as<Argument::List>())
      for (const Argument &element : *list)
        markUsed(element);
  }

  static bool definesSizes(const Type &type) {
    if (const auto *tensor = type.as<TensorType>())
      return std::ranges::any_of(tensor->shape, [](SymInt size) { return !size.isConstant(); });
    return type.as<SymIntType>() != nullptr;
  }

  void copySurroundings() {
    part.ops = whole.ops;
    part.expressions = whole.expressions;
    part.rangeConstraints = whole.rangeConstraints;
    part.stackTraces = whole.stackTraces;
    part.moduleStacks = whole.moduleStacks;
    part.graph.name = whole.graph.name;
    part.graph.children = whole.graph.children;
    for (const Graph &graph : whole.subgraphs) {
      Graph &copy = part.subgraphs.emplace_back();
      copy.name = graph.name;
      copy.outputs = graph.outputs;
      copy.returnsOneValue = graph.returnsOneValue;
      copy.children = graph.children;
      for (const Node &node : graph.nodes)
        copy.nodes.push_back(node);
    }
  }

  void addInput(NodeId id) {
    Node node = whole.graph.nodes[id];
    InputSpec spec{InputKind::UserInput, whole.graph.nameOf(id), "", true, std::nullopt};
    if (node.kind == NodeKind::Placeholder && id < whole.inputs.size())
      spec.constant = whole.inputs[id].constant;
    node.kind = NodeKind::Placeholder;
    node.callee = nullptr;
    node.arguments = {};
    if (node.label) {
      Label label = *node.label;
      label.keywords = {};
      node.label = part.memory.store(label);
    }
    append(id, node);
    part.inputs.push_back(std::move(spec));
  }

  void addNode(NodeId id) {
    Node node = whole.graph.nodes[id];
    std::vector<Argument> arguments;
    for (const Argument &argument : node.arguments)
      arguments.push_back(renumbered(argument));
    node.arguments = part.memory.store(std::span<const Argument>(arguments));
    append(id, node);
  }

  void append(NodeId id, const Node &node) {
    numbers[id] = static_cast<NodeId>(part.graph.nodes.size());
    part.graph.nodes.push_back(node);
  }

  Argument renumbered(const Argument &argument) {
    if (const auto *reference = argument.as<NodeReference>())
      return {NodeReference{numbers[reference->node]}};
    const auto *list = argument.as<Argument::List>();
    if (!list)
      return argument;
    std::vector<Argument> elements;
    for (const Argument &element : *list)
      elements.push_back(renumbered(element));
    return storeList(part.memory, elements, list->isTuple);
  }

  const Program &whole;
  Program &part;
  std::vector<bool> isNeeded;
  std::vector<bool> isInput;
  std::vector<NodeId> numbers; ///< of nodes that were copied, in the part
};

} // namespace

Result<std::shared_ptr<Program>> extract(const std::shared_ptr<const Program> &whole,
                                         std::span<const NodeId> outputs, std::span<const NodeId> inputs) {
  std::shared_ptr<Program> part(new Program(), [whole](Program *made) { delete made; });
  TORCHERE_TRY(Extractor(*whole, *part).run(outputs, inputs));
  return part;
}

} // namespace torchere::program
