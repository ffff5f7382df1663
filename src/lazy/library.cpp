// The functions that Python and C++ programs call by name, as torch.ops.torchere_lazy.
#include "lazy/tensor.h"

#include <torch/csrc/lazy/core/metrics.h>
#include <torch/library.h>

#include <ATen/core/Dict.h>

namespace torchere::lazy {

static void sync(int64_t device) {
  Device::get(static_cast<c10::DeviceIndex>(device)).sync();
}

static c10::Dict<std::string, int64_t> counters() {
  c10::Dict<std::string, int64_t> values;
  for (const std::string &name : torch::lazy::GetCounterNames())
    if (const torch::lazy::CounterData *counter = torch::lazy::GetCounter(name))
      values.insert(name, counter->Value());
  return values;
}

static void resetCounters() {
  torch::lazy::MetricsArena::Get()->ResetCounters();
}

TORCH_LIBRARY(torchere_lazy, library) {
  library.def("sync(int device) -> ()", &sync);
  library.def("counters() -> Dict(str, int)", &counters);
  library.def("reset_counters() -> ()", &resetCounters);
}

} // namespace torchere::lazy
