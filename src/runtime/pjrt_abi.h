// The PJRT C ABI as version 0.90 lays it out: our own declaration of the structures and slots that the client
// uses.
//
// A plugin exports `GetPjrtApi`, which returns a table of functions. Each function takes a pointer to one
// structure that holds its inputs and takes its outputs, and returns an error or null. Every structure begins
// with its size, up to the end of the last member that the caller knows, and a chain of extensions.
// tests/runtime/pjrt_abi_test.cpp pins the offsets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchere::runtime::abi {

struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct Buffer;

/// The two leading members of every structure; `last` is the last member, where the size ends.
#define TORCHERE_PJRT_HEADER(structure, last)                                                                \
  size_t structSize = offsetof(structure, last) + sizeof(structure::last);                                   \
  void *extensions = nullptr

enum class BufferType : int {
  Invalid,
  Pred,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64,
  F16,
  F32,
  F64,
  BF16,
  C64,
  C128,
  F8E5M2,
  F8E4M3FN,
  F8E4M3B11FNUZ,
  F8E5M2FNUZ,
  F8E4M3FNUZ,
  S4,
  U4,
  Token,
  S2,
  U2,
  F8E4M3,
  F8E3M4,
  F8E8M0FNU,
  F4E2M1FN,
};

/// What the plugin may do with host memory that a buffer is made from.
enum class HostBufferSemantics : int {
  ImmutableOnlyDuringCall,
  ImmutableUntilTransferCompletes,
  ImmutableZeroCopy,
  MutableZeroCopy,
};

struct Version {
  TORCHERE_PJRT_HEADER(Version, minor);
  int major = 0;
  int minor = 0;
};

enum class NamedValueType : int { String, Int64, Int64List, Float, Bool };

struct NamedValue {
  TORCHERE_PJRT_HEADER(NamedValue, valueSize);
  const char *name = nullptr;
  size_t nameSize = 0;
  NamedValueType type = NamedValueType::String;
  union {
    const char *string = nullptr;
    int64_t int64;
    const int64_t *int64List;
    float float32;
    bool boolean;
  };
  size_t valueSize = 0; ///< characters of a string, elements of a list, else 1
};

struct ErrorDestroyArgs {
  TORCHERE_PJRT_HEADER(ErrorDestroyArgs, error);
  Error *error = nullptr;
};
struct ErrorMessageArgs {
  TORCHERE_PJRT_HEADER(ErrorMessageArgs, messageSize);
  const Error *error = nullptr;
  const char *message = nullptr; // out
  size_t messageSize = 0;        // out
};
struct ErrorGetCodeArgs {
  TORCHERE_PJRT_HEADER(ErrorGetCodeArgs, code);
  const Error *error = nullptr;
  int code = 0; // out
};

struct PluginInitializeArgs {
  TORCHERE_PJRT_HEADER(PluginInitializeArgs, extensions);
};
struct PluginAttributesArgs {
  TORCHERE_PJRT_HEADER(PluginAttributesArgs, count);
  const NamedValue *attributes = nullptr; // out
  size_t count = 0;                       // out
};

struct EventDestroyArgs {
  TORCHERE_PJRT_HEADER(EventDestroyArgs, event);
  Event *event = nullptr;
};
struct EventIsReadyArgs {
  TORCHERE_PJRT_HEADER(EventIsReadyArgs, isReady);
  Event *event = nullptr;
  bool isReady = false; // out
};
struct EventAwaitArgs {
  TORCHERE_PJRT_HEADER(EventAwaitArgs, event);
  Event *event = nullptr;
};
/// The callback owns the error it is given.
using EventCallback = void (*)(Error *error, void *argument);
struct EventOnReadyArgs {
  TORCHERE_PJRT_HEADER(EventOnReadyArgs, argument);
  Event *event = nullptr;
  EventCallback callback = nullptr;
  void *argument = nullptr;
};

