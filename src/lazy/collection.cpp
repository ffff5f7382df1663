// The choice of pending nodes, and the graph that they are.
#include "lazy/collection.h"

#include <algorithm>

namespace torchere::lazy {

/// Gives the nodes positions, and adds the words between them alone.
static Graph structureOf(const NodeList &nodes, uint64_t visit) {
  Graph graph;
  graph.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->visit = visit;
    nodes[i]->position = i;
    graph.addNode(*nodes[i]->call, nullptr);
    for (const Value &operand : nodes[i]->operands)
      if (operand.node->visit == visit)
        graph.operands.push_back(operandWord(false, operand.node->position, operand.result));
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

NodeList takeOut(NodeList &nodes, const std::vector<bool> &isKept) {
  NodeList others;
  size_t kept = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!isKept[i])
      others.push_back(std::move(nodes[i]));
    else if (kept++ != i)
      nodes[kept - 1] = std::move(nodes[i]);
  nodes.resize(kept);
  return others;
}

/// The number of a leaf. The results of a node have numbers that follow each other.
static uint32_t leafOf(Graph &graph, const Value &value, uint64_t visit) {
  Node &source = *value.node;
  if (source.visit != visit) {
    source.visit = visit;
    source.position = static_cast<uint32_t>(graph.leaves.size());
    source.readers = 0;
    for (uint32_t result = 0; result < source.resultCount(); ++result)
      if (const TensorType *type = source.resultType(result))
        graph.leaves.push_back({&source, result, type});
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
  graph.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Node &node = *nodes[i];
    node.visit = visit;
    node.position = i;
    node.readers = 0;
    graph.addNode(*node.call, node.line);
    for (const Value &operand : node.operands) { // an earlier node, or a leaf
      graph.operands.push_back(wordOf(graph, operand, visit));
      ++operand.node->readers;
    }
  }
  for (Leaf &leaf : graph.leaves) // the sync that is computing it owns it too
    leaf.isDead = !isHeld(*leaf.node, leaf.node->state == Node::State::Running);
  if (chosen.empty())
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (isHeld(*nodes[i], true))
        graph.want(i);
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
