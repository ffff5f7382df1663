// A PJRT plugin for the tests: it records calls, copies arguments to results, and fails where it is told to.
// It is linked with one of several variants, most of which make it wrong in one way.
#include "fake_plugin.h"
#include "fake_variant.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

namespace torchere::pjrt {

struct Error {
  std::string message;
  int code;
};
struct Event {
  bool ready = true;
  std::string error;
  EventCallback callback = nullptr;
  void *argument = nullptr;
};
struct DeviceDescription {
  int id;
};
struct Device {
  DeviceDescription description;
};
struct Client {
  Device devices[2] = {{{0}}, {{1}}};
  Device *list[2] = {&devices[0], &devices[1]};
};
struct Executable {};
struct LoadedExecutable {};
struct SerializedExecutable {
  std::string bytes;
};
/// What a buffer holds; an execution that has not begun keeps it when the buffer is gone.
struct Contents {
  std::vector<char> bytes;
  const void *host = nullptr; ///< the memory itself, when it was taken without a copy
  std::string error;          ///< why it was not computed
  const void *data() const { return host ? host : bytes.data(); }
};
static size_t sizeOf(BufferType type) {
  switch (type) {
  case BufferType::F32:
  case BufferType::S32:
    return 4;
  case BufferType::F64:
  case BufferType::S64:
    return 8;
  default:
    return 1;
  }
}
struct Buffer {
  BufferType type;
  std::vector<int64_t> dimensions, minorToMajor;
  std::shared_ptr<Contents> contents = std::make_shared<Contents>();
  bool deleted = false;
  size_t byteSize() const {
    size_t size = sizeOf(type);
    for (int64_t dimension : dimensions)
      size *= static_cast<size_t>(dimension);
    return size;
  }
};

} // namespace torchere::pjrt

