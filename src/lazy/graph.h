// Graph: what a sync computes, as data that is compared, taken apart and lowered.
#pragma once

#include "lazy/call.h"
#include "lazy/source_line.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace torchere::lazy {

struct Node;

/// A result of a node that an earlier sync computes, or an array that came from the host.
struct Leaf {
  Node *node = nullptr;
  uint32_t result = 0;
  const TensorType *type = nullptr; ///< interned
  /// Nobody can read it after this graph, which may overwrite it.
  bool isDead = false;
};

/// Pending nodes in the order of their creation. An operand is the result of an earlier node or a leaf.
struct Graph {
  // What identifies the graph: the calls, the operands, the results, and the leaves' types, as no call
  // mentions the types of results that nobody reads.
  std::vector<const Call *> calls;
  std::vector<uint32_t> firstOperand; ///< by node: where its operands begin in `operands`
  std::vector<uint64_t> operands;     ///< see operandWord
  std::vector<bool> isWanted;         ///< by node: whether anyone but the graph's nodes can read its results
  std::vector<const SourceLine *> lines; ///< by node; null where none is known
  std::vector<Leaf> leaves;
  std::vector<std::pair<uint32_t, uint32_t>> results; ///< the wanted ones: node and result
  std::vector<uint64_t> outputs; ///< of the program: the words of `results`, or of chosen values

  void reserve(size_t nodes);
  void addNode(const Call &call, const SourceLine *line);
  /// The results of a node are wanted. Called in the order of nodes.
  void want(uint32_t node);
  std::pair<const uint64_t *, const uint64_t *> operandsOf(uint32_t node) const;
};

/// A leaf, or a result of a node, by its number.
inline uint64_t operandWord(bool isLeaf, uint32_t number, uint32_t result) {
  return uint64_t{isLeaf} << 63 | uint64_t{result} << 32 | number;
}
inline bool isLeafWord(uint64_t word) {
  return (word >> 63) != 0;
}
inline uint32_t numberIn(uint64_t word) {
  return static_cast<uint32_t>(word);
}
inline uint32_t resultIn(uint64_t word) {
  return static_cast<uint32_t>(word >> 32) & 0x7fffffff;
}

/// For each node the number of its part: nodes are in one part if one reads the other, or both are read by
/// one. Parts are numbered from 0 by their first node.
std::vector<uint32_t> partsOf(const Graph &graph);
uint32_t partCount(const std::vector<uint32_t> &parts);

/// The nodes that read one of the leaves, or a node that does.
std::vector<bool> dependents(const Graph &graph, const std::vector<bool> &leaves);

/// Some nodes of a graph, with all that they read. `kept` gives the number in the graph of each of its nodes.
/// None of its leaves may be overwritten: the other nodes may read them.
Graph subgraph(const Graph &graph, const std::vector<bool> &isKept, std::vector<uint32_t> &kept);

} // namespace torchere::lazy
