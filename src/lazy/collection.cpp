// The choice of pending nodes, and the graph that they are.
#include "lazy/collection.h"

#include <algorithm>

namespace torchere::lazy {

/// Gives the nodes positions, and adds the words between them alone.
static Graph structureOf(const NodeList &nodes, uint64_t visit) {
  Graph graph;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->visit = visit;
    nodes[i]->position = i;
    graph.addNode(*nodes[i]->call, false, nullptr);
    for (const Value &operand : nodes[i]->operands)
      if (operand.node->visit == visit)
        graph.addOperand(operandWord(false, operand.node->position, operand.result));
  }
  return graph;
}

std::vector<bool> selectNodes(const NodeList &nodes, ThreadMark thread, const Node *wanted, uint64_t visit) {
  auto isForeign = [&](ThreadMark other) { return other != thread && other != sharedThread; };
  if (std::ranges::none_of(nodes, [&](const auto &node) { return isForeign(node->thread); }))
    return std::vector<bool>(nodes.size(), true);
  std::vector<uint32_t> parts = partsOf(structureOf(nodes, visit));
  std::vector<bool> isOwn(nodes.size()), isOthers(nodes.size()); // by part
  ThreadMark lastLiving = sharedThread;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ThreadMark recorder = nodes[i]->thread;
    if (recorder == thread || nodes[i].get() == wanted)
      isOwn[parts[i]] = true;
    else if (isForeign(recorder) && (recorder == lastLiving || isAlive(recorder))) {
      lastLiving = recorder;
      isOthers[parts[i]] = true;
    }
  }
  std::vector<bool> isTaken(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    isTaken[i] = isOwn[parts[i]] || !isOthers[parts[i]];
  return isTaken;
}

/// Whether anyone but the nodes of the visit owns it.
static bool isHeld(const Node &node, bool isListed) {
  return node.owners() > node.readers + uint32_t{isListed};
}

/// The number of a leaf. The results of a node have numbers that follow each other.
static uint32_t leafOf(Graph &graph, const Value &value, uint64_t visit) {
  Node &source = *value.node;
  if (source.visit != visit) {
    source.visit = visit;
    source.position = static_cast<uint32_t>(graph.leaves.size());
    // The sync that is computing it owns it too.
    bool isDead = !isHeld(source, source.state == Node::State::Running);
    for (uint32_t result = 0; result < source.resultCount(); ++result)
      if (const TensorType *type = source.resultType(result))
        graph.addLeaf({&source, result, type, isDead});
  }
  uint32_t number = source.position;
  for (uint32_t result = 0; result < value.result; ++result)
    number += source.resultType(result) != nullptr;
  return number;
}

static uint64_t wordOf(Graph &graph, const Value &value, uint64_t visit) {
  const Node &source = *value.node;
  bool isListed = source.visit == visit && source.state == Node::State::Pending;
  return isListed ? operandWord(false, source.position, value.result)
                  : operandWord(true, leafOf(graph, value, visit), 0);
}

Graph graphOf(const NodeList &nodes, uint64_t visit, c10::ArrayRef<Value> chosen) {
  Graph graph;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->visit = visit;
    nodes[i]->position = i;
    nodes[i]->readers = 0;
    for (const Value &operand : nodes[i]->operands) // earlier nodes, which are set, or leaves
      if (operand.node->visit != visit)
        operand.node->readers = 0;
  }
  for (const Reference<Node> &node : nodes)
    for (const Value &operand : node->operands)
      ++operand.node->readers;
  for (const Reference<Node> &node : nodes) {
    graph.addNode(*node->call, chosen.empty() && isHeld(*node, true), node->line);
    for (const Value &operand : node->operands)
      graph.addOperand(wordOf(graph, operand, visit));
  }
  for (const Value &value : chosen)
    graph.outputs.push_back(wordOf(graph, value, visit));
  return graph;
}

std::vector<bool> neededNodes(const NodeList &nodes, c10::ArrayRef<Value> chosen, uint64_t visit) {
  for (const Value &value : chosen)
    value.node->visit = visit;
  std::vector<bool> isNeeded(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) // readers come after what they read
    if (nodes[i]->visit == visit) {
      isNeeded[i] = true;
      for (const Value &operand : nodes[i]->operands)
        operand.node->visit = visit;
    }
  return isNeeded;
}

} // namespace torchere::lazy