struct ClientCreateArgs {
  TORCHERE_PJRT_HEADER(ClientCreateArgs, keyValueTryGetArgument);
  const NamedValue *options = nullptr;
  size_t optionCount = 0;
  void *keyValueGet = nullptr; // callbacks of a distributed store, which we have not
  void *keyValueGetArgument = nullptr;
  void *keyValuePut = nullptr;
  void *keyValuePutArgument = nullptr;
  Client *client = nullptr; // out
  void *keyValueTryGet = nullptr;
  void *keyValueTryGetArgument = nullptr;
};
struct ClientDestroyArgs {
  TORCHERE_PJRT_HEADER(ClientDestroyArgs, client);
  Client *client = nullptr;
};
struct ClientPlatformNameArgs {
  TORCHERE_PJRT_HEADER(ClientPlatformNameArgs, nameSize);
  Client *client = nullptr;
  const char *name = nullptr; // out, lives as long as the client
  size_t nameSize = 0;        // out
};
struct ClientPlatformVersionArgs {
  TORCHERE_PJRT_HEADER(ClientPlatformVersionArgs, versionSize);
  Client *client = nullptr;
  const char *version = nullptr; // out, lives as long as the client
  size_t versionSize = 0;        // out
};
struct ClientAddressableDevicesArgs {
  TORCHERE_PJRT_HEADER(ClientAddressableDevicesArgs, count);
  Client *client = nullptr;
  Device *const *devices = nullptr; // out, lives as long as the client
  size_t count = 0;                 // out
};
struct Program {
  TORCHERE_PJRT_HEADER(Program, formatSize);
  const char *code = nullptr;
  size_t codeSize = 0;
  const char *format = nullptr; ///< "mlir" or "hlo"
  size_t formatSize = 0;
};
struct ClientCompileArgs {
  TORCHERE_PJRT_HEADER(ClientCompileArgs, executable);
  Client *client = nullptr;
  const Program *program = nullptr;
  const char *compileOptions = nullptr; ///< a serialized CompileOptionsProto
  size_t compileOptionsSize = 0;
  LoadedExecutable *executable = nullptr; // out
};

enum class MemoryLayoutType : int { Tiled, Strides };
struct TiledLayout {
  TORCHERE_PJRT_HEADER(TiledLayout, tileCount);
  const int64_t *minorToMajor = nullptr;
  size_t minorToMajorSize = 0;
  const int64_t *tileDimensions = nullptr;
  const size_t *tileDimensionSizes = nullptr;
  size_t tileCount = 0;
};
struct MemoryLayout {
  TORCHERE_PJRT_HEADER(MemoryLayout, type);
  TiledLayout tiled; // in a union with a description by strides, which is smaller and which we do not use
  MemoryLayoutType type = MemoryLayoutType::Tiled;
};

struct ClientBufferFromHostBufferArgs {
  TORCHERE_PJRT_HEADER(ClientBufferFromHostBufferArgs, buffer);
  Client *client = nullptr;
  const void *data = nullptr;
  BufferType type = BufferType::Invalid;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  const int64_t *byteStrides = nullptr; ///< null: dense, row major
  size_t byteStrideCount = 0;
  HostBufferSemantics semantics = HostBufferSemantics::ImmutableOnlyDuringCall;
  Device *device = nullptr;
  Memory *memory = nullptr;
  MemoryLayout *deviceLayout = nullptr;
  Event *doneWithHostBuffer = nullptr; // out
  Buffer *buffer = nullptr;            // out
};

struct DeviceDescriptionIdArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionIdArgs, id);
  DeviceDescription *description = nullptr;
  int id = 0; // out
};
struct DeviceDescriptionKindArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionKindArgs, kindSize);
  DeviceDescription *description = nullptr;
  const char *kind = nullptr; // out
  size_t kindSize = 0;        // out
};
struct DeviceDescriptionToStringArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionToStringArgs, textSize);
  DeviceDescription *description = nullptr;
  const char *text = nullptr; // out
  size_t textSize = 0;        // out
};
struct DeviceGetDescriptionArgs {
  TORCHERE_PJRT_HEADER(DeviceGetDescriptionArgs, description);
  Device *device = nullptr;
  DeviceDescription *description = nullptr; // out
};