namespace torchere::runtime {
namespace {

using namespace pjrt;

/// An execution that was asked for: it reads the sources, and writes the results and what is donated.
struct Execution {
  std::vector<std::shared_ptr<Contents>> sources, results, donated;
  Event *end;
  void run();
};

FakeControl control;
std::mutex recordMutex; // guards what the plugin writes in `control`, and what follows
std::vector<Execution> heldExecutions;
std::condition_variable isReady;

template <class T> T *make(T value) {
  std::lock_guard lock(recordMutex);
  ++control.live;
  return new T(std::move(value));
}
template <class T> void unmake(T *value) {
  std::lock_guard lock(recordMutex);
  --control.live;
  delete value;
}

void record(const char *name) {
  std::lock_guard lock(recordMutex);
  control.calls.push_back(name);
}
/// Records the call; the error that it shall answer, or null.
pjrt::Error *enter(const char *name) {
  record(name);
  return control.failing == name
             ? make(pjrt::Error{std::string(name) + " was told to fail", control.errorCode})
             : nullptr;
}
Event *makeEvent(const char *name) {
  return make(
      Event{true, control.failingEvent == name ? std::string(name) + " went wrong" : "", nullptr, nullptr});
}

#define ENTER(name)                                                                                          \
  if (pjrt::Error *error = enter(name))                                                                      \
  return error

void errorDestroy(ErrorDestroyArgs *args) {
  unmake(const_cast<pjrt::Error *>(args->error));
}
void errorMessage(ErrorMessageArgs *args) {
  args->message = args->error->message.data();
  args->messageSize = args->error->message.size();
}
pjrt::Error *errorGetCode(ErrorGetCodeArgs *args) {
  args->code = args->error->code;
  return nullptr;
}

pjrt::Error *pluginInitialize(PluginInitializeArgs *) {
  if (variant.initializeFails)
    control.failing = "PJRT_Plugin_Initialize";
  ENTER("PJRT_Plugin_Initialize");
  return nullptr;
}
pjrt::Error *pluginAttributes(PluginAttributesArgs *args) {
  if (variant.isWithoutAttributes)
    control.failing = "PJRT_Plugin_Attributes";
  ENTER("PJRT_Plugin_Attributes");
  static const int64_t version[] = {1, 7, 5};
  static NamedValue values[3];
  values[0].name = "stablehlo_current_version";
  values[0].nameSize = std::strlen(values[0].name);
  values[0].type = NamedValueType::Int64List;
  values[0].int64List = version;
  values[0].valueSize = 3;
  values[1].name = "vendor";
  values[1].nameSize = 6;
  values[1].type = NamedValueType::String;
  values[1].string = "nobody";
  values[1].valueSize = 6;
  values[2].name = "fast";
  values[2].nameSize = 4;
  values[2].type = NamedValueType::Bool;
  values[2].boolean = false;
  values[2].valueSize = 1;
  args->attributes = values;
  args->count = 3;
  if (variant.xlaVersion) {
    static NamedValue withXla[4];
    std::copy(values, values + 3, withXla);
    withXla[3].name = "xla_version";
    withXla[3].nameSize = std::strlen(withXla[3].name);
    withXla[3].type = NamedValueType::Int64;
    withXla[3].int64 = variant.xlaVersion;
    withXla[3].valueSize = 1;
    args->attributes = withXla;
    args->count = 4;
  }
  return nullptr;
}

pjrt::Error *eventDestroy(EventDestroyArgs *args) {
  unmake(args->event);
  return nullptr;
}
pjrt::Error *eventIsReady(EventIsReadyArgs *args) {
  ENTER("PJRT_Event_IsReady");
  std::lock_guard lock(recordMutex);
  args->isReady = args->event->ready;
  return nullptr;
}
pjrt::Error *errorOf(const Event &event) {
  return event.error.empty() ? nullptr : make(pjrt::Error{event.error, 8});
}
pjrt::Error *eventAwait(EventAwaitArgs *args) {
  ENTER("PJRT_Event_Await");
  if (control.onAwait)
    control.onAwait();
  std::unique_lock lock(recordMutex);
  isReady.wait(lock, [&] { return args->event->ready; });
  lock.unlock();
  return errorOf(*args->event);
}
pjrt::Error *eventOnReady(EventOnReadyArgs *args) {
  ENTER("PJRT_Event_OnReady");
  std::unique_lock lock(recordMutex);
  if (!args->event->ready) {
    args->event->callback = args->callback;
    args->event->argument = args->argument;
    return nullptr;
  }
  lock.unlock();
  args->callback(errorOf(*args->event), args->argument);
  return nullptr;
}
void makeReady(Event *event) {
  std::unique_lock lock(recordMutex);
  event->ready = true;
  EventCallback callback = event->callback;
  void *argument = event->argument;
  lock.unlock();
  pjrt::Error *error = callback ? errorOf(*event) : nullptr;
  isReady.notify_all();
  if (callback) // which may destroy the event
    callback(error, argument);
}

std::string textOf(const NamedValue &value) {
  switch (value.type) {
  case NamedValueType::String:
    return std::string(value.string, value.valueSize);
  case NamedValueType::Int64:
    return std::to_string(value.int64);
  case NamedValueType::Int64List: {
    std::string text;
    for (size_t i = 0; i < value.valueSize; ++i)
      text += std::to_string(value.int64List[i]) + ";";
    return text;
  }
  case NamedValueType::Float:
    return std::to_string(value.float32);
  case NamedValueType::Bool:
    return value.boolean ? "true" : "false";
  }
  return "?";
}

pjrt::Error *clientCreate(ClientCreateArgs *args) {
  ENTER("PJRT_Client_Create");
  control.options.clear();
  for (size_t i = 0; i < args->optionCount; ++i)
    control.options[std::string(args->options[i].name, args->options[i].nameSize)] = textOf(args->options[i]);
  args->client = make(pjrt::Client());
  for (int i = 0; i < 2; ++i)
    args->client->list[i] = &args->client->devices[i];
  return nullptr;
}
pjrt::Error *clientDestroy(ClientDestroyArgs *args) {
  record(heldExecutions.empty() ? "PJRT_Client_Destroy" : "PJRT_Client_Destroy with executions");
  unmake(args->client);
  return nullptr;
}
pjrt::Error *clientPlatformName(ClientPlatformNameArgs *args) {
  ENTER("PJRT_Client_PlatformName");
  args->name = control.platform.data();
  args->nameSize = control.platform.size();
  return nullptr;
}
pjrt::Error *clientPlatformVersion(ClientPlatformVersionArgs *args) {
  ENTER("PJRT_Client_PlatformVersion");
  args->version = "fake 1";
  args->versionSize = 6;
  return nullptr;
}
pjrt::Error *clientAddressableDevices(ClientAddressableDevicesArgs *args) {
  ENTER("PJRT_Client_AddressableDevices");
  args->devices = args->client->list;
  args->count = control.failingEvent == "no devices" ? 0 : 2;
  return nullptr;
}
pjrt::Error *clientCompile(ClientCompileArgs *args) {
  if (control.onCompile)
    control.onCompile();
  ENTER("PJRT_Client_Compile");
  std::unique_lock lock(recordMutex);
  control.compileOptions.assign(args->compileOptions, args->compileOptionsSize);
  control.program.assign(args->program->code, args->program->codeSize);
  control.format.assign(args->program->format, args->program->formatSize);
  lock.unlock();
  args->executable = make(LoadedExecutable());
  return nullptr;
}

pjrt::Error *clientBufferFromHostBuffer(ClientBufferFromHostBufferArgs *args) {
  ENTER("PJRT_Client_BufferFromHostBuffer");
  pjrt::Buffer buffer;
  buffer.type = args->type;
  buffer.dimensions.assign(args->dimensions, args->dimensions + args->dimensionCount);
  if (args->semantics == HostBufferSemantics::ImmutableZeroCopy) {
    buffer.contents->host = args->data;
  } else {
    buffer.contents->bytes.resize(buffer.byteSize());
    std::memcpy(buffer.contents->bytes.data(), args->data, buffer.byteSize());
  }
  args->buffer = make(std::move(buffer));
  args->doneWithHostBuffer = makeEvent("PJRT_Client_BufferFromHostBuffer");
  if (control.holdsHostMemory) {
    std::lock_guard lock(recordMutex);
    args->doneWithHostBuffer->ready = false;
    control.held.push_back(args->doneWithHostBuffer);
  }
  return nullptr;
}

pjrt::Error *descriptionId(DeviceDescriptionIdArgs *args) {
  ENTER("PJRT_DeviceDescription_Id");
  args->id = args->description->id;
  return nullptr;
}
pjrt::Error *descriptionKind(DeviceDescriptionKindArgs *args) {
  ENTER("PJRT_DeviceDescription_Kind");
  args->kind = "imaginary";
  args->kindSize = 9;
  return nullptr;
}
pjrt::Error *descriptionText(DeviceDescriptionToStringArgs *args) {
  ENTER("PJRT_DeviceDescription_ToString");
  args->text = args->description->id ? "second" : "first";
  args->textSize = std::strlen(args->text);
  return nullptr;
}
pjrt::Error *deviceDescription(DeviceGetDescriptionArgs *args) {
  ENTER("PJRT_Device_GetDescription");
  args->description = &args->device->description;
  return nullptr;
}

pjrt::Error *executableDestroy(ExecutableDestroyArgs *args) {
  unmake(args->executable);
  return nullptr;
}
pjrt::Error *executableNumOutputs(ExecutableNumOutputsArgs *args) {
  ENTER("PJRT_Executable_NumOutputs");
  args->count = control.outputCount;
  return nullptr;
}
pjrt::Error *deviceMemoryStats(DeviceMemoryStatsArgs *args) {
  ENTER("PJRT_Device_MemoryStats");
  args->inUse = 100 + args->device->description.id;
  args->limit = {1000, args->device->description.id == 1};
  return nullptr;
}
pjrt::Error *executableGetCompiledMemoryStats(ExecutableGetCompiledMemoryStatsArgs *args) {
  ENTER("PJRT_Executable_GetCompiledMemoryStats");
  args->arguments = 1;
  args->results = 2;
  args->aliases = 3;
  args->temporaries = 4;
  args->code = 5;
  args->total = 6;
  return nullptr;
}
pjrt::Error *loadedExecutableDestroy(LoadedExecutableDestroyArgs *args) {
  record("PJRT_LoadedExecutable_Destroy");
  unmake(args->executable);
  return nullptr;
}
pjrt::Error *loadedExecutableGetExecutable(LoadedExecutableGetExecutableArgs *args) {
  ENTER("PJRT_LoadedExecutable_GetExecutable");
  args->executable = make(pjrt::Executable());
  return nullptr;
}
pjrt::Error *executableSerialize(ExecutableSerializeArgs *args) {
  ENTER("PJRT_Executable_Serialize");
  args->serialized = make(SerializedExecutable{control.stored});
  args->bytes = args->serialized->bytes.data();
  args->byteSize = args->serialized->bytes.size();
  args->deleter = [](SerializedExecutable *serialized) { unmake(serialized); };
  return nullptr;
}
pjrt::Error *executableDeserializeAndLoad(ExecutableDeserializeAndLoadArgs *args) {
  ENTER("PJRT_Executable_DeserializeAndLoad");
  {
    std::lock_guard lock(recordMutex);
    control.loaded.assign(args->bytes, args->byteSize);
  }
  args->executable = make(LoadedExecutable());
  return nullptr;
}
pjrt::Error *loadedExecutableExecute(LoadedExecutableExecuteArgs *args) {
  if (variant.executionsFail)
    control.failingEvent = "PJRT_LoadedExecutable_Execute";
  ENTER("PJRT_LoadedExecutable_Execute");
  std::span kept(args->options->nonDonatableInputs, args->options->nonDonatableInputCount);
  {
    std::lock_guard lock(recordMutex);
    control.kept.assign(kept.begin(), kept.end());
  }
  Execution execution;
  for (size_t i = 0; i < args->argumentCount; ++i)
    execution.sources.push_back(args->argumentLists[0][i]->contents);
  for (size_t i = 0; i < control.outputCount; ++i) {
    pjrt::Buffer result = *args->argumentLists[0][i];
    result.contents = std::make_shared<Contents>();
    result.contents->bytes.resize(result.byteSize(), '\xee'); // what is read too early
    result.deleted = false;
    execution.results.push_back(result.contents);
    args->outputLists[0][i] = make(std::move(result));
  }
  for (size_t i = 0; control.donates && i < args->argumentCount; ++i)
    if (std::find(kept.begin(), kept.end(), static_cast<int64_t>(i)) == kept.end()) {
      execution.donated.push_back(args->argumentLists[0][i]->contents);
      args->argumentLists[0][i]->deleted = true;
    }
  args->deviceCompleteEvents[0] = execution.end = makeEvent("PJRT_LoadedExecutable_Execute");
  if (control.holdsExecutions) {
    execution.end->ready = false;
    std::lock_guard lock(recordMutex);
    heldExecutions.push_back(std::move(execution));
  } else {
    execution.run();
  }
  return nullptr;
}

void Execution::run() {
  for (const auto &source : sources)
    if (!source->error.empty() && end->error.empty())
      end->error = "an argument was not computed: " + source->error;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i]->error = end->error;
    if (end->error.empty())
      std::memcpy(results[i]->bytes.data(), sources[i]->data(), results[i]->bytes.size());
  }
  for (const auto &taken : donated) // none of the host's memory, which is not ours
    std::fill(taken->bytes.begin(), taken->bytes.end(), '\xff');
}

