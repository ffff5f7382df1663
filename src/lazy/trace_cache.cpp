// Lowering, compilation and execution of traced graphs.
#include "lazy/trace_cache.h"

#include "lazy/compilation_log.h"
#include "lazy/lowered_program.h"
#include "lazy/plugin_client.h"
#include "lazy/program_writer.h"
#include "lazy/range.h"
#include "lazy/region.h"

#include <torch/csrc/lazy/core/metrics.h>

#include <bit>

namespace torchere::lazy {

static uint64_t hashOf(const std::vector<uint64_t> &words) {
  uint64_t hash = words.size();
  for (uint64_t word : words)
    hash = std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
  return hash;
}

Result<std::shared_ptr<session::Session>> TraceCache::find(const Graph &graph) {
  uint64_t hash = hashOf(graph.words);
  TORCHERE_TRY(countGraphOfRegion(hash));
  auto [first, last] = entries.equal_range(hash);
  for (; first != last; ++first)
    if (first->second.words == graph.words) {
      TORCH_LAZY_COUNTER("CachedCompile", 1);
      return first->second.session;
    }
  TORCH_LAZY_COUNTER("UncachedCompile", 1);
  TORCHERE_ASSIGN(program::Program program, writeProgram(graph));
  TORCHERE_ASSIGN(auto bundle, lowered(program));
  CompilationLog::get().add(std::move(program), *bundle);
  TORCHERE_ASSIGN(auto plugin, pluginClient());
  TORCHERE_ASSIGN(const runtime::Device *target, pluginDevice(device));
  TORCHERE_ASSIGN(auto session, session::Session::create(std::move(plugin), std::move(bundle), target->id));
  entries.emplace(hash, Entry{graph.words, session});
  return session;
}

/// The first call of a session compiles.
static Result<session::CallResult> called(session::Session &session, std::span<const session::Input> inputs) {
  if (session.counts(0).calls == 0) {
    TORCHERE_LAZY_RANGE("lazy::compile", "CompileTime");
    return session.call(0, inputs, {.onDevice = true});
  }
  TORCHERE_LAZY_RANGE("lazy::execute", "ExecuteTime");
  return session.call(0, inputs, {.onDevice = true});
}

Result<std::vector<session::DeviceTensor>> TraceCache::run(const Graph &graph) {
  TORCHERE_ASSIGN(auto session, find(graph));
  std::vector<session::Input> inputs(graph.leaves.begin(), graph.leaves.end());
  TORCHERE_ASSIGN(session::CallResult result, called(*session, inputs));
  std::vector<session::DeviceTensor> arrays(graph.results.size());
  for (const session::OutputTensor &output : result.outputs)
    arrays.at(static_cast<size_t>(output.position)) = output.onDevice();
  return arrays;
}

} // namespace torchere::lazy