struct ExecutableDestroyArgs {
  TORCHERE_PJRT_HEADER(ExecutableDestroyArgs, executable);
  Executable *executable = nullptr;
};
struct ExecutableNumOutputsArgs {
  TORCHERE_PJRT_HEADER(ExecutableNumOutputsArgs, count);
  Executable *executable = nullptr;
  size_t count = 0; // out
};
/// Sizes in bytes, all filled in by the plugin; the later five are of the host's memory.
struct ExecutableGetCompiledMemoryStatsArgs {
  TORCHERE_PJRT_HEADER(ExecutableGetCompiledMemoryStatsArgs, total);
  Executable *executable = nullptr;
  int64_t code = 0;
  int64_t arguments = 0;
  int64_t results = 0;
  int64_t aliases = 0;
  int64_t temporaries = 0;
  int64_t hostCode = 0;
  int64_t hostArguments = 0;
  int64_t hostResults = 0;
  int64_t hostAliases = 0;
  int64_t hostTemporaries = 0;
  int64_t peak = 0;
  int64_t total = 0;
};
struct SerializedExecutable;
struct ExecutableSerializeArgs {
  TORCHERE_PJRT_HEADER(ExecutableSerializeArgs, deleter);
  const Executable *executable = nullptr;
  const char *bytes = nullptr;                       // out, lives as long as `serialized`
  size_t byteSize = 0;                               // out
  SerializedExecutable *serialized = nullptr;        // out, destroyed by the caller with `deleter`
  void (*deleter)(SerializedExecutable *) = nullptr; // out
};
struct ExecutableDeserializeAndLoadArgs {
  TORCHERE_PJRT_HEADER(ExecutableDeserializeAndLoadArgs, compileOptionsSize);
  Client *client = nullptr;
  const char *bytes = nullptr;
  size_t byteSize = 0;
  LoadedExecutable *executable = nullptr; // out
  const char *compileOptions = nullptr;   ///< null: those that it was compiled with
  size_t compileOptionsSize = 0;
};
struct LoadedExecutableDestroyArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableDestroyArgs, executable);
  LoadedExecutable *executable = nullptr;
};
struct LoadedExecutableGetExecutableArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableGetExecutableArgs, executable);
  LoadedExecutable *loadedExecutable = nullptr;
  Executable *executable = nullptr; // out, destroyed by the caller
};

struct ExecuteOptions {
  TORCHERE_PJRT_HEADER(ExecuteOptions, incarnationIds);
  void *sendCallbacks = nullptr;
  void *recvCallbacks = nullptr;
  size_t sendCount = 0;
  size_t recvCount = 0;
  int launchId = 0;
  const int64_t *nonDonatableInputs = nullptr;
  size_t nonDonatableInputCount = 0;
  void *context = nullptr;
  const char *callLocation = nullptr;
  size_t taskCount = 0;
  int *taskIds = nullptr;
  int64_t *incarnationIds = nullptr;
};
struct LoadedExecutableExecuteArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableExecuteArgs, executeDevice);
  LoadedExecutable *executable = nullptr;
  ExecuteOptions *options = nullptr;
  Buffer *const *const *argumentLists = nullptr; ///< [device][argument]
  size_t deviceCount = 0;
  size_t argumentCount = 0;
  Buffer **const *outputLists = nullptr;  ///< [device][output], filled by the plugin
  Event **deviceCompleteEvents = nullptr; ///< [device], filled by the plugin, destroyed by the caller
  Device *executeDevice = nullptr;
};

