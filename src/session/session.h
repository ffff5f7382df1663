// Session: a loaded program on a device, ready to be called.
#pragma once

#include "artifact/bundle.h"
#include "runtime/buffer.h"
#include "runtime/client.h"
#include "runtime/executable.h"
#include "session/tensor_view.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torchere::session {

class Callable;
struct Specialization;
class WeightStore;

/// A tensor that a call gave, where the plugin left it: in host memory, which its owner keeps alive, or on
/// the device.
struct OutputTensor {
  int64_t position = -1; ///< among the user's outputs; for a mutation, among the user's inputs
  std::variant<runtime::HostArray, DeviceTensor> value;
  bool isInteger = false; ///< a 0-d int64 tensor that the user gets as an int

  /// Of a call whose results are in host memory.
  const runtime::HostArray &array() const { return std::get<runtime::HostArray>(value); }
  /// Of one whose results stay on the device.
  const DeviceTensor &onDevice() const { return std::get<DeviceTensor>(value); }
};

struct CallResult {
  std::vector<OutputTensor> outputs;   ///< without the constant outputs, which the entry point holds
  std::vector<OutputTensor> mutations; ///< new values of the user's own tensors, for the caller to write
                                       ///< there, or, where the input is on the device, to take its place
};

struct CallOptions {
  /// Results stay on the device, and the call returns before they are computed: whoever reads one waits, and
  /// gets the error of an execution that failed, each time. Inputs in host memory are copied.
  bool onDevice = false;
  /// Of such a call, for that error: where the user made it ("train.py:31").
  std::string place = {};
};

/// How many executables an entry point keeps, one for each set of sizes. Beyond it the one that was not used
/// for longest goes; its sizes are then prepared again, from the cache on disk where there is one.
inline constexpr size_t executableLimit = 64;

/// What the calls of an entry point took.
struct CallCounts {
  int64_t calls = 0;        ///< that passed the checks
  int64_t refinements = 0;  ///< of the dynamic module to sizes
  int64_t preparations = 0; ///< executables made, or found by the client
};

/// Callable from several threads. Calls that write state run one after the other, the rest at the same time.
class TORCHERE_EXPORT Session {
public:
  /// Nothing is compiled, and no weight is put on the device, before the first call that needs it. `device`
  /// is the id of one of the client's; the first when none is given. Errors: FailedPrecondition for a bundle
  /// without weights, NotFound and InvalidArgument for weights that are missing or that do not fit the entry
  /// points.
  static Result<std::shared_ptr<Session>> create(std::shared_ptr<runtime::Client> client,
                                                 std::shared_ptr<const artifact::Bundle> bundle,
                                                 std::optional<int> device = std::nullopt);
  ~Session();

  size_t functionCount() const { return callables.size(); }
  const program::EntryPoint &entryPoint(size_t function) const;
  /// The index of an entry point; NotFound lists the names.
  Result<size_t> findFunction(std::string_view name) const;

  /// Calls an entry point with the leaves of the user's arguments, and waits for the end unless the options
  /// say otherwise. Errors: InvalidArgument for what CallSignature refuses, FailedPrecondition after a fork,
  /// and what the plugin answers. A call that fails leaves the state as it was, also when the results are
  /// there and cannot be brought to the host. Only a state whose memory the plugin had begun to overwrite is
  /// lost, and the next call says so: its new value is dropped, so that a call that is made again does not
  /// count twice.
  /// A call that is not waited for changes the state at once: later calls take what it will have computed. If
  /// its execution fails, the state is lost, as its old value is gone by then; calls that were made meanwhile
  /// fail with it, and later ones, like reads of the state, say so until the state is set.
  Result<CallResult> call(size_t function, std::span<const Input> inputs, const CallOptions &options = {});

  /// A copy of the tensor on the session's device. Errors: InvalidArgument when it is not in host memory.
  Result<DeviceTensor> toDevice(const TensorView &value) const;

  /// The names that some entry point writes, in order.
  std::vector<std::string> stateNames() const;
  /// The current value of a weight or buffer. The array stays as it is when later calls change the state.
  Result<runtime::HostArray> readWeight(std::string_view name);
  /// Sets a state to a copy of the tensor. Errors as those of a call's inputs; NotFound when it is no state.
  Status writeState(std::string_view name, const TensorView &value);

  /// Whether the program draws random numbers: from a generator whose state is its state
  /// program::generatorBuffer.
  bool drawsRandomNumbers() const;
  /// Starts the stream of random numbers that the seed gives. Nothing to do for a program that draws none.
  Status manualSeed(uint64_t seed);

  CallCounts counts(size_t function) const;
  /// What a call with such inputs takes. Compiles where the first call would. Errors: those of call, and
  /// Unimplemented when the plugin does not tell.
  Result<runtime::MemoryStatistics> memoryStatistics(size_t function, std::span<const Input> inputs);

private:
  struct Arguments;
  Session(std::shared_ptr<runtime::Client> client, std::shared_ptr<const artifact::Bundle> bundle);
  Status gather(const Callable &callable, const Specialization &specialization, Arguments &arguments) const;
  Status addInput(const program::EntryInput &input, const Input &value,
                  const std::shared_ptr<const runtime::ArrayType> &type, Arguments &arguments) const;
  Status addDeviceTensor(const program::EntryInput &input, const DeviceTensor &value,
                         Arguments &arguments) const;
  Status addState(const Callable &callable, Arguments &arguments) const;
  Result<CallResult> callWithState(const Callable &callable, const Specialization &specialization,
                                   Arguments &arguments);
  Result<std::vector<runtime::Buffer>> execute(const Callable &callable, const Specialization &specialization,
                                               const Arguments &arguments) const;
  Result<CallResult> deliver(const Callable &callable, const Arguments &arguments,
                             std::vector<runtime::Buffer> results) const;

  std::shared_ptr<runtime::Client> client;
  std::shared_ptr<const artifact::Bundle> bundle;
  const runtime::Device *device = nullptr;
  std::optional<int> deviceId;
  std::unique_ptr<WeightStore> weights;
  std::vector<std::unique_ptr<Callable>> callables;
};

} // namespace torchere::session
