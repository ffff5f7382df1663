// Session: a loaded program on a device, ready to be called.
#pragma once

#include "artifact/bundle.h"
#include "runtime/buffer.h"
#include "runtime/client.h"
#include "runtime/executable.h"
#include "session/profile.h"
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
struct WeightSlot;

/// A tensor that a call returned, where the plugin left it: in host memory, which its owner keeps alive, or
/// on the device.
struct OutputTensor {
  int64_t position = -1; ///< among the user's outputs; for a mutation, among the user's inputs
  std::variant<runtime::HostArray, DeviceTensor> value;
  bool isNumber = false; ///< a 0-d tensor of int64, float64 or bool that the user gets as a number

  /// For a call whose results are in host memory.
  const runtime::HostArray &array() const { return std::get<runtime::HostArray>(value); }
  /// For a call whose results stay on the device.
  const DeviceTensor &onDevice() const { return std::get<DeviceTensor>(value); }
};

struct CallResult {
  std::vector<OutputTensor> outputs;   ///< without the constant outputs, which the entry point holds
  std::vector<OutputTensor> mutations; ///< new values of the user's own tensors, for the caller to write
                                       ///< there, or, where the input is on the device, to take its place
};

struct CallOptions {
  /// Results stay on the device, and the call returns before they are computed. Reading a result waits for
  /// it, and every read of a failed execution's result returns its error. Inputs in host memory are copied.
  bool onDevice = false;
  /// For errors of such a call: where the user made it ("train.py:31").
  std::string place = {};
  /// By the position of the user's inputs, not 0 for an array that nobody will read after this call: it is
  /// donated if Session::donateInputs() names it. Empty: none.
  std::span<const uint8_t> donated = {};
};

/// A user input, by its position, whose memory a user output of the same type may take.
struct InputDonation {
  int64_t input;
  int64_t output;
};

/// A weight's value, by name.
struct NamedArray {
  std::string name;
  runtime::HostArray value;
};
struct NamedView {
  std::string_view name;
  TensorView value;
};

/// How many executables an entry point keeps, one for each set of sizes. Beyond that the least recently used
/// one is evicted; if its sizes come up again, it is prepared again, from the cache on disk if possible.
inline constexpr size_t executableLimit = 64;

/// Counts over an entry point's calls.
struct CallCounts {
  int64_t calls = 0;        ///< calls that passed the checks
  int64_t refinements = 0;  ///< of the dynamic module to static sizes
  int64_t preparations = 0; ///< executables made, or found by the client
};

/// Callable from several threads. Calls that write state run one at a time, all others concurrently.
class TORCHERE_EXPORT Session {
public:
  /// Compiles nothing and puts no weight on the device before the first call that needs it. `device` is the
  /// id of one of the client's devices; the default is the first. `like` is a session of the same functions
  /// with other weights: its executables are used again, and what it has on the device, if it is on the same
  /// one. Errors: FailedPrecondition for weights without data, NotFound and InvalidArgument for weights that
  /// are missing or do not fit the entry points.
  static Result<std::shared_ptr<Session>> create(std::shared_ptr<runtime::Client> client,
                                                 std::shared_ptr<const artifact::Bundle> bundle,
                                                 std::optional<int> device = std::nullopt,
                                                 Session *like = nullptr);
  ~Session();

  size_t functionCount() const { return callables.size(); }
  const program::EntryPoint &entryPoint(size_t function) const;
  /// The index of an entry point; NotFound lists the names.
  Result<size_t> findFunction(std::string_view name) const;

  /// From now on calls may donate these inputs (CallOptions::donated). To be called before the first call:
  /// the plugin compiles it in. Inputs that the program does not read are passed over. Errors:
  /// InvalidArgument for a position that does not exist, two types that differ, or an input or output that is
  /// named twice.
  Status donateInputs(size_t function, std::span<const InputDonation> donations);

