// The arguments of the functions for clients, topologies, devices and memories.
#pragma once

#include "pjrt/plugin_arguments.h"

namespace torchere::pjrt {

// A key-value store shared by the processes of a distributed program, which the client offers to the plugin.
struct KeyValueGetArgs {
  TORCHERE_PJRT_HEADER(KeyValueGetArgs, valueDeleter);
  const char *key = nullptr;
  size_t keySize = 0;
  int timeoutInMilliseconds = 0;
  CallbackError *callbackError = nullptr;
  void *argument = nullptr;
  char *value = nullptr;                  // out
  size_t valueSize = 0;                   // out
  void (*valueDeleter)(char *) = nullptr; // out
};
struct KeyValueTryGetArgs {
  TORCHERE_PJRT_HEADER(KeyValueTryGetArgs, valueDeleter);
  const char *key = nullptr;
  size_t keySize = 0;
  CallbackError *callbackError = nullptr;
  void *argument = nullptr;
  char *value = nullptr;                  // out
  size_t valueSize = 0;                   // out
  void (*valueDeleter)(char *) = nullptr; // out
};
struct KeyValuePutArgs {
  TORCHERE_PJRT_HEADER(KeyValuePutArgs, argument);
  const char *key = nullptr;
  size_t keySize = 0;
  const char *value = nullptr;
  size_t valueSize = 0;
  CallbackError *callbackError = nullptr;
  void *argument = nullptr;
};

struct ClientCreateArgs {
  TORCHERE_PJRT_HEADER(ClientCreateArgs, keyValueTryGetArgument);
  const NamedValue *options = nullptr;
  size_t optionCount = 0;
  Error *(*keyValueGet)(KeyValueGetArgs *) = nullptr;
  void *keyValueGetArgument = nullptr;
  Error *(*keyValuePut)(KeyValuePutArgs *) = nullptr;
  void *keyValuePutArgument = nullptr;
  Client *client = nullptr; // out
  Error *(*keyValueTryGet)(KeyValueTryGetArgs *) = nullptr;
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
struct ClientProcessIndexArgs {
  TORCHERE_PJRT_HEADER(ClientProcessIndexArgs, index);
  Client *client = nullptr;
  int index = 0; // out
};
struct ClientPlatformVersionArgs {
  TORCHERE_PJRT_HEADER(ClientPlatformVersionArgs, versionSize);
  Client *client = nullptr;
  const char *version = nullptr; // out, lives as long as the client
  size_t versionSize = 0;        // out
};
struct ClientTopologyDescriptionArgs {
  TORCHERE_PJRT_HEADER(ClientTopologyDescriptionArgs, topology);
  Client *client = nullptr;
  TopologyDescription *topology = nullptr; // out, lives as long as the client
};
struct ClientDevicesArgs {
  TORCHERE_PJRT_HEADER(ClientDevicesArgs, count);
  Client *client = nullptr;
  Device *const *devices = nullptr; // out, lives as long as the client
  size_t count = 0;                 // out
};
struct ClientAddressableDevicesArgs {
  TORCHERE_PJRT_HEADER(ClientAddressableDevicesArgs, count);
  Client *client = nullptr;
  Device *const *devices = nullptr; // out, lives as long as the client
  size_t count = 0;                 // out
};
struct ClientLookupDeviceArgs {
  TORCHERE_PJRT_HEADER(ClientLookupDeviceArgs, device);
  Client *client = nullptr;
  int id = 0;
  Device *device = nullptr; // out
};
struct ClientLookupAddressableDeviceArgs {
  TORCHERE_PJRT_HEADER(ClientLookupAddressableDeviceArgs, device);
  Client *client = nullptr;
  int localHardwareId = 0;
  Device *device = nullptr; // out
};
struct ClientAddressableMemoriesArgs {
  TORCHERE_PJRT_HEADER(ClientAddressableMemoriesArgs, count);
  Client *client = nullptr;
  Memory *const *memories = nullptr; // out, lives as long as the client
  size_t count = 0;                  // out
};

enum class ProcessState : int { Unspecified, Uninitialized, Disconnected, Connected, Error };
struct ProcessInfo {
  size_t structSize = offsetof(ProcessInfo, messageSize) + sizeof(messageSize);
  int taskId = 0;
  uint64_t incarnationId = 0;
  ProcessState state = ProcessState::Unspecified;
  int errorCode = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
};
struct ClientUpdateGlobalProcessInfoArgs {
  TORCHERE_PJRT_HEADER(ClientUpdateGlobalProcessInfoArgs, count);
  Client *client = nullptr;
  ProcessInfo *infos = nullptr;
  size_t count = 0;
};

struct ClientCompileArgs {
  TORCHERE_PJRT_HEADER(ClientCompileArgs, executable);
  Client *client = nullptr;
  const Program *program = nullptr;
  const char *compileOptions = nullptr; ///< a serialized CompileOptionsProto
  size_t compileOptionsSize = 0;
  LoadedExecutable *executable = nullptr; // out
};
struct ClientDefaultDeviceAssignmentArgs {
  TORCHERE_PJRT_HEADER(ClientDefaultDeviceAssignmentArgs, assignment);
  Client *client = nullptr;
  int replicaCount = 0;
  int partitionCount = 0;
  size_t assignmentSize = 0;
  int *assignment = nullptr; ///< the caller's memory, for the ids by replica, then by partition
};
struct ClientDmaMapArgs {
  TORCHERE_PJRT_HEADER(ClientDmaMapArgs, size);
  Client *client = nullptr;
  void *data = nullptr;
  size_t size = 0;
};
struct ClientDmaUnmapArgs {
  TORCHERE_PJRT_HEADER(ClientDmaUnmapArgs, data);
  Client *client = nullptr;
  void *data = nullptr;
};

struct TopologyDescriptionCreateArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionCreateArgs, topology);
  const char *name = nullptr;
  size_t nameSize = 0;
  const NamedValue *options = nullptr;
  size_t optionCount = 0;
  TopologyDescription *topology = nullptr; // out
};
struct TopologyDescriptionDestroyArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionDestroyArgs, topology);
  TopologyDescription *topology = nullptr;
};
struct TopologyDescriptionPlatformNameArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionPlatformNameArgs, nameSize);
  const TopologyDescription *topology = nullptr;
  const char *name = nullptr; // out
  size_t nameSize = 0;        // out
};
struct TopologyDescriptionPlatformVersionArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionPlatformVersionArgs, versionSize);
  TopologyDescription *topology = nullptr;
  const char *version = nullptr; // out
  size_t versionSize = 0;        // out
};
struct TopologyDescriptionGetDeviceDescriptionsArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionGetDeviceDescriptionsArgs, count);
  const TopologyDescription *topology = nullptr;
  DeviceDescription *const *descriptions = nullptr; // out
  size_t count = 0;                                 // out
};
struct TopologyDescriptionSerializeArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionSerializeArgs, deleter);
  TopologyDescription *topology = nullptr;
  const char *bytes = nullptr;                     // out, lives as long as `serialized`
  size_t byteSize = 0;                             // out
  SerializedTopology *serialized = nullptr;        // out, destroyed by the caller with `deleter`
  void (*deleter)(SerializedTopology *) = nullptr; // out
};
struct TopologyDescriptionDeserializeArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionDeserializeArgs, topology);
  const char *bytes = nullptr;
  size_t byteSize = 0;
  TopologyDescription *topology = nullptr; // out
};
struct TopologyDescriptionAttributesArgs {
  TORCHERE_PJRT_HEADER(TopologyDescriptionAttributesArgs, count);
  TopologyDescription *topology = nullptr;
  const NamedValue *attributes = nullptr; // out
  size_t count = 0;                       // out
};
/// Compilation for a topology, without its devices.
struct CompileArgs {
  TORCHERE_PJRT_HEADER(CompileArgs, executable);
  const TopologyDescription *topology = nullptr;
  const Program *program = nullptr;
  const char *compileOptions = nullptr;
  size_t compileOptionsSize = 0;
  Client *client = nullptr;
  Executable *executable = nullptr; // out
};

