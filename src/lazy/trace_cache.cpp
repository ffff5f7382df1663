// Lowering and compilation of traced graphs.
#include "lazy/trace_cache.h"

#include "lazy/compilation_log.h"
#include "lazy/donation.h"
#include "lazy/lowered_program.h"
#include "lazy/plugin_client.h"
#include "lazy/program_writer.h"
#include "lazy/range.h"
#include "lazy/region.h"
#include "lazy/settings.h"

#include <torch/csrc/lazy/core/metrics.h>

#include <algorithm>
#include <array>
#include <bit>

namespace torchere::lazy {

int64_t TraceCache::size() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(entries.size());
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
  return std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
}

/// Of the elements' words, in chains that the processor computes side by side.
template <class Elements, class Word> static uint64_t hashOf(const Elements &elements, Word word) {
  std::array<uint64_t, 4> chains = {1, 2, 3, elements.size()};
  size_t i = 0;
  for (; i + chains.size() <= elements.size(); i += chains.size())
    for (size_t chain = 0; chain < chains.size(); ++chain)
      chains[chain] = mixed(chains[chain], word(elements[i + chain]));
  for (; i < elements.size(); ++i)
    chains[0] = mixed(chains[0], word(elements[i]));
  return mixed(mixed(chains[0], chains[1]), mixed(chains[2], chains[3]));
}

static uint64_t hashOf(const Graph &graph) {
  uint64_t hash = hashOf(graph.calls, [](const Call *call) { return std::bit_cast<uintptr_t>(call); });
  hash = mixed(hash, hashOf(graph.operands, [](uint64_t word) { return word; }));
  hash = mixed(hash, hashOf(graph.outputs, [](uint64_t word) { return word; }));
  return mixed(hash,
               hashOf(graph.leaves, [](const Leaf &leaf) { return std::bit_cast<uintptr_t>(leaf.type); }));
}

bool TraceCache::Entry::isOf(const Graph &graph) const {
  return operands == graph.operands && results == graph.results &&
         std::ranges::equal(calls, graph.calls, {}, &Reference<const Call>::get) &&
         std::ranges::equal(types, graph.leaves, {}, &Reference<const TensorType>::get, &Leaf::type);
}

static int64_t deadBytesOf(const Graph &graph) {
  int64_t bytes = 0;
  for (const Leaf &leaf : graph.leaves)
    if (leaf.isDead)
      bytes += byteSizeOf(*leaf.type);
  return bytes;
}

/// Values of the leaves' types, for a compilation before the arrays are there.
static Result<std::vector<session::Input>> inputTypes(const Graph &graph) {
  std::vector<session::Input> inputs;
  for (const Leaf &leaf : graph.leaves) {
    session::TensorView view;
    TORCHERE_ASSIGN(view.dtype, programDType(leaf.type->dtype));
    view.shape = leaf.type->sizes;
    inputs.emplace_back(view);
  }
  return inputs;
}

Result<std::shared_ptr<session::Session>> TraceCache::compile(const Graph &graph, bool isNew) {
  TORCHERE_ASSIGN(program::Program program, writeProgram(graph));
  TORCHERE_ASSIGN(auto bundle, lowered(program));
  if (isNew)
    CompilationLog::get().add(std::move(program), *bundle);
  TORCHERE_LAZY_RANGE("lazy::compile", "CompileTime");
  TORCHERE_ASSIGN(auto plugin, pluginClient());
  TORCHERE_ASSIGN(const runtime::Device *target, pluginDevice(device));
  TORCHERE_ASSIGN(auto session, session::Session::create(std::move(plugin), std::move(bundle), target->id));
  TORCHERE_TRY(session->donateInputs(0, findDonations(graph)));
  TORCHERE_ASSIGN(std::vector<session::Input> inputs, inputTypes(graph));
  TORCHERE_TRY(session->prepare(0, inputs));
  return session;
}

TraceCache::Entries::iterator TraceCache::findEntry(const Graph &graph, uint64_t hash) {
  auto [first, last] = byHash.equal_range(hash);
  for (; first != last; ++first)
    if (first->second->isOf(graph))
      return first->second;
  return entries.end();
}

void TraceCache::evict() {
  auto limit = static_cast<size_t>(setting(Setting::Programs));
  while (entries.size() > limit) {
    auto [first, last] = byHash.equal_range(entries.back().hash);
    auto oldest = std::prev(entries.end());
    byHash.erase(std::find_if(first, last, [&](const auto &known) { return known.second == oldest; }));
    entries.pop_back();
    callsWereReleased();
    TORCH_LAZY_COUNTER("EvictedProgram", 1);
  }
}

Result<std::shared_ptr<session::Session>> TraceCache::find(const Graph &graph) {
  constexpr int64_t worthACompilation = 1 << 20; // bytes that more donations save
  uint64_t hash = hashOf(graph);
  TORCHERE_TRY(countGraphOfRegion(hash));
  int64_t deadBytes = deadBytesOf(graph);
  std::lock_guard lock(mutex);
  auto entry = findEntry(graph, hash);
  if (entry != entries.end()) {
    entries.splice(entries.begin(), entries, entry);
    if (deadBytes < entry->deadBytes + worthACompilation) {
      TORCH_LAZY_COUNTER("CachedCompile", 1);
      return entry->session;
    }
    TORCH_LAZY_COUNTER("DonationCompile", 1);
    TORCHERE_ASSIGN(entry->session, compile(graph, false));
    entry->deadBytes = deadBytes;
    return entry->session;
  }
  TORCH_LAZY_COUNTER("UncachedCompile", 1);
  TORCHERE_ASSIGN(auto session, compile(graph, true));
  std::vector<Reference<const Call>> calls;
  for (const Call *call : graph.calls)
    calls.emplace_back(call);
  std::vector<Reference<const TensorType>> types;
  for (const Leaf &leaf : graph.leaves)
    types.emplace_back(leaf.type);
  entries.push_front(
      {std::move(calls), graph.operands, graph.results, std::move(types), session, deadBytes, hash});
  byHash.emplace(hash, entries.begin());
  evict();
  return session;
}

} // namespace torchere::lazy
