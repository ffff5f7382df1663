// The lazy device for C++ programs that use libtorch: link libtorchere_lazy.so, or open it with load().
// Tensors on torch::Device("xla") then record ops, and these functions look at what they record.
#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace torchere::lazy {

/// Opens the library that `python -m torchere.lazy build` names.
inline void load(const std::string &library) {
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw std::runtime_error(dlerror());
}

/// The function of that name in torch.ops.torchere_lazy.
template <class Signature> auto function(const std::string &name) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(("torchere_lazy::" + name).c_str(), "")
      .typed<Signature>();
}

/// Starts the computation of everything that tensors of a device show.
inline void sync(int64_t device = 0) {
  function<void(int64_t)>("sync").call(device);
}

/// The StableHLO that computes the tensors; without any, what sync() would compute.
inline std::string stablehlo(at::TensorList tensors = {}, int64_t device = 0) {
  return function<std::string(at::TensorList, int64_t)>("stablehlo_text").call(tensors, device);
}

/// The same as a portable artifact.
inline std::string stablehloBytecode(at::TensorList tensors = {}, int64_t device = 0) {
  at::Tensor bytes =
      function<at::Tensor(at::TensorList, int64_t)>("stablehlo_bytecode").call(tensors, device);
  return {static_cast<const char *>(bytes.const_data_ptr()), static_cast<size_t>(bytes.numel())};
}

/// What was counted since resetCounters(): "xla::add" for each traced op, "aten::sort" for each op that was
/// computed on the CPU.
inline std::map<std::string, int64_t> counters() {
  std::map<std::string, int64_t> counts;
  for (const auto &entry : function<c10::Dict<std::string, int64_t>()>("counters").call())
    if (entry.value() != 0)
      counts.emplace(entry.key(), entry.value());
  return counts;
}

inline void resetCounters() {
  function<void()>("reset_counters").call();
}

} // namespace torchere::lazy