pjrt::Error *bufferDestroy(BufferDestroyArgs *args) {
  record("PJRT_Buffer_Destroy");
  unmake(args->buffer);
  return nullptr;
}
pjrt::Error *bufferElementType(BufferElementTypeArgs *args) {
  ENTER("PJRT_Buffer_ElementType");
  args->type = control.resultType < 0 ? args->buffer->type : static_cast<BufferType>(control.resultType);
  return nullptr;
}
pjrt::Error *bufferDimensions(BufferDimensionsArgs *args) {
  ENTER("PJRT_Buffer_Dimensions");
  args->dimensions = args->buffer->dimensions.data();
  args->count = args->buffer->dimensions.size();
  return nullptr;
}
pjrt::Error *bufferGetMemoryLayout(BufferGetMemoryLayoutArgs *args) {
  ENTER("PJRT_Buffer_GetMemoryLayout");
  auto rank = static_cast<int64_t>(args->buffer->dimensions.size());
  for (int64_t i = 0; i < rank; ++i)
    args->buffer->minorToMajor.push_back(control.columnMajor ? i : rank - 1 - i);
  args->layout.type = MemoryLayoutType::Tiled;
  args->layout.tiled.minorToMajor = args->buffer->minorToMajor.data();
  args->layout.tiled.minorToMajorSize = args->buffer->minorToMajor.size();
  return nullptr;
}
pjrt::Error *bufferIsDeleted(BufferIsDeletedArgs *args) {
  ENTER("PJRT_Buffer_IsDeleted");
  args->isDeleted = args->buffer->deleted;
  return nullptr;
}
pjrt::Error *bufferToHostBuffer(BufferToHostBufferArgs *args) {
  ENTER("PJRT_Buffer_ToHostBuffer");
  std::memcpy(args->destination, args->source->contents->data(), args->destinationSize);
  args->event = makeEvent("PJRT_Buffer_ToHostBuffer");
  return nullptr;
}
pjrt::Error *bufferIsOnCpu(BufferIsOnCpuArgs *args) {
  ENTER("PJRT_Buffer_IsOnCpu");
  args->isOnCpu = control.onCpu;
  return nullptr;
}
pjrt::Error *bufferReadyEvent(BufferReadyEventArgs *args) {
  ENTER("PJRT_Buffer_ReadyEvent");
  args->event = makeEvent("PJRT_Buffer_ReadyEvent");
  return nullptr;
}
pjrt::Error *bufferPointer(BufferOpaqueDeviceMemoryDataPointerArgs *args) {
  ENTER("PJRT_Buffer_OpaqueDeviceMemoryDataPointer");
  args->pointer = const_cast<void *>(args->buffer->contents->data());
  return nullptr;
}

