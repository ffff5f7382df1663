// Implements the functions for compilation, executables and executions.
#include "pjrt_server/executable.h"

#include "pjrt_server/execution.h"
#include "pjrt_server/handles.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace torchere::pjrt_server {

namespace {

// Names declared in this folder take precedence over PJRT's.
using namespace pjrt;

using ProgramPointer = std::shared_ptr<const CompiledProgram>;

Result<std::string_view> bytesOf(const char *data, size_t size, std::string_view what) {
  if (size)
    TORCHERE_TRY(checkGiven(data, what));
  return std::string_view(data, size);
}

Result<pjrt::LoadedExecutable *> load(const std::shared_ptr<Client> &client, ProgramPointer program) {
  auto executable = std::make_unique<LoadedExecutable>();
  std::vector<int64_t> ids = program->options().deviceIds;
  for (size_t id = ids.size(); id < program->processCount(); ++id)
    ids.push_back(static_cast<int64_t>(id));
  if (program->processCount() > client->devices.size())
    return invalidArgument("{} replicas of {} partitions for {} devices", program->options().replicaCount,
                           program->options().partitionCount, client->devices.size());
  if (std::set<int64_t>(ids.begin(), ids.end()).size() != ids.size())
    return invalidArgument("a device is assigned twice");
  TORCHERE_ASSIGN(executable->devices, client->findDevices(ids));
  for (Device *device : executable->devices)
    executable->deviceHandles.push_back(device->handle);
  executable->client = client;
  executable->program = std::move(program);
  return handleOf<pjrt::LoadedExecutable>(executable.release());
}

Status compile(ClientCompileArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_TRY(checkGiven(args.program, "program"));
  TORCHERE_TRY(checkStructure(args.program));
  TORCHERE_ASSIGN(std::string_view format, bytesOf(args.program->format, args.program->formatSize, "format"));
  TORCHERE_ASSIGN(std::string_view code, bytesOf(args.program->code, args.program->codeSize, "code"));
  TORCHERE_ASSIGN(std::string_view options,
                  bytesOf(args.compileOptions, args.compileOptionsSize, "compile options"));
  if (format != "mlir")
    return fail(ErrorCode::Unimplemented, "a program in the format '{}', expected 'mlir'", format);
  const std::shared_ptr<Client> &client = held(args.client);
  TORCHERE_ASSIGN(ProgramPointer program,
                  CompiledProgram::compile(client->engine, client->options, code, options));
  TORCHERE_ASSIGN(args.executable, load(client, std::move(program)));
  return {};
}

Status deserialize(ExecutableDeserializeAndLoadArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_ASSIGN(std::string_view bytes, bytesOf(args.bytes, args.byteSize, "stored executable"));
  const std::shared_ptr<Client> &client = held(args.client);
  bool isOverridden = args.structSize >= ExecutableDeserializeAndLoadArgs{}.structSize && args.compileOptions;
  std::optional<std::string_view> options;
  if (isOverridden)
    options.emplace(args.compileOptions, args.compileOptionsSize);
  TORCHERE_ASSIGN(ProgramPointer program,
                  CompiledProgram::deserialize(client->engine, client->options, bytes, options));
  TORCHERE_ASSIGN(args.executable, load(client, std::move(program)));
  return {};
}

Status destroyExecutable(ExecutableDestroyArgs &args) {
  if (args.executable)
    delete &held(args.executable);
  return {};
}
Status nameOfExecutable(ExecutableNameArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.name = held(args.executable)->entry().name.data();
  args.nameSize = held(args.executable)->entry().name.size();
  return {};
}
Status replicaCount(ExecutableNumReplicasArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.count = static_cast<size_t>(held(args.executable)->options().replicaCount);
  return {};
}
Status partitionCount(ExecutableNumPartitionsArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.count = static_cast<size_t>(held(args.executable)->options().partitionCount);
  return {};
}
Status outputCount(ExecutableNumOutputsArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.count = held(args.executable)->entry().results.size();
  return {};
}
Status codeSize(ExecutableSizeOfGeneratedCodeInBytesArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.size = static_cast<int64_t>(held(args.executable)->code().size());
  return {};
}
Status fingerprint(ExecutableFingerprintArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.fingerprint = held(args.executable)->fingerprint().data();
  args.fingerprintSize = held(args.executable)->fingerprint().size();
  return {};
}
Status outputTypes(ExecutableOutputElementTypesArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.types = held(args.executable)->resultTypes().data();
  args.count = held(args.executable)->resultTypes().size();
  return {};
}
Status outputDimensions(ExecutableOutputDimensionsArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  for (const TensorType &result : held(args.executable)->entry().results)
    if (!result.isStatic())
      return fail(ErrorCode::Unimplemented, "a result is a {}: its buffers alone know their sizes",
                  result.text());
  args.outputCount = held(args.executable)->resultRanks().size();
  args.dimensions = held(args.executable)->resultDimensions().data();
  args.ranks = held(args.executable)->resultRanks().data();
  return {};
}
Status outputMemoryKinds(ExecutableOutputMemoryKindsArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.outputCount = held(args.executable)->entry().results.size();
  args.kinds = held(args.executable)->resultMemoryKinds().data();
  args.kindSizes = held(args.executable)->resultMemoryKindSizes().data();
  return {};
}
/// Arguments and results of open sizes are not counted.
Status compiledMemoryStatistics(ExecutableGetCompiledMemoryStatsArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  const interpreter::EntryPoint &entry = held(args.executable)->entry();
  int64_t arguments = 0, results = 0, aliases = 0;
  for (const interpreter::EntryArgument &argument : entry.arguments) {
    if (!argument.type.isStatic())
      continue;
    TORCHERE_ASSIGN(int64_t size, argument.type.byteSize());
    arguments += size;
    aliases += argument.aliasingResult ? size : 0;
  }
  for (const TensorType &result : entry.results) {
    if (!result.isStatic())
      continue;
    TORCHERE_ASSIGN(int64_t size, result.byteSize());
    results += size;
  }
  args.arguments = arguments;
  args.results = results;
  args.aliases = aliases;
  args.code = static_cast<int64_t>(held(args.executable)->code().size());
  args.temporaries = held(args.executable)->program().temporaryBytes();
  args.hostCode = args.hostArguments = args.hostResults = args.hostAliases = args.hostTemporaries = 0;
  args.peak = args.total = arguments + results + args.temporaries - aliases;
  return {};
}
/// Returns the program as it was given.
Status optimizedProgram(ExecutableOptimizedProgramArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  TORCHERE_TRY(checkGiven(args.program, "program"));
  const std::string &code = held(args.executable)->code();
  static constexpr std::string_view format = "mlir";
  args.program->format = format.data();
  args.program->formatSize = format.size();
  if (args.program->code && args.program->codeSize < code.size())
    return invalidArgument("memory for {} bytes, expected for {}", args.program->codeSize, code.size());
  if (args.program->code) // the caller's memory, which is meant to be written
    std::memcpy(const_cast<char *>(args.program->code), code.data(), code.size());
  args.program->codeSize = code.size();
  return {};
}
Status serialize(ExecutableSerializeArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  auto bytes = std::make_unique<std::string>(held(args.executable)->serialize());
  args.bytes = bytes->data();
  args.byteSize = bytes->size();
  args.serialized = reinterpret_cast<SerializedExecutable *>(bytes.release());
  args.deleter = [](SerializedExecutable *serialized) { delete reinterpret_cast<std::string *>(serialized); };
  return {};
}

Status destroyLoadedExecutable(LoadedExecutableDestroyArgs &args) {
  if (args.executable)
    delete &held(args.executable);
  return {};
}
Status executableOf(LoadedExecutableGetExecutableArgs &args) {
  TORCHERE_TRY(checkGiven(args.loadedExecutable, "executable"));
  args.executable = handleOf<pjrt::Executable>(new ProgramPointer(held(args.loadedExecutable).program));
  return {};
}
Status devicesOfExecutable(LoadedExecutableAddressableDevicesArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.devices = held(args.executable).deviceHandles.data();
  args.count = held(args.executable).deviceHandles.size();
  return {};
}
Status deviceAssignment(LoadedExecutableGetDeviceAssignmentArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  const LoadedExecutable &executable = held(args.executable);
  std::vector<int64_t> ids;
  for (const Device *device : executable.devices)
    ids.push_back(device->id);
  const pjrt::CompileOptions &options = executable.program->options();
  auto bytes = std::make_unique<std::string>(
      serializeDeviceAssignment(options.replicaCount, options.partitionCount, ids));
  args.bytes = bytes->data();
  args.byteSize = bytes->size();
  args.serialized = reinterpret_cast<SerializedDeviceAssignment *>(bytes.release());
  args.deleter = [](SerializedDeviceAssignment *serialized) {
    delete reinterpret_cast<std::string *>(serialized);
  };
  return {};
}
Status deleteExecutable(LoadedExecutableDeleteArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  held(args.executable).isDeleted = true;
  return {};
}
Status isExecutableDeleted(LoadedExecutableIsDeletedArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.isDeleted = held(args.executable).isDeleted;
  return {};
}
Status fingerprintOfLoaded(LoadedExecutableFingerprintArgs &args) {
  TORCHERE_TRY(checkGiven(args.executable, "executable"));
  args.fingerprint = held(args.executable).program->fingerprint().data();
  args.fingerprintSize = held(args.executable).program->fingerprint().size();
  return {};
}

} // namespace

