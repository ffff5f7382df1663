// Compilation and execution of what a sync took, part by part where one fails.
#include "lazy/computation.h"

#include "lazy/range.h"

#include <torch/csrc/lazy/core/metrics.h>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace torchere::lazy {

Computation::Computation(const ComputationContext &context, NodeList nodes, Graph graph)
    : context(context), nodes(std::move(nodes)), whole(std::move(graph)) {
  if (at::hasThreadLocalCallbacks())
    profiled.emplace();
}

std::string Computation::prepare() {
  std::vector<uint32_t> members(nodes.size());
  std::iota(members.begin(), members.end(), 0);
  prepare(std::move(whole), std::move(members));
  return firstError;
}

void Computation::prepare(Graph graph, std::vector<uint32_t> members) {
  if (failDependents(graph, members))
    return;
  if (graph.outputs.empty())
    return finish(members, graph, {});
  Result<std::shared_ptr<session::Session>> session;
  try {
    session = context.traces.find(graph);
  } catch (const std::exception &exception) {
    session = torchere::fail(ErrorCode::Internal, "{}", exception.what());
  }
  if (session)
    parts.push_back({std::move(graph), std::move(members), *std::move(session)});
  else if (!split(graph, members))
    fail(members, session.error().text());
}

/// Nodes that read a value which could not be computed fail with its error. Prepares the others then.
bool Computation::failDependents(const Graph &graph, const std::vector<uint32_t> &members) {
  std::vector<bool> isFailed(graph.leaves.size());
  std::shared_ptr<const std::string> failure;
  {
    std::lock_guard lock(context.mutex);
    for (size_t leaf = 0; leaf < graph.leaves.size(); ++leaf)
      if (const auto &known = graph.leaves[leaf].node->failure; known && (!failure || failure == known)) {
        failure = known;
        isFailed[leaf] = true;
      }
  }
  return failure && failReaders(graph, members, isFailed, *failure);
}

/// The nodes that read some leaves fail, and the others are prepared. False if no leaf is given.
bool Computation::failReaders(const Graph &graph, const std::vector<uint32_t> &members,
                              const std::vector<bool> &leaves, const std::string &text) {
  if (std::ranges::find(leaves, true) == leaves.end())
    return false;
  std::vector<bool> depends = dependents(graph, leaves);
  std::vector<uint32_t> failed;
  for (size_t node = 0; node < members.size(); ++node)
    if (depends[node])
      failed.push_back(members[node]);
  fail(failed, text);
  depends.flip();
  prepareSome(graph, members, depends);
  return true;
}

void Computation::prepareSome(const Graph &graph, const std::vector<uint32_t> &members,
                              const std::vector<bool> &isKept) {
  std::vector<uint32_t> kept;
  Graph part = subgraph(graph, isKept, kept);
  for (uint32_t &node : kept)
    node = members[node];
  if (!kept.empty())
    prepare(std::move(part), std::move(kept));
}

/// Prepares two halves that have nothing in common. False for a graph that is in one piece.
bool Computation::split(const Graph &graph, const std::vector<uint32_t> &members) {
  std::vector<uint32_t> pieces = partsOf(graph);
  uint32_t count = partCount(pieces);
  if (count < 2)
    return false;
  std::vector<bool> isFirst;
  for (uint32_t piece : pieces)
    isFirst.push_back(piece < count / 2);
  prepareSome(graph, members, isFirst);
  isFirst.flip();
  prepareSome(graph, members, isFirst);
  return true;
}

void Computation::run() {
  std::optional<at::ThreadLocalStateGuard> guard;
  if (profiled)
    guard.emplace(*profiled);
  while (!parts.empty()) {
    Part part = std::move(parts.front());
    parts.pop_front();
    if (failDependents(part.graph, part.members)) // what an earlier computation was to compute has failed
      continue;
    std::vector<bool> isLost(part.graph.leaves.size());
    Result<std::vector<session::DeviceTensor>> arrays;
    try {
      arrays = execute(part, isLost);
    } catch (const std::exception &exception) {
      arrays = torchere::fail(ErrorCode::Internal, "{}", exception.what());
    }
    if (arrays)
      finish(part.members, part.graph, *std::move(arrays));
    else if (!failReaders(part.graph, part.members, isLost, arrays.error().text()) &&
             !split(part.graph, part.members))
      fail(part.members, arrays.error().text());
  }
  for (const Reference<Node> &node : nodes)
    node->operands.clear(); // without the lock: of a computed node nobody reads them
  nodes.clear();
}

/// `isLost` is set for the leaves whose memory was given to the execution.
Result<std::vector<session::DeviceTensor>> Computation::execute(const Part &part, std::vector<bool> &isLost) {
  std::vector<session::Input> inputs;
  std::vector<uint8_t> isDonated;
  {
    std::lock_guard lock(context.mutex);
    for (const Leaf &leaf : part.graph.leaves) {
      const session::DeviceTensor &array = leaf.node->arrays[leaf.result];
      isDonated.push_back(leaf.isDead && array.use_count() == 1); // the node's own reference
      inputs.emplace_back(array);
    }
  }
  // Whoever had the array before has read it before it is overwritten.
  std::atomic_thread_fence(std::memory_order_acquire);
  TORCHERE_LAZY_RANGE("lazy::execute", "ExecuteTime");
  auto called = part.session->call(0, inputs, {.onDevice = true, .donated = isDonated});
  for (size_t i = 0; i < inputs.size(); ++i)
    isLost[i] = isDonated[i] && std::get<session::DeviceTensor>(inputs[i])->isDeleted();
  TORCH_LAZY_COUNTER("DonatedArrays", std::ranges::count(isLost, true));
  TORCHERE_ASSIGN(session::CallResult result, std::move(called));
  std::vector<session::DeviceTensor> arrays(part.graph.outputs.size());
  for (const session::OutputTensor &output : result.outputs) {
    session::DeviceTensor array = output.onDevice();
    if (array->isComputed())
      TORCHERE_TRY(array->wait()); // some plugins tell of a failure by the arrays alone
    arrays.at(static_cast<size_t>(output.position)) = std::move(array);
  }
  return arrays;
}

void Computation::fail(const std::vector<uint32_t> &members, const std::string &text) {
  if (firstError.empty())
    firstError = text;
  auto failure = std::make_shared<const std::string>(text);
  std::lock_guard lock(context.mutex);
  for (uint32_t member : members) {
    nodes[member]->failure = failure;
    nodes[member]->state = Node::State::Computed;
  }
  context.computed.notify_all();
}

void Computation::finish(const std::vector<uint32_t> &members, const Graph &graph,
                         std::vector<session::DeviceTensor> arrays) {
  std::lock_guard lock(context.mutex);
  for (uint32_t member : members) {
    nodes[member]->arrays.resize(nodes[member]->resultCount());
    nodes[member]->state = Node::State::Computed;
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    nodes[members[graph.results[i].first]]->arrays[graph.results[i].second] = std::move(arrays[i]);
  context.computed.notify_all();
}

} // namespace torchere::lazy
