// TraceCache: from a graph of calls to the program that computes it; each graph is lowered and compiled once.
#pragma once

#include "lazy/call.h"
#include "lazy/source_line.h"
#include "runtime/client.h"
#include "session/session.h"

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace torchere::lazy {

/// Pending nodes in the order of their creation. An operand is the result of an earlier node or a leaf.
struct Graph {
  /// What identifies the graph: for each node the address of its call, whether its results are wanted, and
  /// for each operand a word (see operandWord).
  std::vector<uint64_t> words;
  std::vector<const Call *> calls;
  std::vector<uint32_t> firstOperand;    ///< by node: where its operands begin in `operands`
  std::vector<uint64_t> operands;        ///< the operands' words
  std::vector<bool> isWanted;            ///< by node
  std::vector<const SourceLine *> lines; ///< by node; null where none is known
  std::vector<const TensorType *> leafTypes;
  std::vector<session::DeviceTensor> leaves;
  std::vector<std::pair<uint32_t, uint32_t>> results; ///< the wanted ones: node and result
  std::vector<uint64_t> outputs; ///< of the program: the words of `results`, or of chosen values
};

/// A leaf, or a result of a node, by its number.
inline uint64_t operandWord(bool isLeaf, uint32_t number, uint32_t result) {
  return uint64_t{isLeaf} << 63 | uint64_t{result} << 32 | number;
}

class TraceCache {
public:
  explicit TraceCache(c10::DeviceIndex device) : device(device) {}

  /// Computes the graph's results; returns before they are there.
  Result<std::vector<session::DeviceTensor>> run(const Graph &graph);
  /// The client of the plugin that is chosen by PJRT_DEVICE, else of the CPU's.
  Result<std::shared_ptr<runtime::Client>> client();
  Result<const runtime::Device *> runtimeDevice();

private:
  struct Entry {
    std::vector<uint64_t> words;
    std::shared_ptr<session::Session> session;
  };
  Result<std::shared_ptr<session::Session>> find(const Graph &graph);

  const c10::DeviceIndex device;
  std::shared_ptr<runtime::Client> pluginClient;
  std::unordered_multimap<uint64_t, Entry> entries;
};

} // namespace torchere::lazy
