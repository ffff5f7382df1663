// Session: calls, state, and results.
#include "session/session.h"

#include "artifact/weight_data.h"
#include "session/callable.h"
#include "session/weight_store.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace torchere::session {

using program::OutputDestination;
using runtime::Buffer;

/// What one execution needs, kept until it ends.
struct Session::Arguments {
  std::span<const Input> given;
  const CallOptions &options;
  std::vector<const Buffer *> buffers = {}; ///< of all arguments, in order
  std::vector<Buffer> inputs = {};          ///< made for this call
  std::vector<int64_t> kept = {};           ///< arguments with other owners, which must not be donated
  std::vector<Lease> leases = {};           ///< on state that the call only reads
  std::vector<int64_t> integers = {};       ///< storage for the inputs that are ints
  std::string *report = nullptr;            ///< where the plugin's profile goes; null for none
};

Session::Session(std::shared_ptr<runtime::Client> client, std::shared_ptr<const artifact::Bundle> bundle)
    : client(std::move(client)), bundle(std::move(bundle)) {}

Session::~Session() = default;

static bool takesWeights(const artifact::Bundle &bundle) {
  return std::ranges::any_of(bundle.functions, [](const artifact::Function &function) {
    return std::ranges::any_of(function.entryPoint.inputs, [](const program::EntryInput &input) {
      return input.source == program::InputSource::Parameter || input.source == program::InputSource::Buffer;
    });
  });
}

Result<std::shared_ptr<Session>> Session::create(std::shared_ptr<runtime::Client> client,
                                                 std::shared_ptr<const artifact::Bundle> bundle,
                                                 std::optional<int> deviceId, Session *like) {
  if (!bundle->hasWeights && takesWeights(*bundle))
    return fail(ErrorCode::FailedPrecondition,
                "[session] the program was saved without its weights: it cannot be called before "
                "program.with_weights(...)");
  TORCHERE_TRY(client->checkProcess());
  std::shared_ptr<Session> session(new Session(std::move(client), std::move(bundle)));
  session->deviceId = deviceId;
  if (deviceId) {
    TORCHERE_ASSIGN(session->device, session->client->device(*deviceId));
  }
  session->weights = std::make_unique<WeightStore>(session->client, session->device);
  for (const artifact::Function &function : session->bundle->functions) {
    TORCHERE_ASSIGN(auto callable, Callable::create(function, *session->bundle, *session->weights));
    session->callables.push_back(std::move(callable));
  }
  for (auto &callable : session->callables)
    callable->findStateReads();
  if (like && like->client == session->client && like->device == session->device)
    session->continueFrom(*like);
  return session;
}

void Session::continueFrom(Session &other) {
  for (size_t i = 0; i < std::min(callables.size(), other.callables.size()); ++i)
    callables[i]->continueFrom(*other.callables[i]);
  weights->shareValues(*other.weights);
}

const program::EntryPoint &Session::entryPoint(size_t function) const {
  return callables[function]->entryPoint();
}

CallCounts Session::counts(size_t function) const {
  return callables[function]->counts();
}

Result<size_t> Session::findFunction(std::string_view name) const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < callables.size(); ++i) {
    if (callables[i]->entryPoint().name == name)
      return i;
    names.push_back(callables[i]->entryPoint().name);
  }
  return fail(ErrorCode::NotFound, "[{}] no such function in the program: expected one of {}", name,
              fmt::join(names, ", "));
}

Status Session::donateInputs(size_t function, std::span<const InputDonation> donations) {
  return callables[function]->donateInputs(donations);
}

Result<CallResult> Session::call(size_t function, std::span<const Input> inputs, const CallOptions &options) {
  Arguments arguments{inputs, options};
  return callWith(function, arguments);
}

Result<std::pair<CallResult, CallProfile>> Session::profile(size_t function, std::span<const Input> inputs) {
  if (callables[function]->updates().empty())
    TORCHERE_TRY(call(function, inputs));
  std::string report;
  CallOptions options;
  Arguments arguments{inputs, options};
  arguments.report = &report;
  TORCHERE_ASSIGN(CallResult result, callWith(function, arguments));
  TORCHERE_ASSIGN(CallProfile profile, CallProfile::parse(report, client->platformName()));
  return std::pair(std::move(result), std::move(profile));
}

