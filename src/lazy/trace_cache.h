// TraceCache: from a graph of calls to the program that computes it; each graph is lowered and compiled once.
#pragma once

#include "artifact/bundle.h"
#include "lazy/graph.h"
#include "runtime/client.h"
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
  /// The client of the plugin that is chosen by PJRT_DEVICE, else of the CPU's.
  Result<std::shared_ptr<runtime::Client>> client();
  Result<const runtime::Device *> runtimeDevice();
  int64_t size();

private:
  struct Entry {
    std::vector<uint64_t> words;
    std::vector<Reference<const Call>> calls; ///< whose addresses are among the words
    std::shared_ptr<session::Session> session;
    int64_t deadBytes; ///< of the arrays that could be overwritten when it was compiled
    uint64_t hash;
  };
  using Entries = std::list<Entry>;
  Entries::iterator findEntry(const Graph &graph, uint64_t hash);
  Result<std::shared_ptr<session::Session>> compile(const Graph &graph);
  void evict();

  const c10::DeviceIndex device;
  std::mutex clientMutex;
  std::shared_ptr<runtime::Client> pluginClient;
  std::mutex mutex; ///< held while a program is compiled
  Entries entries;  ///< the most recently used first
  std::unordered_multimap<uint64_t, Entries::iterator> byHash;
};

/// The program of a graph, lowered: a bundle of one function.
Result<std::shared_ptr<artifact::Bundle>> exportGraph(const Graph &graph);

} // namespace torchere::lazy