struct DeviceDescriptionIdArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionIdArgs, id);
  DeviceDescription *description = nullptr;
  int id = 0; // out
};
struct DeviceDescriptionProcessIndexArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionProcessIndexArgs, index);
  DeviceDescription *description = nullptr;
  int index = 0; // out
};
struct DeviceDescriptionAttributesArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionAttributesArgs, attributes);
  DeviceDescription *description = nullptr;
  size_t count = 0;                       // out
  const NamedValue *attributes = nullptr; // out
};
struct DeviceDescriptionKindArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionKindArgs, kindSize);
  DeviceDescription *description = nullptr;
  const char *kind = nullptr; // out
  size_t kindSize = 0;        // out
};
struct DeviceDescriptionDebugStringArgs {
  TORCHERE_PJRT_HEADER(DeviceDescriptionDebugStringArgs, textSize);
  DeviceDescription *description = nullptr;
  const char *text = nullptr; // out
  size_t textSize = 0;        // out
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
struct DeviceIsAddressableArgs {
  TORCHERE_PJRT_HEADER(DeviceIsAddressableArgs, isAddressable);
  Device *device = nullptr;
  bool isAddressable = false; // out
};
struct DeviceLocalHardwareIdArgs {
  TORCHERE_PJRT_HEADER(DeviceLocalHardwareIdArgs, id);
  Device *device = nullptr;
  int id = 0; // out
};
struct DeviceAddressableMemoriesArgs {
  TORCHERE_PJRT_HEADER(DeviceAddressableMemoriesArgs, count);
  Device *device = nullptr;
  Memory *const *memories = nullptr; // out
  size_t count = 0;                  // out
};
struct DeviceDefaultMemoryArgs {
  TORCHERE_PJRT_HEADER(DeviceDefaultMemoryArgs, memory);
  Device *device = nullptr;
  Memory *memory = nullptr; // out
};
/// Sizes in bytes, all `out`; for those with a flag, the plugin sets it if it reports the value.
struct DeviceMemoryStatsArgs {
  struct Optional {
    int64_t value = 0;
    bool isSet = false;
  };
  // The size ends with the last flag and excludes the padding after it.
  size_t structSize =
      offsetof(DeviceMemoryStatsArgs, peakPool) + offsetof(Optional, isSet) + sizeof(Optional::isSet);
  Extension *extensions = nullptr;
  Device *device = nullptr;
  int64_t inUse = 0;
  Optional peakInUse;
  Optional allocationCount;
  Optional largestAllocation;
  Optional limit;
  Optional reserved;
  Optional peakReserved;
  Optional reservableLimit;
  Optional largestFreeBlock;
  Optional pool;
  Optional peakPool;
};
struct DevicePoisonExecutionArgs {
  TORCHERE_PJRT_HEADER(DevicePoisonExecutionArgs, isPoisoned);
  Device *device = nullptr;
  int32_t launchId = 0;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
  bool isPoisoned = false; // out
};
struct DeviceCreateAsyncTrackingEventArgs {
  TORCHERE_PJRT_HEADER(DeviceCreateAsyncTrackingEventArgs, event);
  Device *device = nullptr;
  const char *description = nullptr;
  size_t descriptionSize = 0;
  AsyncTrackingEvent *event = nullptr; // out
};
struct AsyncTrackingEventDestroyArgs {
  TORCHERE_PJRT_HEADER(AsyncTrackingEventDestroyArgs, event);
  AsyncTrackingEvent *event = nullptr;
};

struct MemoryIdArgs {
  TORCHERE_PJRT_HEADER(MemoryIdArgs, id);
  Memory *memory = nullptr;
  int id = 0; // out
};
struct MemoryKindArgs {
  TORCHERE_PJRT_HEADER(MemoryKindArgs, kindSize);
  Memory *memory = nullptr;
  const char *kind = nullptr; // out
  size_t kindSize = 0;        // out
};
struct MemoryKindIdArgs {
  TORCHERE_PJRT_HEADER(MemoryKindIdArgs, kindId);
  Memory *memory = nullptr;
  int kindId = 0; // out
};
struct MemoryDebugStringArgs {
  TORCHERE_PJRT_HEADER(MemoryDebugStringArgs, textSize);
  Memory *memory = nullptr;
  const char *text = nullptr; // out
  size_t textSize = 0;        // out
};
struct MemoryToStringArgs {
  TORCHERE_PJRT_HEADER(MemoryToStringArgs, textSize);
  Memory *memory = nullptr;
  const char *text = nullptr; // out
  size_t textSize = 0;        // out
};
struct MemoryAddressableByDevicesArgs {
  TORCHERE_PJRT_HEADER(MemoryAddressableByDevicesArgs, count);
  Memory *memory = nullptr;
  Device *const *devices = nullptr; // out
  size_t count = 0;                 // out
};

} // namespace torchere::pjrt