Result<CallResult> Session::callWith(size_t function, Arguments &arguments) {
  TORCHERE_TRY(client->checkProcess());
  Callable &callable = *callables[function];
  Sizes sizes;
  TORCHERE_TRY(callable.signature().check(arguments.given, sizes));
  TORCHERE_ASSIGN(auto specialization, callable.specialize(sizes, arguments.given, *client, deviceId));
  TORCHERE_TRY(gather(callable, *specialization, arguments));
  if (!callable.updates().empty()) {
    auto lock = weights->lock(); // calls that write state run one at a time
    TORCHERE_TRY(addState(callable, arguments));
    return callWithState(callable, *specialization, arguments);
  }
  if (!callable.stateArguments().empty()) {
    auto lock = weights->lock();
    TORCHERE_TRY(addState(callable, arguments));
    for (size_t argument : callable.stateArguments()) // other calls may replace it in the meantime
      arguments.leases.emplace_back(callable.sources()[argument].slot->value);
  }
  TORCHERE_ASSIGN(std::vector<Buffer> results, execute(callable, *specialization, arguments));
  return deliver(callable, arguments, std::move(results));
}

Status Session::prepare(size_t function, std::span<const Input> inputs) {
  TORCHERE_TRY(client->checkProcess());
  Callable &callable = *callables[function];
  Sizes sizes;
  TORCHERE_TRY(callable.signature().check(inputs, sizes));
  return callable.prepareFor(sizes, inputs, *client, deviceId);
}

Status Session::checkInputs(size_t function, std::span<const Input> inputs) const {
  const CallSignature &signature = callables[function]->signature();
  Sizes sizes;
  TORCHERE_TRY(signature.check(inputs, sizes));
  return signature.checkSizes(sizes);
}

Result<std::vector<Buffer>> Session::execute(const Callable &callable, const Specialization &specialization,
                                             Arguments &arguments) const {
  const runtime::Executable &executable = *specialization.executable;
  Result<std::vector<Buffer>> results = start(callable, executable, arguments);
  if (results && callable.statusResult())
    TORCHERE_TRY(readStatus(callable, *results));
  return results;
}

Result<std::vector<Buffer>> Session::start(const Callable &callable, const runtime::Executable &executable,
                                           Arguments &arguments) const {
  if (arguments.report) {
    TORCHERE_ASSIGN(auto profiled, executable.profile(arguments.buffers, arguments.kept));
    *arguments.report = std::move(profiled.second);
    return std::move(profiled.first);
  }
  if (!arguments.options.onDevice)
    return executable.execute(arguments.buffers, arguments.kept);
  return executable.start(arguments.buffers, arguments.kept,
                          {callable.entryPoint().name, arguments.options.place});
}

/// Waits for the execution. The buffer of the status stays among the results, but is empty.
Status Session::readStatus(const Callable &callable, std::vector<Buffer> &results) {
  auto status = std::make_shared<const Buffer>(std::move(results[*callable.statusResult()]));
  TORCHERE_ASSIGN(runtime::HostArray array, Buffer::toHost(std::move(status)));
  TORCHERE_ASSIGN(size_t size, array.type->byteSize());
  return program::checkStatus({static_cast<const int32_t *>(array.data), size / sizeof(int32_t)},
                              callable.entryPoint());
}

/// Plugins do not check the buffers they are given, so errors are found here.
Status Session::addDeviceTensor(const program::EntryInput &input, const DeviceTensor &value, bool isDonated,
                                Arguments &arguments) const {
  const runtime::Device &expected = device ? *device : client->devices().front();
  if (&value->client() != client.get())
    return invalidArgument("[{}] wrong client: got an array of another client ({}), expected one of {}",
                           input.name, value->client().platformName(), client->platformName());
  if (&value->device() != &expected)
    return invalidArgument("[{}] wrong device: got {}, expected {}", input.name, value->device().id,
                           expected.id);
  if (!isDonated)
    arguments.kept.push_back(static_cast<int64_t>(arguments.buffers.size()));
  arguments.buffers.push_back(value.get());
  return {};
}

