// What has been traced and measured, as text: the functions of torch.ops.torchere_lazy that only look.
#include "artifact/function_module.h"
#include "lazy/compilation_log.h"
#include "lazy/index_range.h"
#include "lazy/lowered_program.h"
#include "lazy/program_writer.h"
#include "lazy/result.h"
#include "lazy/values.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/lazy/core/metrics.h>
#include <torch/library.h>

#include <cstring>

namespace torchere::lazy {

/// The program that computes the tensors or, where none are given, what is pending.
static program::Program programOf(at::TensorList tensors, int64_t device) {
  std::vector<Value> values = valuesOf(tensors);
  Device &owner =
      values.empty() ? Device::get(static_cast<c10::DeviceIndex>(device)) : values.front().node->device;
  Result<program::Program> program;
  owner.readPending(values, [&](const Graph &graph) { program = writeProgram(graph); });
  return valueOf(std::move(program));
}

static artifact::Function functionOf(at::TensorList tensors, int64_t device) {
  program::Program program = programOf(tensors, device);
  artifact::Function function = valueOf(lowered(program))->functions.front();
  function.printsLocations = program.stackTraces.size() > 1; // the first is the empty one
  return function;
}

static std::string programText(at::TensorList tensors, int64_t device) {
  return programOf(tensors, device).print();
}

static std::string stablehloText(at::TensorList tensors, int64_t device) {
  return valueOf(artifact::moduleText(functionOf(tensors, device)));
}

/// Bytes, as a tensor: a str of TorchScript is text.
static at::Tensor stablehloBytecode(at::TensorList tensors, int64_t device) {
  std::string bytes =
      valueOf(artifact::moduleBytecode(functionOf(tensors, device), artifact::SaveOptions().target));
  at::Tensor made = at::empty({static_cast<int64_t>(bytes.size())}, at::TensorOptions().dtype(at::kByte));
  std::memcpy(made.mutable_data_ptr(), bytes.data(), bytes.size());
  return made;
}

static bool recordLines(bool isOn) {
  return SourceLine::record(isOn);
}

static std::string explainRecompilations(int64_t limit) {
  return CompilationLog::get().explain(static_cast<size_t>(std::max<int64_t>(limit, 0)));
}

static void dumpGraphs(std::string folder) {
  CompilationLog::get().dumpTo(folder);
}

/// The ops that were computed on the CPU are always among the counters: torch adds "aten::...".
static std::string chosenMetrics(std::vector<std::string> counters, std::vector<std::string> metrics) {
  std::erase_if(counters, [](const std::string &name) { return name.starts_with("aten::"); });
  return torch::lazy::CreateMetricReport(counters, metrics);
}

static std::string metricsReport() {
  std::vector<std::string> counters = torch::lazy::GetCounterNames();
  std::erase_if(counters,
                [](const std::string &name) { return torch::lazy::GetCounter(name)->Value() == 0; });
  return chosenMetrics(std::move(counters), torch::lazy::GetMetricNames());
}

static void resetMetrics() {
  torch::lazy::MetricsArena::Get()->ResetMetrics();
  CompilationLog::get().clear();
}

/// (count, sum, time, value, time, value, ...): of the last samples.
static std::vector<double> metricData(std::string name) {
  const torch::lazy::MetricData *metric = torch::lazy::GetMetric(name);
  if (!metric)
    return {};
  double sum = 0;
  size_t count = 0;
  std::vector<torch::lazy::Sample> samples = metric->Samples(&sum, &count);
  std::vector<double> data = {static_cast<double>(count), sum};
  for (const torch::lazy::Sample &sample : samples) {
    data.push_back(static_cast<double>(sample.timestamp_ns) * 1e-9);
    data.push_back(sample.value);
  }
  return data;
}

TORCH_LIBRARY_FRAGMENT(torchere_lazy, library) {
  library.def("program_text(Tensor[] tensors, int device) -> str", &programText);
  library.def("stablehlo_text(Tensor[] tensors, int device) -> str", &stablehloText);
  library.def("stablehlo_bytecode(Tensor[] tensors, int device) -> Tensor", &stablehloBytecode);
  library.def("record_lines(bool is_on) -> bool", &recordLines);
  library.def("read_indices(bool is_on) -> bool", &readIndices);
  library.def("explain_recompilations(int limit) -> str", &explainRecompilations);
  library.def("dump_graphs(str folder) -> ()", &dumpGraphs);
  library.def("metrics_report() -> str", &metricsReport);
  library.def("chosen_metrics(str[] counters, str[] metrics) -> str", &chosenMetrics);
  library.def("metric_data(str name) -> float[]", &metricData);
  library.def("metric_names() -> str[]", &torch::lazy::GetMetricNames);
  library.def("reset_metrics() -> ()", &resetMetrics);
}

} // namespace torchere::lazy
