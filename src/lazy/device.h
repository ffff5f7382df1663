// Device: one of the plugin's devices, the nodes that are pending there, and what computes them.
#pragma once

#include "lazy/computation_queue.h"
#include "lazy/node.h"
#include "lazy/number_table.h"
#include "lazy/trace_cache.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace torchere::lazy {

/// Used from any thread. Errors are exceptions of torch's.
class Device {
public:
  explicit Device(c10::DeviceIndex index) : index(index), traces(index) {}
  /// The device of an index; the current one for -1. Lives until the process ends. An index that the plugin
  /// does not have is an error.
  static Device &get(c10::DeviceIndex index);
  /// That of a kernel's argument `device`.
  static Device &of(std::optional<c10::Device> device) { return get(device ? device->index() : -1); }
  /// How many the plugin has; 1 if it cannot be loaded, which the first use reports.
  static c10::DeviceIndex count() noexcept;

  /// A pending node. Makes a sync where too many are.
  Reference<Node> record(Reference<const Call> call, c10::SmallVector<Value, 3> operands);
  /// An array with the elements of a CPU tensor, copied.
  Value upload(const at::Tensor &tensor);
  /// An array of a number, as a 0-d tensor. Equal numbers share one.
  Value number(const c10::Scalar &number, at::ScalarType dtype);
  /// The value as a CPU tensor; computes what is pending.
  at::Tensor download(const Value &value);
  /// A value for an array of this device.
  Value adopt(session::DeviceTensor array);
  /// The array of a value; computes what is pending. Its elements may still be on their way.
  session::DeviceTensor computedArray(const Value &value);
  /// The same; null while the value is pending.
  session::DeviceTensor arrayOf(const Value &value);
  /// Computes the pending nodes that this thread has to do with (see selectNodes()). Returns when their
  /// programs are compiled; what fails later is the error of those who read it.
  void sync();
  static bool isComputed(const Value &value);
  /// Whether the computation of the value has failed, so that every read of it does.
  static bool hasFailed(const Value &value);
  /// Waits for all that was started, on all devices.
  static void waitForAll();
  /// Shows what computes some values or, where none are given, what sync() would compute. `read` is called
  /// with the lock held; all leaves have their arrays.
  void readPending(c10::ArrayRef<Value> chosen, c10::function_ref<void(const Graph &)> read);

  /// What is alive, by name; see lazy.statistics().
  std::map<std::string, int64_t> statistics();
  c10::Device torchDevice() const { return {c10::DeviceType::XLA, index}; }

private:
  friend struct Node;
  void unlink(Node &node);
  void removePending(Node &node);
  NodeList pendingNodes();
  std::unique_ptr<Computation> take(const Node *wanted, bool isEverything);
  std::string compute(const Node *wanted, bool isEverything);
  void cut();

  const c10::DeviceIndex index;
  std::mutex syncMutex; ///< one sync at a time; taken before `mutex`
  std::mutex mutex;
  std::condition_variable computed;
  Node *first = nullptr, *last = nullptr; ///< the list of pending nodes
  int64_t pendingCount = 0;
  std::atomic<int64_t> liveCount = 0; ///< nodes that were recorded or uploaded and are not destroyed
  uint64_t visits = 0;
  TraceCache traces;
  NumberTable numbers;
  ComputationQueue queue;
};

} // namespace torchere::lazy
