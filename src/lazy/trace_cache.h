// TraceCache: from a graph of calls to the program that computes it; each graph is lowered and compiled once.
#pragma once

#include "lazy/graph.h"
#include "session/session.h"

#include <c10/core/Device.h>

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace torchere::lazy {

/// Used from any thread.
class TraceCache {
public:
  explicit TraceCache(c10::DeviceIndex device) : device(device) {}

  /// The program of the graph, compiled. It is found again for an equal graph, until it is evicted as the
  /// least recently used one. Compiled with the donations that the graph allows; again if an equal graph
  /// allows many more.
  Result<std::shared_ptr<session::Session>> find(const Graph &graph);
  int64_t size();

private:
  struct Entry {
    /// What identifies the graph; kept, so that no other object gets an address that is compared.
    std::vector<Reference<const Call>> calls;
    std::vector<uint64_t> operands;
    std::vector<std::pair<uint32_t, uint32_t>> results;
    std::vector<Reference<const TensorType>> types; ///< of the leaves
    std::shared_ptr<session::Session> session;
    int64_t deadBytes; ///< of the arrays that could be overwritten when it was compiled
    uint64_t hash;

    bool isOf(const Graph &graph) const;
  };
  using Entries = std::list<Entry>;
  Entries::iterator findEntry(const Graph &graph, uint64_t hash);
  Result<std::shared_ptr<session::Session>> compile(const Graph &graph, bool isNew);
  void evict();

  const c10::DeviceIndex device;
  std::mutex mutex; ///< held while a program is compiled
  Entries entries;  ///< the most recently used first
  std::unordered_multimap<uint64_t, Entries::iterator> byHash;
};

} // namespace torchere::lazy
