// Implements PJRT_LoadedExecutable_Execute: checks of the arguments, and donation.
#include "pjrt_server/execute.h"

#include "pjrt/own_extensions.h"
#include "pjrt_server/executable.h"
#include "pjrt_server/execution.h"
#include "pjrt_server/handles.h"

#include <algorithm>

namespace torchere::pjrt_server {

namespace {

// Names declared in this folder take precedence over PJRT's.
using namespace pjrt;

/// Whether the sizes are those that the expected type knows.
bool haveSizes(const Index &given, const TensorType &expected) {
  auto fits = [](int64_t size, int64_t known) { return known == interpreter::unknownSize || size == known; };
  return std::ranges::equal(given, expected.shape, fits);
}

/// One call: its arguments, checked against the program.
class Call {
public:
  explicit Call(LoadedExecutableExecuteArgs &args)
      : args(args), executable(held(args.executable)), program(*executable.program) {}

  /// `report`: where the run's profile goes; null for none.
  Result<std::shared_ptr<Execution>> start(std::string *report = nullptr);

private:
  Status checkCounts() const;
  Status chooseDevices();
  Status checkArgument(size_t process, size_t index) const;
  std::vector<bool> donations() const;
  Status checkDonations(const std::vector<bool> &isDonated, size_t process) const;
  Status holdArguments(Execution &execution) const;
  Status takeDonated(const Execution &execution) const;
  void giveResults(Execution &execution) const;

  Buffer *argument(size_t process, size_t index) const {
    pjrt::Buffer *handle = args.argumentLists[process][index];
    return handle ? &held(handle) : nullptr;
  }
  std::string subject(size_t process, size_t index) const {
    std::string place = program.processCount() > 1 ? fmt::format(" of process {}", process) : "";
    return fmt::format("[{}] argument {}{}", program.entry().name, index, place);
  }
  Status isGone(size_t process, size_t index) const {
    return invalidArgument("{}: the buffer was deleted or donated", subject(process, index));
  }