Status Session::addInput(const program::EntryInput &input, const Input &value,
                         const std::shared_ptr<const runtime::ArrayType> &type, bool isDonated,
                         Arguments &arguments) const {
  if (const auto *onDevice = std::get_if<DeviceTensor>(&value))
    return addDeviceTensor(input, *onDevice, isDonated, arguments);
  runtime::HostArray array{nullptr, type, nullptr};
  // The caller may reuse its memory as soon as the call has returned.
  auto transfer = arguments.options.onDevice ? runtime::HostTransfer::Copy : runtime::HostTransfer::ZeroCopy;
  if (const auto *tensor = std::get_if<TensorView>(&value)) {
    array.data = tensor->data;
    array.owner = tensor->owner;
    if (!tensor->isContiguous()) {
      TORCHERE_ASSIGN(array.owner, copyDense(*tensor));
      array.data = array.owner.get();
      transfer = runtime::HostTransfer::ZeroCopy; // of the copy
    }
  } else {
    arguments.integers.push_back(*std::get<program::Constant>(value).as<int64_t>());
    array.data = &arguments.integers.back();
  }
  TORCHERE_ASSIGN(Buffer buffer, Buffer::fromHost(client, std::move(array), transfer, device));
  arguments.inputs.push_back(std::move(buffer));
  arguments.buffers.push_back(&arguments.inputs.back());
  return {};
}

Status Session::gather(const Callable &callable, const Specialization &specialization,
                       Arguments &arguments) const {
  const std::vector<Callable::Source> &sources = callable.sources();
  std::span<const uint8_t> donated = arguments.options.donated;
  arguments.buffers.reserve(sources.size());
  arguments.inputs.reserve(sources.size()); // elements must not move: their addresses are taken
  arguments.integers.reserve(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    if (WeightSlot *slot = sources[i].slot) {
      arguments.buffers.push_back(slot->isState ? nullptr : &slot->value->buffer);
      continue;
    }
    bool isDonated = sources[i].position < donated.size() && donated[sources[i].position] != 0;
    TORCHERE_TRY(addInput(callable.entryPoint().inputs[i], arguments.given[sources[i].position],
                          specialization.argumentTypes[i], isDonated, arguments));
  }
  return {};
}

Status Session::addState(const Callable &callable, Arguments &arguments) const {
  TORCHERE_TRY(weights->checkPresent());
  for (size_t argument : callable.stateArguments()) {
    const WeightSlot &slot = *callable.sources()[argument].slot;
    TORCHERE_TRY(WeightStore::checkNotLost(slot));
    arguments.buffers[argument] = &slot.value->buffer;
  }
  return {};
}

namespace {
/// The state that a call writes. A value that the plugin has overwritten is lost unless the state advances.
class StateChange {
public:
  explicit StateChange(std::span<const Callable::Update> updates) : updates(updates) {}
  StateChange(const StateChange &) = delete;
  StateChange &operator=(const StateChange &) = delete;
  ~StateChange() {
    if (isAdvanced)
      return;
    for (const Callable::Update &update : updates)
      update.slot->isLost |= update.donatedArgument && update.slot->value->buffer.isDeleted();
  }
  /// Moves the results that are state out of `results`.
  void take(std::vector<Buffer> &results) {
    values.reserve(updates.size());
    for (const Callable::Update &update : updates)
      values.push_back(std::make_shared<WeightValue>(std::move(results[update.result])));
  }
  /// After take(). Cannot fail.
  void advance() noexcept {
    for (size_t i = 0; i < updates.size(); ++i) {
      updates[i].slot->value = std::move(values[i]);
      updates[i].slot->isLost = false;
    }
    isAdvanced = true;
  }

private:
  std::span<const Callable::Update> updates;
  std::vector<std::shared_ptr<WeightValue>> values;
  bool isAdvanced = false;
};
} // namespace

/// Called with the lock of the weights held.
Result<CallResult> Session::callWithState(const Callable &callable, const Specialization &specialization,
                                          Arguments &arguments) {
  // Leased state must not be overwritten, nor what stays if a check fails.
  for (const Callable::Update &update : callable.updates())
    if (update.donatedArgument && (update.slot->isLeased() || callable.statusResult()))
      arguments.kept.push_back(static_cast<int64_t>(*update.donatedArgument));
  StateChange change(callable.updates());
  TORCHERE_ASSIGN(std::vector<Buffer> results, execute(callable, specialization, arguments));
  change.take(results);
  TORCHERE_ASSIGN(CallResult delivered, deliver(callable, arguments, std::move(results)));
  change.advance(); // last: nothing after this can fail
  return delivered;
}