struct BufferDestroyArgs {
  TORCHERE_PJRT_HEADER(BufferDestroyArgs, buffer);
  Buffer *buffer = nullptr;
};
struct BufferElementTypeArgs {
  TORCHERE_PJRT_HEADER(BufferElementTypeArgs, type);
  Buffer *buffer = nullptr;
  BufferType type = BufferType::Invalid; // out
};
struct BufferDimensionsArgs {
  TORCHERE_PJRT_HEADER(BufferDimensionsArgs, count);
  Buffer *buffer = nullptr;
  const int64_t *dimensions = nullptr; // out
  size_t count = 0;                    // out
};
struct BufferGetMemoryLayoutArgs {
  TORCHERE_PJRT_HEADER(BufferGetMemoryLayoutArgs, layout);
  Buffer *buffer = nullptr;
  MemoryLayout layout; // out
};
struct BufferIsDeletedArgs {
  TORCHERE_PJRT_HEADER(BufferIsDeletedArgs, isDeleted);
  Buffer *buffer = nullptr;
  bool isDeleted = false; // out
};
struct BufferToHostBufferArgs {
  TORCHERE_PJRT_HEADER(BufferToHostBufferArgs, event);
  Buffer *source = nullptr;
  MemoryLayout *hostLayout = nullptr; ///< null: as on the device
  void *destination = nullptr;
  size_t destinationSize = 0;
  Event *event = nullptr; // out
};
struct BufferIsOnCpuArgs {
  TORCHERE_PJRT_HEADER(BufferIsOnCpuArgs, isOnCpu);
  Buffer *buffer = nullptr;
  bool isOnCpu = false; // out
};
struct BufferReadyEventArgs {
  TORCHERE_PJRT_HEADER(BufferReadyEventArgs, event);
  Buffer *buffer = nullptr;
  Event *event = nullptr; // out
};
struct BufferOpaqueDeviceMemoryDataPointerArgs {
  TORCHERE_PJRT_HEADER(BufferOpaqueDeviceMemoryDataPointerArgs, pointer);
  Buffer *buffer = nullptr;
  void *pointer = nullptr; // out
};

#undef TORCHERE_PJRT_HEADER

template <class Args> using Function = Error *(*)(Args *);
/// A slot that this client does not call.
using Unused = void (*)();

/// The table of functions, complete and in order up to the last slot that we call.
struct Api {
  size_t structSize;
  void *extensions;
  Version version;