  LoadedExecutableExecuteArgs &args;
  LoadedExecutable &executable;
  const CompiledProgram &program;
  std::vector<Device *> devices; ///< by process
};

Status Call::checkCounts() const {
  const interpreter::EntryPoint &entry = program.entry();
  if (executable.isDeleted)
    return invalidArgument("[{}] the executable was deleted", entry.name);
  if (args.deviceCount != program.processCount())
    return invalidArgument("[{}] wrong number of devices: got {}, expected {}", entry.name, args.deviceCount,
                           program.processCount());
  if (args.argumentCount != entry.arguments.size())
    return invalidArgument("[{}] wrong number of arguments: got {}, expected {}", entry.name,
                           args.argumentCount, entry.arguments.size());
  if (args.options)
    TORCHERE_TRY(checkStructure(args.options));
  if (args.options && (args.options->sendCount || args.options->recvCount))
    return fail(ErrorCode::Unimplemented, "[{}] callbacks that send and receive", entry.name);
  for (size_t process = 0; process < args.deviceCount; ++process) {
    if (args.argumentCount && (!args.argumentLists || !args.argumentLists[process]))
      return invalidArgument("[{}] no list of arguments: got null", entry.name);
    if (!entry.results.empty() && (!args.outputLists || !args.outputLists[process]))
      return invalidArgument("[{}] no list for results: got null", entry.name);
  }
  return {};
}

Status Call::chooseDevices() {
  devices = executable.devices;
  if (!args.executeDevice)
    return {};
  if (devices.size() != 1)
    return invalidArgument("[{}] one device for {} processes", program.entry().name, devices.size());
  Device *device = &held(args.executeDevice);
  if (device->client != executable.client.get())
    return invalidArgument("[{}] the device is another client's", program.entry().name);
  devices.front() = device;
  return {};
}

Status Call::checkArgument(size_t process, size_t index) const {
  const Buffer *buffer = argument(process, index);
  const TensorType &type = program.entry().arguments[index].type;
  if (!buffer)
    return invalidArgument("{}: no buffer: got null", subject(process, index));
  if (buffer->client != executable.client)
    return invalidArgument("{}: a buffer of another client", subject(process, index));
  TORCHERE_ASSIGN(const Index *sizes, buffer->shape());
  ElementType elementType = buffer->declaredType.elementType;
  if (elementType != type.elementType || !haveSizes(*sizes, type))
    return invalidArgument("{}: got a {}, expected a {}", subject(process, index),
                           TensorType{elementType, *sizes}.text(), type.text());
  if (buffer->device != devices[process])
    return invalidArgument("{}: got a buffer on device {}, expected one on device {}",
                           subject(process, index), buffer->device->id, devices[process]->id);
  return {};
}

/// By argument, whether this call donates it.
std::vector<bool> Call::donations() const {
  std::vector<bool> isDonated;
  isDonated.reserve(args.argumentCount);
  for (const interpreter::EntryArgument &argument : program.entry().arguments)
    isDonated.push_back(argument.isDonated);
  for (size_t kept = 0; args.options && kept < args.options->nonDonatableInputCount; ++kept)
    if (auto index = static_cast<uint64_t>(args.options->nonDonatableInputs[kept]); index < isDonated.size())
      isDonated[index] = false;
  return isDonated;
}

/// That no donated buffer is another argument as well.
Status Call::checkDonations(const std::vector<bool> &isDonated, size_t process) const {
  std::vector<std::pair<const Buffer *, size_t>> donated; // with the argument's index
  for (size_t index = 0; index < args.argumentCount; ++index)
    if (isDonated[index])
      donated.emplace_back(argument(process, index), index);
  if (donated.empty())
    return {};
  std::ranges::sort(donated);
  for (size_t other = 0; other < args.argumentCount; ++other) {
    const Buffer *buffer = argument(process, other);
    auto found = std::ranges::lower_bound(donated, std::pair(buffer, size_t{0}));
    if (found == donated.end() || found->first != buffer)
      continue;
    size_t index = found->second;
    if (auto next = found + 1; index == other && next != donated.end() && next->first == buffer)
      other = next->second;
    if (index != other)
      return invalidArgument("{}: the buffer is donated and argument {} as well", subject(process, index),
                             other);
  }
  return {};
}

Status Call::holdArguments(Execution &execution) const {
  execution.arguments.resize(args.deviceCount);
  for (size_t process = 0; process < args.deviceCount; ++process) {
    execution.arguments[process].reserve(args.argumentCount);
    for (size_t index = 0; index < args.argumentCount; ++index) {
      ArrayUse array = argument(process, index)->contents();
      if (!array)
        return isGone(process, index);
      execution.arguments[process].push_back(std::move(array));
    }
  }
  return {};
}

/// Deletes them, whatever happens to the execution afterwards.
Status Call::takeDonated(const Execution &execution) const {
  for (size_t process = 0; process < args.deviceCount; ++process)
    for (size_t index = 0; index < args.argumentCount; ++index)
      if (execution.isDonated[index] && !argument(process, index)->take())
        return isGone(process, index); // another thread took it first
  return {};
}

void Call::giveResults(Execution &execution) const {
  const interpreter::EntryPoint &entry = program.entry();
  for (size_t process = 0; process < args.deviceCount; ++process) {
    execution.results.emplace_back();
    for (size_t index = 0; index < entry.results.size(); ++index) {
      auto array = std::make_shared<Array>();
      execution.results[process].push_back(array);
      args.outputLists[process][index] =
          handleOf<pjrt::Buffer>(new Buffer(executable.client, devices[process], entry.results[index],
                                            program.resultTypes()[index], std::move(array)));
    }
    if (args.deviceCompleteEvents)
      args.deviceCompleteEvents[process] = makeEvent(execution.complete);
  }
}

Result<std::shared_ptr<Execution>> Call::start(std::string *report) {
  TORCHERE_TRY(checkCounts());
  TORCHERE_TRY(chooseDevices());
  for (size_t process = 0; process < args.deviceCount; ++process)
    for (size_t index = 0; index < args.argumentCount; ++index)
      TORCHERE_TRY(checkArgument(process, index));
  auto execution = std::make_shared<Execution>();
  execution->program = executable.program;
  execution->report = report;
  execution->isDonated = donations();
  TORCHERE_TRY(holdArguments(*execution));
  for (size_t process = 0; process < args.deviceCount; ++process)
    TORCHERE_TRY(checkDonations(execution->isDonated, process));
  TORCHERE_TRY(takeDonated(*execution));
  giveResults(*execution);
  Client &client = *executable.client;
  auto task = [execution] { execution->run(); };
  if (execution->isShort())
    client.performShort(task);
  else
    client.perform(task);
  return execution;
}

Status execute(LoadedExecutableExecuteArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  TORCHERE_TRY(Call(args).start());
  return {};
}

Status profile(ProfileExecuteArgs &args) {
  TORCHERE_TRY(checkGiven(args.execute, "arguments"));
  TORCHERE_TRY(checkStructure(args.execute));
  TORCHERE_TRY(checkGiven(args.execute->executable, "executable"));
  auto report = std::make_unique<std::string>();
  TORCHERE_ASSIGN(std::shared_ptr<Execution> execution, Call(*args.execute).start(report.get()));
  (void)execution->complete->wait(); // its error is that of the events as well
  args.report = report->data();
  args.reportSize = report->size();
  args.held = report.release();
  args.destroy = [](void *held) { delete static_cast<std::string *>(held); };
  return {};
}

pjrt::Error *profileEntry(ProfileExecuteArgs *args) noexcept {
  Status status = guarded([args]() -> Status {
    TORCHERE_TRY(checkStructure(args));
    return profile(*args);
  });
  return status ? nullptr : makeError(status.error(), "profile");
}

} // namespace

pjrt::Extension *profileExtension(pjrt::Extension *next) {
  static pjrt::ProfileExtension extension = {
      {sizeof(pjrt::ProfileExtension), pjrt::profileExtensionType, next}, profileEntry};
  return &extension.base;
}

void fillExecute(pjrt::Api &api) {
  TORCHERE_PJRT_FILL(api, loadedExecutableExecute, execute);
}

} // namespace torchere::pjrt_server