  /// Calls an entry point with the leaves of the user's arguments, and waits for the end unless the options
  /// say otherwise. Errors: InvalidArgument for what CallSignature rejects, FailedPrecondition after a fork,
  /// and the plugin's errors.
  ///
  /// A failed call leaves the state unchanged, even if the failure is in copying the results to the host. If
  /// the plugin had already begun to overwrite the state's memory, the state is lost, and the next call
  /// reports that: the new value is dropped, so that a repeated call does not count twice.
  ///
  /// A call that does not wait advances the state at once: later calls use the value that is being computed.
  /// If its execution fails, the state is lost, because its old value is gone by then. Calls made in the
  /// meantime fail with it; later calls and reads report the loss until the state is set.
  Result<CallResult> call(size_t function, std::span<const Input> inputs, const CallOptions &options = {});

  /// The same, and what each kernel took. A program that writes no state is called twice, so that what is
  /// made once is not measured. Errors: Unimplemented if the plugin measures nothing.
  Result<std::pair<CallResult, CallProfile>> profile(size_t function, std::span<const Input> inputs);

  /// Makes the executable that a call with inputs of these types uses, as that call would. Their elements are
  /// not read.
  Status prepare(size_t function, std::span<const Input> inputs);

  /// The checks of a call, which then fails for no reason of its inputs.
  Status checkInputs(size_t function, std::span<const Input> inputs) const;

  /// A copy of the tensor on the session's device. Errors: InvalidArgument if it is not in host memory.
  Result<DeviceTensor> toDevice(const TensorView &value) const;

  /// The names that entry points write, sorted.
  std::vector<std::string> stateNames() const;
  /// The current value of a weight or buffer. Later calls that change the state do not change the array.
  Result<runtime::HostArray> readWeight(std::string_view name);
  /// The present values of all states, as they are between two calls.
  Result<std::vector<NamedArray>> readStates();
  /// Sets states to copies of the tensors: all of them, between two calls, or none. Errors: those of a call's
  /// inputs; NotFound if a name is not a state.
  Status writeStates(std::span<const NamedView> values);
  /// Gives all states the values that they have in the bundle.
  Status resetStates();
  /// A session of the same functions with other weights, on the same device. It gets copies of `states`, and
  /// the other states move there between two calls. From then on calls and reads of this session that need a
  /// state fail with FailedPrecondition.
  Result<std::shared_ptr<Session>> succeed(std::shared_ptr<const artifact::Bundle> other,
                                           std::span<const NamedView> states);

  /// Whether the program draws random numbers: from a generator whose state is its state
  /// program::generatorBuffer.
  bool drawsRandomNumbers() const;
  /// Starts the stream of random numbers that the seed gives. Nothing to do for a program that draws none.
  Status manualSeed(uint64_t seed);

  CallCounts counts(size_t function) const;
  /// The memory that a call with such inputs needs. Compiles if that call would. Errors: those of call(), and
  /// Unimplemented if the plugin does not report it.
  Result<runtime::MemoryStatistics> memoryStatistics(size_t function, std::span<const Input> inputs);

private:
  struct Arguments;
  Session(std::shared_ptr<runtime::Client> client, std::shared_ptr<const artifact::Bundle> bundle);
  void continueFrom(Session &other);
  Status gather(const Callable &callable, const Specialization &specialization, Arguments &arguments) const;
  Status addInput(const program::EntryInput &input, const Input &value,
                  const std::shared_ptr<const runtime::ArrayType> &type, bool isDonated,
                  Arguments &arguments) const;
  Status addDeviceTensor(const program::EntryInput &input, const DeviceTensor &value, bool isDonated,
                         Arguments &arguments) const;
  Status addState(const Callable &callable, Arguments &arguments) const;
  void takeStates(Session &predecessor, std::span<const NamedView> except);
  Result<runtime::HostArray> readInitial(std::string_view name) const;
  Result<WeightSlot *> findState(const NamedView &named) const;
  Result<CallResult> callWith(size_t function, Arguments &arguments);
  Result<CallResult> callWithState(const Callable &callable, const Specialization &specialization,
                                   Arguments &arguments);
  Result<std::vector<runtime::Buffer>> execute(const Callable &callable, const Specialization &specialization,
                                               Arguments &arguments) const;
  /// Executes, and waits for the results unless they stay on the device.
  Result<std::vector<runtime::Buffer>> start(const Callable &callable, const runtime::Executable &executable,
                                             Arguments &arguments) const;
  static Status readStatus(const Callable &callable, std::vector<runtime::Buffer> &results);
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
