// Graphs and their parts.
#include "lazy/graph.h"

#include <algorithm>
#include <numeric>

namespace torchere::lazy {

/// Most ops have at most two operands.
void Graph::reserve(size_t nodes) {
  calls.reserve(nodes);
  lines.reserve(nodes);
  isWanted.reserve(nodes);
  firstOperand.reserve(nodes);
  operands.reserve(2 * nodes);
}

void Graph::addNode(const Call &call, const SourceLine *line) {
  calls.push_back(&call);
  lines.push_back(line);
  isWanted.push_back(false);
  firstOperand.push_back(static_cast<uint32_t>(operands.size()));
}

void Graph::want(uint32_t node) {
  isWanted[node] = true;
  const Call &call = *calls[node];
  for (uint32_t result = 0; result < call.results.size(); ++result)
    if (call.results[result]) {
      results.emplace_back(node, result);
      outputs.push_back(operandWord(false, node, result));
    }
}

std::pair<const uint64_t *, const uint64_t *> Graph::operandsOf(uint32_t node) const {
  size_t end = node + 1 < firstOperand.size() ? firstOperand[node + 1] : operands.size();
  return {operands.data() + firstOperand[node], operands.data() + end};
}

std::vector<uint32_t> partsOf(const Graph &graph) {
  std::vector<uint32_t> parent(graph.calls.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto root = [&](uint32_t node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  };
  for (uint32_t node = 0; node < parent.size(); ++node)
    for (auto [word, end] = graph.operandsOf(node); word != end; ++word)
      if (!isLeafWord(*word)) {
        uint32_t a = root(node), b = root(numberIn(*word));
        parent[std::max(a, b)] = std::min(a, b);
      }
  std::vector<uint32_t> parts(parent.size());
  uint32_t count = 0;
  for (uint32_t node = 0; node < parent.size(); ++node) {
    uint32_t first = root(node); // the least of its part
    parts[node] = first == node ? count++ : parts[first];
  }
  return parts;
}

uint32_t partCount(const std::vector<uint32_t> &parts) {
  return parts.empty() ? 0 : *std::ranges::max_element(parts) + 1;
}

std::vector<bool> dependents(const Graph &graph, const std::vector<bool> &leaves) {
  std::vector<bool> depends(graph.calls.size());
  for (uint32_t node = 0; node < depends.size(); ++node)
    for (auto [word, end] = graph.operandsOf(node); word != end; ++word)
      if (isLeafWord(*word) ? leaves[numberIn(*word)] : depends[numberIn(*word)])
        depends[node] = true;
  return depends;
}

Graph subgraph(const Graph &graph, const std::vector<bool> &isKept, std::vector<uint32_t> &kept) {
  Graph part;
  constexpr uint32_t absent = ~0u;
  std::vector<uint32_t> nodes(graph.calls.size(), absent), leaves(graph.leaves.size(), absent);
  for (uint32_t node = 0; node < graph.calls.size(); ++node) {
    if (!isKept[node])
      continue;
    nodes[node] = static_cast<uint32_t>(kept.size());
    kept.push_back(node);
    part.addNode(*graph.calls[node], graph.lines[node]);
    if (graph.isWanted[node])
      part.want(nodes[node]);
    for (auto [word, end] = graph.operandsOf(node); word != end; ++word) {
      uint32_t number = numberIn(*word);
      if (isLeafWord(*word) && leaves[number] == absent) {
        leaves[number] = static_cast<uint32_t>(part.leaves.size());
        Leaf leaf = graph.leaves[number];
        leaf.isDead = false;
        part.leaves.push_back(leaf);
      }
      part.operands.push_back(isLeafWord(*word) ? operandWord(true, leaves[number], 0)
                                                : operandWord(false, nodes[number], resultIn(*word)));
    }
  }
  return part;
}

} // namespace torchere::lazy
