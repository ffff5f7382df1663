// Executable: compilation and execution.
#include "runtime/executable.h"

namespace torchere::runtime {

Result<std::shared_ptr<const Executable>>
Executable::compile(std::shared_ptr<Client> client, std::string_view program, const CompileOptions &options) {
  const Plugin &plugin = client->plugin();
  static constexpr std::string_view format = "mlir";
  abi::Program abiProgram;
  abiProgram.code = program.data();
  abiProgram.codeSize = program.size();
  abiProgram.format = format.data();
  abiProgram.formatSize = format.size();
  CompileOptions effective = options;
  if (client->platformName() == "cpu") // else XLA's min and max lose NaN, against StableHLO's specification
    effective.switches.emplace("xla_cpu_enable_fast_min_max", false);
  std::string serialized = effective.serialize();
  abi::ClientCompileArgs args;
  args.client = client->handle();
  args.program = &abiProgram;
  args.compileOptions = serialized.data();
  args.compileOptionsSize = serialized.size();
  TORCHERE_TRY(
      plugin.call(plugin.api().clientCompile, args, client->platformName(), "cannot compile the program"));
  std::shared_ptr<Executable> executable(new Executable(std::move(client), args.executable));
  TORCHERE_TRY(executable->readOutputCount());
  return std::shared_ptr<const Executable>(executable);
}

Status Executable::readOutputCount() {
  const Plugin &plugin = owningClient->plugin();
  abi::LoadedExecutableGetExecutableArgs get;
  get.loadedExecutable = executable;
  TORCHERE_TRY(plugin.call(plugin.api().loadedExecutableGetExecutable, get, owningClient->platformName(),
                           "cannot inspect the executable"));
  abi::ExecutableNumOutputsArgs count;
  count.executable = get.executable;
  Status status = plugin.call(plugin.api().executableNumOutputs, count, owningClient->platformName(),
                              "cannot count the executable's results");
  outputs = count.count;
  abi::ExecutableDestroyArgs destroyArgs;
  destroyArgs.executable = get.executable;
  if (abi::Error *error = plugin.api().executableDestroy(&destroyArgs))
    plugin.discard(error);
  return status;
}

Executable::~Executable() {
  if (owningClient->isForked())
    return;
  const Plugin &plugin = owningClient->plugin();
  abi::LoadedExecutableDestroyArgs args;
  args.executable = executable;
  if (abi::Error *error = plugin.api().loadedExecutableDestroy(&args))
    plugin.discard(error);
}

Result<std::vector<Buffer>> Executable::execute(std::span<const Buffer *const> arguments,
                                                std::span<const int64_t> kept) const {
  TORCHERE_TRY(owningClient->checkProcess());
  const Plugin &plugin = owningClient->plugin();
  std::vector<abi::Buffer *> handles;
  handles.reserve(arguments.size());
  for (const Buffer *argument : arguments)
    handles.push_back(argument->handle());
  std::vector<abi::Buffer *> results(outputs);
  abi::Buffer *const *argumentList = handles.data();
  abi::Buffer **resultList = results.data();
  abi::Event *complete = nullptr;
  abi::ExecuteOptions options;
  options.nonDonatableInputs = kept.data();
  options.nonDonatableInputCount = kept.size();
  abi::LoadedExecutableExecuteArgs args;
  args.executable = executable;
  args.options = &options;
  args.argumentLists = &argumentList;
  args.deviceCount = 1;
  args.argumentCount = handles.size();
  args.outputLists = &resultList;
  args.deviceCompleteEvents = &complete;
  const std::string &subject = owningClient->platformName();
  TORCHERE_TRY(
      plugin.call(plugin.api().loadedExecutableExecute, args, subject, "cannot execute the program"));
  if (Status status = plugin.await(complete, subject, "executing the program failed"); !status) {
    destroy(results);
    return tl::unexpected(std::move(status).error());
  }
  return wrap(results);
}

Status Executable::readOutputTypes(std::span<abi::Buffer *const> results) const {
  for (abi::Buffer *result : results) {
    TORCHERE_ASSIGN(ArrayType type, Buffer::readType(*owningClient, result));
    bool hostReadable = Buffer::isHostReadable(owningClient->plugin(), result, type.shape.size());
    outputTypes.push_back({std::make_shared<const ArrayType>(std::move(type)), hostReadable});
  }
  return {};
}

Result<std::vector<Buffer>> Executable::wrap(std::span<abi::Buffer *const> results) const {
  std::call_once(typesOnce, [&] { typesStatus = readOutputTypes(results); });
  if (!typesStatus) {
    destroy(results);
    return tl::unexpected(typesStatus.error());
  }
  std::vector<Buffer> buffers;
  buffers.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    Buffer &buffer = buffers.emplace_back(Buffer(owningClient, results[i], outputTypes[i].type));
    buffer.isReady = true;
    buffer.hostReadable = outputTypes[i].hostReadable;
  }
  return buffers;
}

void Executable::destroy(std::span<abi::Buffer *const> results) const {
  const Plugin &plugin = owningClient->plugin();
  for (abi::Buffer *result : results) {
    abi::BufferDestroyArgs args;
    args.buffer = result;
    if (!result)
      continue;
    if (abi::Error *error = plugin.api().bufferDestroy(&args))
      plugin.discard(error);
  }
}

} // namespace torchere::runtime
