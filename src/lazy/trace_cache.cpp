// Lowering, compilation and execution of traced graphs.
#include "lazy/trace_cache.h"

#include "artifact/bundle.h"
#include "exporter/exporter.h"
#include "lazy/plugin_client.h"
#include "lazy/program_writer.h"
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

static Result<std::shared_ptr<artifact::Bundle>> exported(const Graph &graph) {
  TORCHERE_ASSIGN(program::Program program, writeProgram(graph));
  TORCHERE_TRY(program.verify());
  exporter::Options options;
  options.name = "lazy";
  TORCHERE_ASSIGN(exporter::Exported lowered, exporter::exportProgram(program, options));
  auto bundle = std::make_shared<artifact::Bundle>();
  artifact::Function function;
  function.entryPoint = std::move(lowered.entryPoint);
  function.module = std::move(lowered.module);
  TORCHERE_TRY(addFunction(*bundle, std::move(function), lowered.stateDict, lowered.constants));
  return bundle;
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
  TORCHERE_ASSIGN(auto bundle, exported(graph));
  TORCHERE_ASSIGN(auto plugin, pluginClient());
  TORCHERE_ASSIGN(const runtime::Device *target, pluginDevice(device));
  TORCHERE_ASSIGN(auto session, session::Session::create(std::move(plugin), std::move(bundle), target->id));
  entries.emplace(hash, Entry{graph.words, session});
  return session;
}

Result<std::vector<session::DeviceTensor>> TraceCache::run(const Graph &graph) {
  TORCHERE_ASSIGN(auto session, find(graph));
  std::vector<session::Input> inputs(graph.leaves.begin(), graph.leaves.end());
  TORCHERE_ASSIGN(session::CallResult result, session->call(0, inputs, {.onDevice = true}));
  std::vector<session::DeviceTensor> arrays(graph.results.size());
  for (const session::OutputTensor &output : result.outputs)
    arrays.at(static_cast<size_t>(output.position)) = output.onDevice();
  return arrays;
}

Result<std::string> textOf(const Graph &graph) {
  TORCHERE_ASSIGN(auto bundle, exported(graph));
  return bundle->functions.front().module->read(
      [](const stablehlo::Module &module) { return module.text(); });
}

} // namespace torchere::lazy
