// Computation: the nodes that a sync took, on their way to arrays.
#pragma once

#include "lazy/collection.h"
#include "lazy/trace_cache.h"

#include <ATen/ThreadLocalState.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace torchere::lazy {

/// What computations share with the device.
struct ComputationContext {
  TraceCache &traces;
  std::mutex &mutex;                 ///< guards nodes
  std::condition_variable &computed; ///< notified when nodes are
};

/// A part that cannot be compiled or run fails alone: its nodes, and those that read them, keep its error.
class Computation {
public:
  /// The nodes' state is Running. They are Computed when the computation has run.
  Computation(const ComputationContext &context, NodeList nodes, Graph graph);

  /// Finds or compiles the programs. Returns the first error; empty if there is none.
  std::string prepare();
  void run();

private:
  /// A part of the graph, the numbers of its nodes in `nodes`, and its program.
  struct Part {
    Graph graph;
    std::vector<uint32_t> members;
    std::shared_ptr<session::Session> session;
  };
  void prepare(Graph graph, std::vector<uint32_t> members);
  bool failDependents(const Graph &graph, const std::vector<uint32_t> &members);
  bool split(const Graph &graph, const std::vector<uint32_t> &members);
  void prepareSome(const Graph &graph, const std::vector<uint32_t> &members, const std::vector<bool> &isKept);
  bool failReaders(const Graph &graph, const std::vector<uint32_t> &members, const std::vector<bool> &leaves,
                   const std::string &text);
  Result<std::vector<session::DeviceTensor>> execute(const Part &part, std::vector<bool> &isLost);
  void fail(const std::vector<uint32_t> &members, const std::string &text);
  void finish(const std::vector<uint32_t> &members, const Graph &graph,
              std::vector<session::DeviceTensor> arrays);

  ComputationContext context;
  NodeList nodes;
  Graph whole;
  std::deque<Part> parts;
  std::optional<at::ThreadLocalState> profiled; ///< of the thread that made it, for its profiler
  std::string firstError;
};

} // namespace torchere::lazy
