// Device: one of the plugin's devices, the nodes that are pending there, and what computes them.
#pragma once

#include "lazy/node.h"
#include "lazy/trace_cache.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

namespace torchere::lazy {

/// Used from any thread. Errors are exceptions of torch's.
class Device {
public:
  explicit Device(c10::DeviceIndex index) : index(index), traces(index) {}
  /// The device of an index; lives until the process ends.
  static Device &get(c10::DeviceIndex index);
  /// That of a kernel's argument `device`.
  static Device &of(std::optional<c10::Device> device) { return get(device ? device->index() : 0); }
  /// How many the plugin has; 1 if it cannot be loaded, which the first use reports.
  static c10::DeviceIndex count() noexcept;

  /// A pending node.
  Reference<Node> record(const Call *call, c10::SmallVector<Value, 3> operands);
  /// An array with the elements of a CPU tensor, copied.
  Value upload(const at::Tensor &tensor);
  /// An array of a number, as a 0-d tensor. Equal numbers share one.
  Value number(const c10::Scalar &number, at::ScalarType dtype);
  /// The value as a CPU tensor; computes what is pending.
  at::Tensor download(const Value &value);
  /// Computes every pending node whose results a tensor shows. Returns before the results are there.
  void sync();
  static bool isComputed(const Value &value);
  /// Whether the computation of the value has failed, so that every read of it does.
  static bool hasFailed(const Value &value);
  /// The StableHLO of what sync() would compute.
  std::string pendingText();

  c10::Device torchDevice() const { return {c10::DeviceType::XLA, index}; }

private:
  friend struct Node;
  void unlink(Node &node);
  /// What is pending, as a graph, and the nodes in its order. Needs the lock.
  Graph collect(std::vector<Reference<Node>> &nodes);
  std::string computePending();

  const c10::DeviceIndex index;
  std::mutex mutex;
  Node *first = nullptr, *last = nullptr; ///< the list of pending nodes
  uint64_t visits = 0;
  TraceCache traces;

  /// By dtype and bits.
  std::mutex numbersMutex;
  std::map<std::tuple<at::ScalarType, uint64_t, uint64_t>, Value> numbers;
};

} // namespace torchere::lazy