Result<CallResult> Session::deliver(const Callable &callable, const Arguments &arguments,
                                    std::vector<Buffer> results) const {
  CallResult result;
  const std::vector<program::EntryOutput> &outputs = callable.entryPoint().outputs;
  result.outputs.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputDestination destination = outputs[i].destination;
    if (destination == OutputDestination::Buffer || destination == OutputDestination::Parameter ||
        destination == OutputDestination::Check)
      continue;
    bool isMutation = destination == OutputDestination::UserInput;
    auto &list = isMutation ? result.mutations : result.outputs;
    OutputTensor &output = list.emplace_back(OutputTensor{outputs[i].position, {}, outputs[i].isNumber});
    auto buffer = std::make_shared<const Buffer>(std::move(results[i]));
    if (arguments.options.onDevice ||
        (isMutation &&
         std::holds_alternative<DeviceTensor>(arguments.given[static_cast<size_t>(outputs[i].position)]))) {
      output.value = std::move(buffer);
    } else {
      TORCHERE_ASSIGN(output.value, Buffer::toHost(std::move(buffer)));
    }
  }
  return result;
}

Result<runtime::MemoryStatistics> Session::memoryStatistics(size_t function, std::span<const Input> inputs) {
  TORCHERE_TRY(client->checkProcess());
  Callable &callable = *callables[function];
  Sizes sizes;
  TORCHERE_TRY(callable.signature().check(inputs, sizes));
  return callable.memoryStatistics(sizes, inputs, *client, deviceId);
}

