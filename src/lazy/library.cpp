// The functions that Python and C++ programs call by name, as torch.ops.torchere_lazy.
#include "lazy/generator.h"
#include "lazy/settings.h"
#include "lazy/tensor.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/lazy/core/metrics.h>
#include <torch/library.h>

#include <ATen/core/Dict.h>

namespace torchere::lazy {

static void sync(int64_t device) {
  Device::get(static_cast<c10::DeviceIndex>(device)).sync();
}

static c10::Dict<std::string, int64_t> dictionaryOf(const std::map<std::string, int64_t> &values) {
  c10::Dict<std::string, int64_t> made;
  for (const auto &[name, value] : values)
    made.insert(name, value);
  return made;
}

static c10::Dict<std::string, int64_t> statistics(int64_t device) {
  return dictionaryOf(Device::get(static_cast<c10::DeviceIndex>(device)).statistics());
}

static c10::Dict<std::string, int64_t> limits() {
  return dictionaryOf(settings());
}

static c10::Dict<std::string, int64_t> counters() {
  c10::Dict<std::string, int64_t> values;
  for (const std::string &name : torch::lazy::GetCounterNames())
    if (const torch::lazy::CounterData *counter = torch::lazy::GetCounter(name))
      values.insert(name, counter->Value());
  return values;
}

static at::Generator defaultGenerator(int64_t device) {
  c10::impl::VirtualGuardImpl guard(c10::DeviceType::XLA);
  return Generator::defaultOf(device < 0 ? guard.getDevice().index() : static_cast<c10::DeviceIndex>(device));
}

static at::Tensor generatorState(const std::optional<at::Generator> &generator) {
  TORCH_CHECK(generator && generator->device().is_xla(), "[xla.get_rng_state] no generator of the device");
  return generator->get<Generator>()->deviceState();
}

/// The seed of every device's generator, of those that no op has drawn from as well.
static void seedAll(int64_t seed) {
  Generator::seedAll(static_cast<uint64_t>(seed));
}

static void resetCounters() {
  torch::lazy::MetricsArena::Get()->ResetCounters();
}

TORCH_LIBRARY(torchere_lazy, library) {
  library.def("sync(int device) -> ()", &sync);
  library.def("statistics(int device) -> Dict(str, int)", &statistics);
  library.def("limits() -> Dict(str, int)", &limits);
  library.def("set_limit(str name, int value) -> ()", &changeSetting);
  library.def("counters() -> Dict(str, int)", &counters);
  library.def("default_generator(int device) -> Generator?", &defaultGenerator);
  library.def("generator_state(Generator? generator) -> Tensor", &generatorState);
  library.def("seed_all(int seed) -> ()", &seedAll);
  library.def("reset_counters() -> ()", &resetCounters);
}

} // namespace torchere::lazy