Api makeTable() {
  Api api{};
  api.structSize = sizeof(Api);
  api.version.minor = 90;
  api.errorDestroy = errorDestroy;
  api.errorMessage = errorMessage;
  api.errorGetCode = errorGetCode;
  api.pluginInitialize = pluginInitialize;
  api.pluginAttributes = pluginAttributes;
  api.eventDestroy = eventDestroy;
  api.eventIsReady = eventIsReady;
  api.eventAwait = eventAwait;
  api.eventOnReady = eventOnReady;
  api.clientCreate = clientCreate;
  api.clientDestroy = clientDestroy;
  api.clientPlatformName = clientPlatformName;
  api.clientPlatformVersion = clientPlatformVersion;
  api.clientAddressableDevices = clientAddressableDevices;
  api.clientCompile = clientCompile;
  api.clientBufferFromHostBuffer = clientBufferFromHostBuffer;
  api.deviceDescriptionId = descriptionId;
  api.deviceDescriptionKind = descriptionKind;
  api.deviceDescriptionToString = descriptionText;
  api.deviceGetDescription = deviceDescription;
  api.deviceMemoryStats = deviceMemoryStats;
  api.executableDestroy = executableDestroy;
  api.executableNumOutputs = executableNumOutputs;
  api.executableGetCompiledMemoryStats = executableGetCompiledMemoryStats;
  api.loadedExecutableDestroy = loadedExecutableDestroy;
  api.loadedExecutableGetExecutable = loadedExecutableGetExecutable;
  api.executableSerialize = executableSerialize;
  api.executableDeserializeAndLoad = executableDeserializeAndLoad;
  api.loadedExecutableExecute = loadedExecutableExecute;
  api.bufferDestroy = bufferDestroy;
  api.bufferElementType = bufferElementType;
  api.bufferDimensions = bufferDimensions;
  api.bufferGetMemoryLayout = bufferGetMemoryLayout;
  api.bufferIsDeleted = bufferIsDeleted;
  api.bufferToHostBuffer = bufferToHostBuffer;
  api.bufferIsOnCpu = bufferIsOnCpu;
  api.bufferReadyEvent = bufferReadyEvent;
  api.bufferOpaqueDeviceMemoryDataPointer = bufferPointer;
  api.version.major = variant.version;
  if (variant.tableSize)
    api.structSize = variant.tableSize;
  if (variant.isWithoutStoring) {
    api.executableSerialize = nullptr;
    api.executableDeserializeAndLoad = nullptr;
  }
  if (variant.isWithoutMemoryStats)
    api.deviceMemoryStats = nullptr;
  if (variant.isWithoutExecute)
    api.loadedExecutableExecute = nullptr;
  return api;
}

} // namespace

extern "C" __attribute__((visibility("default"))) FakeControl *fakeControl() {
  return &control;
}

extern "C" __attribute__((visibility("default"))) void fakeRelease() {
  std::vector<Execution> executions;
  {
    std::lock_guard lock(recordMutex);
    executions.swap(heldExecutions);
  }
  for (Execution &execution : executions) {
    execution.run();
    makeReady(execution.end);
  }
  for (Event *event : std::exchange(control.held, {}))
    makeReady(event);
}

} // namespace torchere::runtime

extern "C" __attribute__((visibility("default"))) const torchere::pjrt::Api *GetPjrtApi() {
  static const torchere::pjrt::Api api = torchere::runtime::makeTable();
  return torchere::runtime::variant.isWithoutTable ? nullptr : &api;
}
