// Which pending nodes a sync computes, and their graph.
#pragma once

#include "lazy/graph.h"
#include "lazy/node.h"

#include <vector>

namespace torchere::lazy {

/// Nodes in the order of their creation.
using NodeList = std::vector<Reference<Node>>;

/// What a sync by `thread` computes of the pending nodes: what it recorded, and what threads left that have
/// ended, with everything that is connected to these nodes by operands, and to the node that is wanted (which
/// may be null). So threads that work on tensors of their own compute programs of their own, the same each
/// time, however their ops come in between those of others. `visit` is a new number of a visit.
std::vector<bool> selectNodes(const NodeList &nodes, ThreadMark thread, const Node *wanted, uint64_t visit);

/// Moves out of a list what is not kept, and returns it.
NodeList takeOut(NodeList &nodes, const std::vector<bool> &isKept);

/// The graph of the nodes, each owned once by the list. A node's results are wanted, and a leaf is not dead,
/// if it has owners besides the nodes. `chosen` replaces the outputs. Gives the nodes positions.
Graph graphOf(const NodeList &nodes, uint64_t visit, c10::ArrayRef<Value> chosen = {});

/// The nodes that values need; `visit` is a new number.
std::vector<bool> neededNodes(const NodeList &nodes, c10::ArrayRef<Value> chosen, uint64_t visit);

} // namespace torchere::lazy