std::vector<std::string> Session::stateNames() const {
  std::vector<std::string> names;
  for (const auto &callable : callables)
    for (const program::EntryOutput &output : callable->entryPoint().outputs)
      if (output.destination == OutputDestination::Buffer ||
          output.destination == OutputDestination::Parameter)
        names.push_back(output.target);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// The array holds the lease if it points into the buffer.
static Result<runtime::HostArray> readLeased(const WeightSlot &slot, std::shared_ptr<const Lease> lease) {
  auto array = Buffer::toHost(std::shared_ptr<const Buffer>(lease, &lease->buffer()));
  if (Status failure = lease->buffer().failure(); !failure)
    return tl::unexpected(WeightStore::lost(slot.name, failure.error()));
  return array;
}

Result<runtime::HostArray> Session::readWeight(std::string_view name) {
  TORCHERE_TRY(client->checkProcess());
  if (const WeightSlot *slot = weights->find(name); slot && slot->isState) {
    std::shared_ptr<const Lease> lease;
    {
      auto lock = weights->lock();
      TORCHERE_TRY(weights->checkPresent());
      TORCHERE_TRY(WeightStore::checkNotLost(*slot));
      if (slot->value)
        lease = std::make_shared<const Lease>(slot->value);
    }
    if (lease)
      return readLeased(*slot, std::move(lease));
  }
  return readInitial(name);
}

/// The weight as the bundle has it.
Result<runtime::HostArray> Session::readInitial(std::string_view name) const {
  auto found = bundle->stateDict.find(std::string(name));
  if (found == bundle->stateDict.end())
    return fail(ErrorCode::NotFound, "[{}] no such weight in the program", name);
  const program::Weight &weight = found->second;
  TORCHERE_TRY(artifact::checkHasData(weight, name));
  return denseArray({weight.data(), weight.dtype, weight.shape, weight.strides, "cpu", weight.storage});
}

bool Session::drawsRandomNumbers() const {
  return weights->find(program::generatorBuffer) != nullptr;
}

Status Session::manualSeed(uint64_t seed) {
  if (!drawsRandomNumbers())
    return {};
  std::array<uint64_t, 2> state = {seed, 0};
  std::array<int64_t, 1> shape = {2};
  NamedView value{program::generatorBuffer, {state.data(), DType::I64, shape, {}, "cpu", nullptr}};
  return writeStates({&value, 1});
}

Result<DeviceTensor> Session::toDevice(const TensorView &value) const {
  if (value.device != "cpu")
    return invalidArgument("[tensor] wrong device: got {}, expected cpu", value.device);
  TORCHERE_ASSIGN(runtime::HostArray array, denseArray(value));
  TORCHERE_ASSIGN(Buffer buffer,
                  Buffer::fromHost(client, std::move(array), runtime::HostTransfer::Copy, device));
  return std::make_shared<const Buffer>(std::move(buffer));
}

Result<std::vector<NamedArray>> Session::readStates() {
  TORCHERE_TRY(client->checkProcess());
  std::vector<std::string> names = stateNames();
  std::vector<std::shared_ptr<const Lease>> leases; // null for a state that no call has used yet
  {
    auto lock = weights->lock();
    TORCHERE_TRY(weights->checkPresent());
    for (const std::string &name : names) {
      const WeightSlot &slot = *weights->find(name);
      TORCHERE_TRY(WeightStore::checkNotLost(slot));
      leases.push_back(slot.value ? std::make_shared<const Lease>(slot.value) : nullptr);
    }
  }
  std::vector<NamedArray> states;
  for (size_t i = 0; i < names.size(); ++i) {
    TORCHERE_ASSIGN(runtime::HostArray value,
                    leases[i] ? readLeased(*weights->find(names[i]), leases[i]) : readInitial(names[i]));
    states.push_back({std::move(names[i]), std::move(value)});
  }
  return states;
}

/// The slot of a state that can take the value.
Result<WeightSlot *> Session::findState(const NamedView &named) const {
  const auto &[name, value] = named;
  WeightSlot *slot = weights->find(name);
  if (!slot || !slot->isState)
    return fail(ErrorCode::NotFound, "[{}] no such state in the program: expected one of {}", name,
                fmt::join(stateNames(), ", "));
  const program::Weight &weight = *slot->weight;
  if (value.device != "cpu")
    return invalidArgument("[{}] wrong device: got {}, expected cpu", name, value.device);
  if (value.dtype != weight.dtype)
    return invalidArgument("[{}] wrong dtype: got {}, expected {}", name, dtypeInfo(value.dtype).torchName,
                           dtypeInfo(weight.dtype).torchName);
  if (!std::equal(value.shape.begin(), value.shape.end(), weight.shape.begin(), weight.shape.end()))
    return invalidArgument("[{}] wrong shape: got ({}), expected ({})", name, fmt::join(value.shape, ", "),
                           fmt::join(weight.shape, ", "));
  return slot;
}

Status Session::writeStates(std::span<const NamedView> values) {
  TORCHERE_TRY(client->checkProcess());
  std::vector<std::pair<WeightSlot *, std::shared_ptr<WeightValue>>> made;
  for (const NamedView &named : values) {
    TORCHERE_ASSIGN(WeightSlot * slot, findState(named));
    TORCHERE_ASSIGN(runtime::HostArray array, denseArray(named.value));
    TORCHERE_ASSIGN(Buffer buffer,
                    Buffer::fromHost(client, std::move(array), runtime::HostTransfer::Copy, device));
    made.emplace_back(slot, std::make_shared<WeightValue>(std::move(buffer)));
  }
  auto lock = weights->lock();
  TORCHERE_TRY(weights->checkPresent());
  for (auto &[slot, value] : made) {
    slot->value = std::move(value);
    slot->isLost = false;
  }
  return {};
}

Status Session::resetStates() {
  std::vector<std::string> names = stateNames();
  std::vector<NamedView> initial;
  for (const std::string &name : names) {
    const program::Weight &weight = *weights->find(name)->weight;
    initial.push_back(
        {name, {weight.data(), weight.dtype, weight.shape, weight.strides, "cpu", weight.storage}});
  }
  return writeStates(initial);
}

Result<std::shared_ptr<Session>> Session::succeed(std::shared_ptr<const artifact::Bundle> other,
                                                  std::span<const NamedView> states) {
  TORCHERE_ASSIGN(std::shared_ptr<Session> successor, create(client, std::move(other), deviceId, this));
  TORCHERE_TRY(successor->writeStates(states));
  successor->takeStates(*this, states);
  return successor;
}

/// Nobody else has this session yet. Cannot fail.
void Session::takeStates(Session &predecessor, std::span<const NamedView> except) {
  std::set<const WeightSlot *> kept;
  for (const NamedView &named : except)
    kept.insert(weights->find(named.name));
  auto theirs = predecessor.weights->lock();
  auto ours = weights->lock();
  for (const std::string &name : stateNames()) {
    WeightSlot *slot = weights->find(name), *other = predecessor.weights->find(name);
    if (!other || !kept.insert(slot).second)
      continue;
    slot->value = std::move(other->value);
    slot->isLost = other->isLost;
  }
  predecessor.weights->giveUp();
}

} // namespace torchere::session
