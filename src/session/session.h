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
#include <vector>

namespace torchere::session {

class Callable;
struct Specialization;
class WeightStore;

/// A tensor that a call gave, where the plugin left it. `array.owner` keeps it alive.
struct OutputTensor {
  int64_t position = -1; ///< among the user's outputs; for a mutation, among the user's inputs
  runtime::HostArray array;
  bool isInteger = false; ///< a 0-d int64 tensor that the user gets as an int
};

struct CallResult {
  std::vector<OutputTensor> outputs; ///< without the constant outputs, which the entry point holds
  std::vector<OutputTensor>
      mutations; ///< new values of the user's own tensors, for the caller to write there
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

  /// Calls an entry point with the leaves of the user's arguments, and waits for the end.
  /// Errors: InvalidArgument for what CallSignature refuses, FailedPrecondition after a fork, and what the
  /// plugin answers. A call that fails leaves the state as it was, also when the results are there and cannot
  /// be brought to the host. Only a state whose memory the plugin had begun to overwrite is lost, and the
  /// next call says so: its new value is dropped, so that a call that is made again does not count twice.
  Result<CallResult> call(size_t function, std::span<const Input> inputs);

  /// The names that some entry point writes, in order.
  std::vector<std::string> stateNames() const;
  /// The current value of a weight or buffer. The array stays as it is when later calls change the state.
  Result<runtime::HostArray> readWeight(std::string_view name);
  /// Sets a state to a copy of the tensor. Errors as those of a call's inputs; NotFound when it is no state.
  Status writeState(std::string_view name, const TensorView &value);

  CallCounts counts(size_t function) const;
  /// What a call with such inputs takes. Compiles where the first call would. Errors: those of call, and
  /// Unimplemented when the plugin does not tell.
  Result<runtime::MemoryStatistics> memoryStatistics(size_t function, std::span<const Input> inputs);

private:
  struct Arguments;
  Session(std::shared_ptr<runtime::Client> client, std::shared_ptr<const artifact::Bundle> bundle);
  Status gather(const Callable &callable, const Specialization &specialization, std::span<const Input> inputs,
                Arguments &arguments) const;
  Status addInput(const Input &input, const std::shared_ptr<const runtime::ArrayType> &type,
                  Arguments &arguments) const;
  Status addState(const Callable &callable, Arguments &arguments) const;
  Result<CallResult> callWithState(const Callable &callable, const Specialization &specialization,
                                   Arguments &arguments);
  Result<CallResult> deliver(const Callable &callable, std::vector<runtime::Buffer> results);

  std::shared_ptr<runtime::Client> client;
  std::shared_ptr<const artifact::Bundle> bundle;
  const runtime::Device *device = nullptr;
  std::optional<int> deviceId;
  std::unique_ptr<WeightStore> weights;
  std::vector<std::unique_ptr<Callable>> callables;
};

} // namespace torchere::session
