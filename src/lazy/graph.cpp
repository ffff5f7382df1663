// Graphs and their parts.
#include "lazy/graph.h"

#include <algorithm>
#include <numeric>

namespace torchere::lazy {

void Graph::addNode(const Call &call, bool wanted, const SourceLine *line) {
  auto number = static_cast<uint32_t>(calls.size());
  calls.push_back(&call);
  lines.push_back(line);
  isWanted.push_back(wanted);
  firstOperand.push_back(static_cast<uint32_t>(operands.size()));
  words.push_back(reinterpret_cast<uintptr_t>(&call));
  words.push_back(wanted);
  if (!wanted)
    return;
  for (uint32_t result = 0; result < call.results.size(); ++result)
    if (call.results[result]) {
      results.emplace_back(number, result);
      outputs.push_back(operandWord(false, number, result));
    }
}

void Graph::addLeaf(const Leaf &leaf) {
  leaves.push_back(leaf);
  words.push_back(reinterpret_cast<uintptr_t>(leaf.type));
}

void Graph::addOperand(uint64_t word) {
  operands.push_back(word);
  words.push_back(word);
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
    part.addNode(*graph.calls[node], graph.isWanted[node], graph.lines[node]);
    for (auto [word, end] = graph.operandsOf(node); word != end; ++word) {
      uint32_t number = numberIn(*word);
      if (isLeafWord(*word) && leaves[number] == absent) {
        leaves[number] = static_cast<uint32_t>(part.leaves.size());
        Leaf leaf = graph.leaves[number];
        leaf.isDead = false;
        part.addLeaf(leaf);
      }
      part.addOperand(isLeafWord(*word) ? operandWord(true, leaves[number], 0)
                                        : operandWord(false, nodes[number], resultIn(*word)));
    }
  }
  return part;
}

} // namespace torchere::lazy
