// Executable: compilation, serialization and loading, execution.
#include "runtime/executable.h"

#include "pjrt/own_extensions.h"

#include <bit>

namespace torchere::runtime {

Result<std::shared_ptr<const Executable>> Executable::compile(std::shared_ptr<Client> client,
                                                              std::string_view program,
                                                              const std::string &options,
                                                              const Device &device) {
  const Plugin &plugin = client->plugin();
  static constexpr std::string_view format = "mlir";
  pjrt::Program abiProgram;
  abiProgram.code = program.data();
  abiProgram.codeSize = program.size();
  abiProgram.format = format.data();
  abiProgram.formatSize = format.size();
  pjrt::ClientCompileArgs args;
  args.client = client->handle();
  args.program = &abiProgram;
  args.compileOptions = options.data();
  args.compileOptionsSize = options.size();
  TORCHERE_TRY(
      plugin.call(plugin.api().clientCompile, args, client->platformName(), "cannot compile the program"));
  return load(std::move(client), args.executable, device);
}

Result<std::shared_ptr<const Executable>>
Executable::deserialize(std::shared_ptr<Client> client, std::string_view bytes, const Device &device) {
  const Plugin &plugin = client->plugin();
  if (!plugin.api().executableDeserializeAndLoad)
    return fail(ErrorCode::Unimplemented, "[{}] the plugin cannot load executables: it has no {}",
                client->platformName(), "PJRT_Executable_DeserializeAndLoad");
  pjrt::ExecutableDeserializeAndLoadArgs args;
  args.client = client->handle();
  args.bytes = bytes.data();
  args.byteSize = bytes.size();
  TORCHERE_TRY(plugin.call(plugin.api().executableDeserializeAndLoad, args, client->platformName(),
                           "cannot load the executable"));
  return load(std::move(client), args.executable, device);
}

Result<std::shared_ptr<const Executable>>
Executable::load(std::shared_ptr<Client> client, pjrt::LoadedExecutable *handle, const Device &device) {
  std::shared_ptr<Executable> executable(new Executable(std::move(client), handle, device));
  TORCHERE_TRY(executable->readOutputCount());
  return std::shared_ptr<const Executable>(executable);
}

template <class Use> Status Executable::inspect(Use use) const {
  const Plugin &plugin = owningClient->plugin();
  pjrt::LoadedExecutableGetExecutableArgs get;
  get.loadedExecutable = executable;
  TORCHERE_TRY(plugin.call(plugin.api().loadedExecutableGetExecutable, get, owningClient->platformName(),
                           "cannot inspect the executable"));
  Status status = use(get.executable);
  pjrt::ExecutableDestroyArgs args;
  args.executable = get.executable;
  if (pjrt::Error *error = plugin.api().executableDestroy(&args))
    plugin.discard(error);
  return status;
}

Status Executable::readOutputCount() {
  return inspect([&](pjrt::Executable *inspected) {
    const Plugin &plugin = owningClient->plugin();
    pjrt::ExecutableNumOutputsArgs args;
    args.executable = inspected;
    Status status = plugin.call(plugin.api().executableNumOutputs, args, owningClient->platformName(),
                                "cannot count the executable's results");
    outputs = args.count;
    return status;
  });
}

Result<std::string> Executable::serialize() const {
  const Plugin &plugin = owningClient->plugin();
  if (!plugin.api().executableSerialize || !plugin.api().executableDeserializeAndLoad)
    return fail(ErrorCode::Unimplemented, "[{}] the plugin cannot store executables: it has no {}",
                owningClient->platformName(),
                plugin.api().executableSerialize ? "PJRT_Executable_DeserializeAndLoad"
                                                 : "PJRT_Executable_Serialize");
  std::string bytes;
  TORCHERE_TRY(inspect([&](pjrt::Executable *inspected) -> Status {
    pjrt::ExecutableSerializeArgs args;
    args.executable = inspected;
    TORCHERE_TRY(plugin.call(plugin.api().executableSerialize, args, owningClient->platformName(),
                             "cannot store the executable"));
    bytes.assign(args.bytes, args.byteSize);
    if (args.deleter)
      args.deleter(args.serialized);
    return {};
  }));
  return bytes;
}

Result<MemoryStatistics> Executable::memoryStatistics() const {
  TORCHERE_TRY(owningClient->checkProcess());
  const Plugin &plugin = owningClient->plugin();
  const pjrt::Api &api = plugin.api();
  if (!pjrt::offers(api, &pjrt::Api::executableGetCompiledMemoryStats))
    return fail(ErrorCode::Unimplemented,
                "[{}] the plugin does not tell what memory executables take: it has no {}",
                owningClient->platformName(), "PJRT_Executable_GetCompiledMemoryStats");
  pjrt::ExecutableGetCompiledMemoryStatsArgs args;
  TORCHERE_TRY(inspect([&](pjrt::Executable *inspected) {
    args.executable = inspected;
    return plugin.call(api.executableGetCompiledMemoryStats, args, owningClient->platformName(),
                       "cannot tell what memory the executable takes");
  }));
  return MemoryStatistics{args.arguments, args.results, args.aliases, args.temporaries, args.code};
}

Executable::~Executable() {
  if (owningClient->isForked())
    return;
  const Plugin &plugin = owningClient->plugin();
  pjrt::LoadedExecutableDestroyArgs args;
  args.executable = executable;
  if (pjrt::Error *error = plugin.api().loadedExecutableDestroy(&args))
    plugin.discard(error);
}

Status Executable::launch(std::span<const Buffer *const> arguments, std::span<const int64_t> kept,
                          std::span<pjrt::Buffer *> results, pjrt::Event *&end, std::string *report) const {
  TORCHERE_TRY(owningClient->checkProcess());
  const Plugin &plugin = owningClient->plugin();
  std::vector<pjrt::Buffer *> handles;
  handles.reserve(arguments.size());
  for (const Buffer *argument : arguments) {
    if (argument->execution)
      TORCHERE_TRY(argument->failure());
    handles.push_back(argument->handle());
  }
  pjrt::Buffer *const *argumentList = handles.data();
  pjrt::Buffer **resultList = results.data();
  pjrt::ExecuteOptions options;
  options.nonDonatableInputs = kept.data();
  options.nonDonatableInputCount = kept.size();
  pjrt::LoadedExecutableExecuteArgs args;
  args.executable = executable;
  args.options = &options;
  args.argumentLists = &argumentList;
  args.deviceCount = 1;
  args.argumentCount = handles.size();
  args.outputLists = &resultList;
  args.deviceCompleteEvents = &end;
  if (report)
    return measure(args, *report);
  return plugin.call(plugin.api().loadedExecutableExecute, args, owningClient->platformName(),
                     "cannot execute the program");
}

Result<std::vector<Buffer>> Executable::execute(std::span<const Buffer *const> arguments,
                                                std::span<const int64_t> kept) const {
  std::vector<pjrt::Buffer *> results(outputs);
  pjrt::Event *end = nullptr;
  TORCHERE_TRY(launch(arguments, kept, results, end));
  return finish(arguments, results, end);
}

Result<std::pair<std::vector<Buffer>, std::string>>
Executable::profile(std::span<const Buffer *const> arguments, std::span<const int64_t> kept) const {
  std::vector<pjrt::Buffer *> results(outputs);
  pjrt::Event *end = nullptr;
  std::string report;
  TORCHERE_TRY(launch(arguments, kept, results, end, &report));
  TORCHERE_ASSIGN(std::vector<Buffer> buffers, finish(arguments, results, end));
  return std::pair(std::move(buffers), std::move(report));
}

Status Executable::measure(pjrt::LoadedExecutableExecuteArgs &args, std::string &report) const {
  const Plugin &plugin = owningClient->plugin();
  const pjrt::ProfileExtension *extension = plugin.profiles();
  if (!extension)
    return fail(ErrorCode::Unimplemented,
                "[{}] the plugin measures no kernels: got '{}', expected torchere_cpu",
                owningClient->platformName(), plugin.path());
  pjrt::ProfileExecuteArgs profile;
  profile.execute = &args;
  TORCHERE_TRY(
      plugin.call(extension->execute, profile, owningClient->platformName(), "cannot execute the program"));
  report.assign(profile.report, profile.reportSize);
  profile.destroy(profile.held);
  return {};
}

/// Waits for the end of the execution.
Result<std::vector<Buffer>> Executable::finish(std::span<const Buffer *const> arguments,
                                               std::span<pjrt::Buffer *const> results,
                                               pjrt::Event *end) const {
  Status status =
      owningClient->plugin().await(end, owningClient->platformName(), "executing the program failed");
  if (!status) {
    destroy(results);
    for (const Buffer *argument : arguments)
      if (argument->execution)
        TORCHERE_TRY(argument->wait());
    return tl::unexpected(std::move(status).error());
  }
  countCall();
  return wrap(results, nullptr, true);
}

Result<std::vector<Buffer>> Executable::start(std::span<const Buffer *const> arguments,
                                              std::span<const int64_t> kept, Origin origin) const {
  std::vector<std::shared_ptr<Execution>> inputs;
  for (const Buffer *argument : arguments)
    if (argument->execution && !argument->isComputed())
      inputs.push_back(argument->execution);
  std::vector<pjrt::Buffer *> results(outputs);
  pjrt::Event *end = nullptr;
  TORCHERE_TRY(launch(arguments, kept, results, end));
  std::shared_ptr<Execution> execution;
  if (end) // without an end event, each result reports its own readiness
    execution = Execution::watch(owningClient->plugin(), end, std::move(origin), std::move(inputs),
                                 owningClient->running());
  countCall();
  return wrap(results, execution, false);
}

/// It is stored again after call 1, 4, 16, 64, ...: seldom, and early enough for processes that end soon.
void Executable::countCall() const {
  if (!openEntry.key)
    return;
  uint64_t count = openEntry.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(count) && std::countr_zero(count) % 2 == 0)
    owningClient->storeGrown(*this);
}