  void (*errorDestroy)(ErrorDestroyArgs *);
  void (*errorMessage)(ErrorMessageArgs *);
  Function<ErrorGetCodeArgs> errorGetCode;
  Function<PluginInitializeArgs> pluginInitialize;
  Function<PluginAttributesArgs> pluginAttributes;
  Function<EventDestroyArgs> eventDestroy;
  Function<EventIsReadyArgs> eventIsReady;
  Unused eventError;
  Function<EventAwaitArgs> eventAwait;
  Function<EventOnReadyArgs> eventOnReady;
  Function<ClientCreateArgs> clientCreate;
  Function<ClientDestroyArgs> clientDestroy;
  Function<ClientPlatformNameArgs> clientPlatformName;
  Unused clientProcessIndex;
  Function<ClientPlatformVersionArgs> clientPlatformVersion;
  Unused clientDevices;
  Function<ClientAddressableDevicesArgs> clientAddressableDevices;
  Unused clientLookupDevice;
  Unused clientLookupAddressableDevice;
  Unused clientAddressableMemories;
  Function<ClientCompileArgs> clientCompile;
  Unused clientDefaultDeviceAssignment;
  Function<ClientBufferFromHostBufferArgs> clientBufferFromHostBuffer;
  Function<DeviceDescriptionIdArgs> deviceDescriptionId;
  Unused deviceDescriptionProcessIndex;
  Unused deviceDescriptionAttributes;
  Function<DeviceDescriptionKindArgs> deviceDescriptionKind;
  Unused deviceDescriptionDebugString;
  Function<DeviceDescriptionToStringArgs> deviceDescriptionToString;
  Function<DeviceGetDescriptionArgs> deviceGetDescription;
  Unused deviceIsAddressable;
  Unused deviceLocalHardwareId;
  Unused deviceAddressableMemories;
  Unused deviceDefaultMemory;
  Unused deviceMemoryStats;
  Unused memoryId;
  Unused memoryKind;
  Unused memoryDebugString;
  Unused memoryToString;
  Unused memoryAddressableByDevices;
  Function<ExecutableDestroyArgs> executableDestroy;
  Unused executableName;
  Unused executableNumReplicas;
  Unused executableNumPartitions;
  Function<ExecutableNumOutputsArgs> executableNumOutputs;
  Unused executableSizeOfGeneratedCodeInBytes;
  Unused executableGetCostAnalysis;
  Unused executableOutputMemoryKinds;
  Unused executableOptimizedProgram;
  Function<ExecutableSerializeArgs> executableSerialize;
  Function<LoadedExecutableDestroyArgs> loadedExecutableDestroy;
  Function<LoadedExecutableGetExecutableArgs> loadedExecutableGetExecutable;
  Unused loadedExecutableAddressableDevices;
  Unused loadedExecutableDelete;
  Unused loadedExecutableIsDeleted;
  Function<LoadedExecutableExecuteArgs> loadedExecutableExecute;
  Function<ExecutableDeserializeAndLoadArgs> executableDeserializeAndLoad;
  Unused loadedExecutableFingerprint;
  Function<BufferDestroyArgs> bufferDestroy;
  Function<BufferElementTypeArgs> bufferElementType;
  Function<BufferDimensionsArgs> bufferDimensions;
  Unused bufferUnpaddedDimensions;
  Unused bufferDynamicDimensionIndices;
  Function<BufferGetMemoryLayoutArgs> bufferGetMemoryLayout;
  Unused bufferOnDeviceSizeInBytes;
  Unused bufferDevice;
  Unused bufferMemory;
  Unused bufferDelete;
  Function<BufferIsDeletedArgs> bufferIsDeleted;
  Unused bufferCopyToDevice;
  Function<BufferToHostBufferArgs> bufferToHostBuffer;
  Function<BufferIsOnCpuArgs> bufferIsOnCpu;
  Function<BufferReadyEventArgs> bufferReadyEvent;
  Unused bufferUnsafePointer;
  Unused bufferIncreaseExternalReferenceCount;
  Unused bufferDecreaseExternalReferenceCount;
  Function<BufferOpaqueDeviceMemoryDataPointerArgs> bufferOpaqueDeviceMemoryDataPointer;

  // Tables of older plugins may end before the slots that follow.
  Unused copyToDeviceStreamDestroy;
  Unused copyToDeviceStreamAddChunk;
  Unused copyToDeviceStreamTotalBytes;
  Unused copyToDeviceStreamGranuleSize;
  Unused copyToDeviceStreamCurrentBytes;
  Unused topologyDescriptionCreate;
  Unused topologyDescriptionDestroy;
  Unused topologyDescriptionPlatformName;
  Unused topologyDescriptionPlatformVersion;
  Unused topologyDescriptionGetDeviceDescriptions;
  Unused topologyDescriptionSerialize;
  Unused topologyDescriptionAttributes;
  Unused compile;
  Unused executableOutputElementTypes;
  Unused executableOutputDimensions;
  Unused bufferCopyToMemory;
  Unused clientCreateViewOfDeviceBuffer;
  Unused executableFingerprint;
  Unused clientTopologyDescription;
  Function<ExecutableGetCompiledMemoryStatsArgs> executableGetCompiledMemoryStats;
};

/// How much of the table every plugin has to have.
inline constexpr size_t requiredTableSize = offsetof(Api, copyToDeviceStreamDestroy);

/// The name and type of the function that a plugin exports.
inline constexpr const char *entryPointName = "GetPjrtApi";
using EntryPoint = const Api *(*)();

} // namespace torchere::runtime::abi