void fillExecutable(pjrt::Api &api) {
  TORCHERE_PJRT_FILL(api, clientCompile, compile);
  TORCHERE_PJRT_FILL(api, executableDeserializeAndLoad, deserialize);
  TORCHERE_PJRT_FILL(api, executableDestroy, destroyExecutable);
  TORCHERE_PJRT_FILL(api, executableName, nameOfExecutable);
  TORCHERE_PJRT_FILL(api, executableNumReplicas, replicaCount);
  TORCHERE_PJRT_FILL(api, executableNumPartitions, partitionCount);
  TORCHERE_PJRT_FILL(api, executableNumOutputs, outputCount);
  TORCHERE_PJRT_FILL(api, executableSizeOfGeneratedCodeInBytes, codeSize);
  TORCHERE_PJRT_FILL(api, executableFingerprint, fingerprint);
  TORCHERE_PJRT_FILL(api, executableOutputElementTypes, outputTypes);
  TORCHERE_PJRT_FILL(api, executableOutputDimensions, outputDimensions);
  TORCHERE_PJRT_FILL(api, executableOutputMemoryKinds, outputMemoryKinds);
  TORCHERE_PJRT_FILL(api, executableGetCompiledMemoryStats, compiledMemoryStatistics);
  TORCHERE_PJRT_FILL(api, executableOptimizedProgram, optimizedProgram);
  TORCHERE_PJRT_FILL(api, executableSerialize, serialize);
  TORCHERE_PJRT_FILL(api, loadedExecutableDestroy, destroyLoadedExecutable);
  TORCHERE_PJRT_FILL(api, loadedExecutableGetExecutable, executableOf);
  TORCHERE_PJRT_FILL(api, loadedExecutableAddressableDevices, devicesOfExecutable);
  TORCHERE_PJRT_FILL(api, loadedExecutableGetDeviceAssignment, deviceAssignment);
  TORCHERE_PJRT_FILL(api, loadedExecutableDelete, deleteExecutable);
  TORCHERE_PJRT_FILL(api, loadedExecutableIsDeleted, isExecutableDeleted);
  TORCHERE_PJRT_FILL(api, loadedExecutableFingerprint, fingerprintOfLoaded);
}

} // namespace torchere::pjrt_server