Result<Executable::OutputType> Executable::readOutputType(pjrt::Buffer *result) const {
  TORCHERE_ASSIGN(ArrayType type, Buffer::readType(*owningClient, result));
  bool hostReadable = Buffer::isHostReadable(owningClient->plugin(), result, type.shape.size());
  return OutputType{std::make_shared<const ArrayType>(std::move(type)), hostReadable};
}

Status Executable::readOutputTypes(std::span<pjrt::Buffer *const> results) const {
  for (pjrt::Buffer *result : results) {
    outputTypes.emplace_back();
    if (!Buffer::hasUnknownSizes(owningClient->plugin(), result)) {
      TORCHERE_ASSIGN(outputTypes.back(), readOutputType(result));
    }
  }
  return {};
}

Result<std::vector<Buffer>> Executable::wrap(std::span<pjrt::Buffer *const> results,
                                             const std::shared_ptr<Execution> &execution,
                                             bool isReady) const {
  std::call_once(typesOnce, [&] { typesStatus = readOutputTypes(results); });
  if (!typesStatus) {
    destroy(results);
    return tl::unexpected(typesStatus.error());
  }
  std::vector<Buffer> buffers;
  buffers.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const OutputType *output = &outputTypes[i];
    OutputType own;
    if (!output->type) {
      Result<OutputType> read = readOutputType(results[i]);
      if (!read) {
        destroy(results.subspan(i));
        return tl::unexpected(std::move(read).error());
      }
      own = *std::move(read);
      output = &own;
    }
    Buffer &buffer = buffers.emplace_back(Buffer(owningClient, *device, results[i], output->type));
    buffer.execution = execution;
    buffer.isReady = isReady;
    buffer.hostReadable = output->hostReadable;
  }
  return buffers;
}

void Executable::destroy(std::span<pjrt::Buffer *const> results) const {
  const Plugin &plugin = owningClient->plugin();
  for (pjrt::Buffer *result : results) {
    pjrt::BufferDestroyArgs args;
    args.buffer = result;
    if (!result)
      continue;
    if (pjrt::Error *error = plugin.api().bufferDestroy(&args))
      plugin.discard(error);
  }
}

} // namespace torchere::runtime
