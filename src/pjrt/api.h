// Api: the table of functions that a PJRT plugin exports, complete at version 0.90 and in order.
#pragma once

#include "base/export.h"
#include "pjrt/buffer_arguments.h"
#include "pjrt/client_arguments.h"
#include "pjrt/executable_arguments.h"

#include <array>
#include <string_view>

namespace torchere::pjrt {

/// F(member of Api, its argument, the ABI's name for it) for each function that returns an error, in the
/// order of the table. The two functions before them return nothing.
#define TORCHERE_PJRT_FUNCTIONS(F)                                                                           \
  F(errorGetCode, ErrorGetCodeArgs, "PJRT_Error_GetCode")                                                    \
  F(pluginInitialize, PluginInitializeArgs, "PJRT_Plugin_Initialize")                                        \
  F(pluginAttributes, PluginAttributesArgs, "PJRT_Plugin_Attributes")                                        \
  F(eventDestroy, EventDestroyArgs, "PJRT_Event_Destroy")                                                    \
  F(eventIsReady, EventIsReadyArgs, "PJRT_Event_IsReady")                                                    \
  F(eventError, EventErrorArgs, "PJRT_Event_Error")                                                          \
  F(eventAwait, EventAwaitArgs, "PJRT_Event_Await")                                                          \
  F(eventOnReady, EventOnReadyArgs, "PJRT_Event_OnReady")                                                    \
  F(clientCreate, ClientCreateArgs, "PJRT_Client_Create")                                                    \
  F(clientDestroy, ClientDestroyArgs, "PJRT_Client_Destroy")                                                 \
  F(clientPlatformName, ClientPlatformNameArgs, "PJRT_Client_PlatformName")                                  \
  F(clientProcessIndex, ClientProcessIndexArgs, "PJRT_Client_ProcessIndex")                                  \
  F(clientPlatformVersion, ClientPlatformVersionArgs, "PJRT_Client_PlatformVersion")                         \
  F(clientDevices, ClientDevicesArgs, "PJRT_Client_Devices")                                                 \
  F(clientAddressableDevices, ClientAddressableDevicesArgs, "PJRT_Client_AddressableDevices")                \
  F(clientLookupDevice, ClientLookupDeviceArgs, "PJRT_Client_LookupDevice")                                  \
  F(clientLookupAddressableDevice, ClientLookupAddressableDeviceArgs, "PJRT_Client_LookupAddressableDevice") \
  F(clientAddressableMemories, ClientAddressableMemoriesArgs, "PJRT_Client_AddressableMemories")             \
  F(clientCompile, ClientCompileArgs, "PJRT_Client_Compile")                                                 \
  F(clientDefaultDeviceAssignment, ClientDefaultDeviceAssignmentArgs, "PJRT_Client_DefaultDeviceAssignment") \
  F(clientBufferFromHostBuffer, ClientBufferFromHostBufferArgs, "PJRT_Client_BufferFromHostBuffer")          \
  F(deviceDescriptionId, DeviceDescriptionIdArgs, "PJRT_DeviceDescription_Id")                               \
  F(deviceDescriptionProcessIndex, DeviceDescriptionProcessIndexArgs, "PJRT_DeviceDescription_ProcessIndex") \
  F(deviceDescriptionAttributes, DeviceDescriptionAttributesArgs, "PJRT_DeviceDescription_Attributes")       \
  F(deviceDescriptionKind, DeviceDescriptionKindArgs, "PJRT_DeviceDescription_Kind")                         \
  F(deviceDescriptionDebugString, DeviceDescriptionDebugStringArgs, "PJRT_DeviceDescription_DebugString")    \
  F(deviceDescriptionToString, DeviceDescriptionToStringArgs, "PJRT_DeviceDescription_ToString")             \
  F(deviceGetDescription, DeviceGetDescriptionArgs, "PJRT_Device_GetDescription")                            \
  F(deviceIsAddressable, DeviceIsAddressableArgs, "PJRT_Device_IsAddressable")                               \
  F(deviceLocalHardwareId, DeviceLocalHardwareIdArgs, "PJRT_Device_LocalHardwareId")                         \
  F(deviceAddressableMemories, DeviceAddressableMemoriesArgs, "PJRT_Device_AddressableMemories")             \
  F(deviceDefaultMemory, DeviceDefaultMemoryArgs, "PJRT_Device_DefaultMemory")                               \
  F(deviceMemoryStats, DeviceMemoryStatsArgs, "PJRT_Device_MemoryStats")                                     \
  F(memoryId, MemoryIdArgs, "PJRT_Memory_Id")                                                                \
  F(memoryKind, MemoryKindArgs, "PJRT_Memory_Kind")                                                          \
  F(memoryDebugString, MemoryDebugStringArgs, "PJRT_Memory_DebugString")                                     \
  F(memoryToString, MemoryToStringArgs, "PJRT_Memory_ToString")                                              \
  F(memoryAddressableByDevices, MemoryAddressableByDevicesArgs, "PJRT_Memory_AddressableByDevices")          \
  F(executableDestroy, ExecutableDestroyArgs, "PJRT_Executable_Destroy")                                     \
  F(executableName, ExecutableNameArgs, "PJRT_Executable_Name")                                              \
  F(executableNumReplicas, ExecutableNumReplicasArgs, "PJRT_Executable_NumReplicas")                         \
  F(executableNumPartitions, ExecutableNumPartitionsArgs, "PJRT_Executable_NumPartitions")                   \
  F(executableNumOutputs, ExecutableNumOutputsArgs, "PJRT_Executable_NumOutputs")                            \
  F(executableSizeOfGeneratedCodeInBytes, ExecutableSizeOfGeneratedCodeInBytesArgs,                          \
    "PJRT_Executable_SizeOfGeneratedCodeInBytes")                                                            \
  F(executableGetCostAnalysis, ExecutableGetCostAnalysisArgs, "PJRT_Executable_GetCostAnalysis")             \
  F(executableOutputMemoryKinds, ExecutableOutputMemoryKindsArgs, "PJRT_Executable_OutputMemoryKinds")       \
  F(executableOptimizedProgram, ExecutableOptimizedProgramArgs, "PJRT_Executable_OptimizedProgram")          \
  F(executableSerialize, ExecutableSerializeArgs, "PJRT_Executable_Serialize")                               \
  F(loadedExecutableDestroy, LoadedExecutableDestroyArgs, "PJRT_LoadedExecutable_Destroy")                   \
  F(loadedExecutableGetExecutable, LoadedExecutableGetExecutableArgs, "PJRT_LoadedExecutable_GetExecutable") \
  F(loadedExecutableAddressableDevices, LoadedExecutableAddressableDevicesArgs,                              \
    "PJRT_LoadedExecutable_AddressableDevices")                                                              \
  F(loadedExecutableDelete, LoadedExecutableDeleteArgs, "PJRT_LoadedExecutable_Delete")                      \
  F(loadedExecutableIsDeleted, LoadedExecutableIsDeletedArgs, "PJRT_LoadedExecutable_IsDeleted")             \
  F(loadedExecutableExecute, LoadedExecutableExecuteArgs, "PJRT_LoadedExecutable_Execute")                   \
  F(executableDeserializeAndLoad, ExecutableDeserializeAndLoadArgs, "PJRT_Executable_DeserializeAndLoad")    \
  F(loadedExecutableFingerprint, LoadedExecutableFingerprintArgs, "PJRT_LoadedExecutable_Fingerprint")       \
  F(bufferDestroy, BufferDestroyArgs, "PJRT_Buffer_Destroy")                                                 \
  F(bufferElementType, BufferElementTypeArgs, "PJRT_Buffer_ElementType")                                     \
  F(bufferDimensions, BufferDimensionsArgs, "PJRT_Buffer_Dimensions")                                        \
  F(bufferUnpaddedDimensions, BufferUnpaddedDimensionsArgs, "PJRT_Buffer_UnpaddedDimensions")                \
  F(bufferDynamicDimensionIndices, BufferDynamicDimensionIndicesArgs, "PJRT_Buffer_DynamicDimensionIndices") \
  F(bufferGetMemoryLayout, BufferGetMemoryLayoutArgs, "PJRT_Buffer_GetMemoryLayout")                         \
  F(bufferOnDeviceSizeInBytes, BufferOnDeviceSizeInBytesArgs, "PJRT_Buffer_OnDeviceSizeInBytes")             \
  F(bufferDevice, BufferDeviceArgs, "PJRT_Buffer_Device")                                                    \
  F(bufferMemory, BufferMemoryArgs, "PJRT_Buffer_Memory")                                                    \
  F(bufferDelete, BufferDeleteArgs, "PJRT_Buffer_Delete")                                                    \
  F(bufferIsDeleted, BufferIsDeletedArgs, "PJRT_Buffer_IsDeleted")                                           \
  F(bufferCopyToDevice, BufferCopyToDeviceArgs, "PJRT_Buffer_CopyToDevice")                                  \
  F(bufferToHostBuffer, BufferToHostBufferArgs, "PJRT_Buffer_ToHostBuffer")                                  \
  F(bufferIsOnCpu, BufferIsOnCpuArgs, "PJRT_Buffer_IsOnCpu")                                                 \
  F(bufferReadyEvent, BufferReadyEventArgs, "PJRT_Buffer_ReadyEvent")                                        \
  F(bufferUnsafePointer, BufferUnsafePointerArgs, "PJRT_Buffer_UnsafePointer")                               \
  F(bufferIncreaseExternalReferenceCount, BufferIncreaseExternalReferenceCountArgs,                          \
    "PJRT_Buffer_IncreaseExternalReferenceCount")                                                            \
  F(bufferDecreaseExternalReferenceCount, BufferDecreaseExternalReferenceCountArgs,                          \
    "PJRT_Buffer_DecreaseExternalReferenceCount")                                                            \
  F(bufferOpaqueDeviceMemoryDataPointer, BufferOpaqueDeviceMemoryDataPointerArgs,                            \
    "PJRT_Buffer_OpaqueDeviceMemoryDataPointer")                                                             \
  F(copyToDeviceStreamDestroy, CopyToDeviceStreamDestroyArgs, "PJRT_CopyToDeviceStream_Destroy")             \
  F(copyToDeviceStreamAddChunk, CopyToDeviceStreamAddChunkArgs, "PJRT_CopyToDeviceStream_AddChunk")          \
  F(copyToDeviceStreamTotalBytes, CopyToDeviceStreamTotalBytesArgs, "PJRT_CopyToDeviceStream_TotalBytes")    \
  F(copyToDeviceStreamGranuleSize, CopyToDeviceStreamGranuleSizeArgs, "PJRT_CopyToDeviceStream_GranuleSize") \
  F(copyToDeviceStreamCurrentBytes, CopyToDeviceStreamCurrentBytesArgs,                                      \
    "PJRT_CopyToDeviceStream_CurrentBytes")                                                                  \
  F(topologyDescriptionCreate, TopologyDescriptionCreateArgs, "PJRT_TopologyDescription_Create")             \
  F(topologyDescriptionDestroy, TopologyDescriptionDestroyArgs, "PJRT_TopologyDescription_Destroy")          \
  F(topologyDescriptionPlatformName, TopologyDescriptionPlatformNameArgs,                                    \
    "PJRT_TopologyDescription_PlatformName")                                                                 \
  F(topologyDescriptionPlatformVersion, TopologyDescriptionPlatformVersionArgs,                              \
    "PJRT_TopologyDescription_PlatformVersion")                                                              \
  F(topologyDescriptionGetDeviceDescriptions, TopologyDescriptionGetDeviceDescriptionsArgs,                  \
    "PJRT_TopologyDescription_GetDeviceDescriptions")                                                        \
  F(topologyDescriptionSerialize, TopologyDescriptionSerializeArgs, "PJRT_TopologyDescription_Serialize")    \
  F(topologyDescriptionAttributes, TopologyDescriptionAttributesArgs, "PJRT_TopologyDescription_Attributes") \
  F(compile, CompileArgs, "PJRT_Compile")                                                                    \
  F(executableOutputElementTypes, ExecutableOutputElementTypesArgs, "PJRT_Executable_OutputElementTypes")    \
  F(executableOutputDimensions, ExecutableOutputDimensionsArgs, "PJRT_Executable_OutputDimensions")          \
  F(bufferCopyToMemory, BufferCopyToMemoryArgs, "PJRT_Buffer_CopyToMemory")                                  \
  F(clientCreateViewOfDeviceBuffer, ClientCreateViewOfDeviceBufferArgs,                                      \
    "PJRT_Client_CreateViewOfDeviceBuffer")                                                                  \
  F(executableFingerprint, ExecutableFingerprintArgs, "PJRT_Executable_Fingerprint")                         \
  F(clientTopologyDescription, ClientTopologyDescriptionArgs, "PJRT_Client_TopologyDescription")             \
  F(executableGetCompiledMemoryStats, ExecutableGetCompiledMemoryStatsArgs,                                  \
    "PJRT_Executable_GetCompiledMemoryStats")                                                                \
  F(memoryKindId, MemoryKindIdArgs, "PJRT_Memory_Kind_Id")                                                   \
  F(executeContextCreate, ExecuteContextCreateArgs, "PJRT_ExecuteContext_Create")                            \
  F(executeContextDestroy, ExecuteContextDestroyArgs, "PJRT_ExecuteContext_Destroy")                         \
  F(bufferCopyRawToHost, BufferCopyRawToHostArgs, "PJRT_Buffer_CopyRawToHost")                               \
  F(asyncHostToDeviceTransferManagerDestroy, AsyncHostToDeviceTransferManagerDestroyArgs,                    \
    "PJRT_AsyncHostToDeviceTransferManager_Destroy")                                                         \
  F(asyncHostToDeviceTransferManagerTransferData, AsyncHostToDeviceTransferManagerTransferDataArgs,          \
    "PJRT_AsyncHostToDeviceTransferManager_TransferData")                                                    \
  F(clientCreateBuffersForAsyncHostToDevice, ClientCreateBuffersForAsyncHostToDeviceArgs,                    \
    "PJRT_Client_CreateBuffersForAsyncHostToDevice")                                                         \
  F(asyncHostToDeviceTransferManagerRetrieveBuffer, AsyncHostToDeviceTransferManagerRetrieveBufferArgs,      \
    "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer")                                                  \
  F(asyncHostToDeviceTransferManagerDevice, AsyncHostToDeviceTransferManagerDeviceArgs,                      \
    "PJRT_AsyncHostToDeviceTransferManager_Device")                                                          \
  F(asyncHostToDeviceTransferManagerBufferCount, AsyncHostToDeviceTransferManagerBufferCountArgs,            \
    "PJRT_AsyncHostToDeviceTransferManager_BufferCount")                                                     \
  F(asyncHostToDeviceTransferManagerBufferSize, AsyncHostToDeviceTransferManagerBufferSizeArgs,              \
    "PJRT_AsyncHostToDeviceTransferManager_BufferSize")                                                      \
  F(asyncHostToDeviceTransferManagerSetBufferError, AsyncHostToDeviceTransferManagerSetBufferErrorArgs,      \
    "PJRT_AsyncHostToDeviceTransferManager_SetBufferError")                                                  \
  F(asyncHostToDeviceTransferManagerAddMetadata, AsyncHostToDeviceTransferManagerAddMetadataArgs,            \
    "PJRT_AsyncHostToDeviceTransferManager_AddMetadata")                                                     \
  F(clientDmaMap, ClientDmaMapArgs, "PJRT_Client_DmaMap")                                                    \
  F(clientDmaUnmap, ClientDmaUnmapArgs, "PJRT_Client_DmaUnmap")                                              \
  F(clientCreateUninitializedBuffer, ClientCreateUninitializedBufferArgs,                                    \
    "PJRT_Client_CreateUninitializedBuffer")                                                                 \
  F(clientUpdateGlobalProcessInfo, ClientUpdateGlobalProcessInfoArgs, "PJRT_Client_UpdateGlobalProcessInfo") \
  F(topologyDescriptionDeserialize, TopologyDescriptionDeserializeArgs,                                      \
    "PJRT_TopologyDescription_Deserialize")                                                                  \
  F(clientCreateAliasBuffer, ClientCreateAliasBufferArgs, "PJRT_Client_CreateAliasBuffer")                   \
  F(clientFulfillAliasBuffer, ClientFulfillAliasBufferArgs, "PJRT_Client_FulfillAliasBuffer")                \
  F(loadedExecutableGetDeviceAssignment, LoadedExecutableGetDeviceAssignmentArgs,                            \
    "PJRT_LoadedExecutable_GetDeviceAssignment")                                                             \
  F(clientCreateErrorBuffer, ClientCreateErrorBufferArgs, "PJRT_Client_CreateErrorBuffer")                   \
  F(asyncHostToDeviceTransferManagerTransferLiteral, AsyncHostToDeviceTransferManagerTransferLiteralArgs,    \
    "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral")                                                 \
  F(bufferCopyRawToHostFuture, BufferCopyRawToHostFutureArgs, "PJRT_Buffer_CopyRawToHostFuture")             \
  F(devicePoisonExecution, DevicePoisonExecutionArgs, "PJRT_Device_PoisonExecution")                         \
  F(deviceCreateAsyncTrackingEvent, DeviceCreateAsyncTrackingEventArgs,                                      \
    "PJRT_Device_CreateAsyncTrackingEvent")                                                                  \
  F(asyncTrackingEventDestroy, AsyncTrackingEventDestroyArgs, "PJRT_AsyncTrackingEvent_Destroy")             \
  F(executableGetCompileOptions, ExecutableGetCompileOptionsArgs, "PJRT_Executable_GetCompileOptions")       \
  F(bufferDonateWithControlDependency, BufferDonateWithControlDependencyArgs,                                \
    "PJRT_Buffer_DonateWithControlDependency")                                                               \
  F(eventCreate, EventCreateArgs, "PJRT_Event_Create")                                                       \
  F(eventSet, EventSetArgs, "PJRT_Event_Set")

/// A function of the table: null, or an error, which the caller destroys.
template <class Args> using Function = Error *(*)(Args *);

/// The tables of older plugins lack the functions of newer versions, which come at the end.
struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;

  void (*errorDestroy)(ErrorDestroyArgs *);
  void (*errorMessage)(ErrorMessageArgs *);
#define TORCHERE_PJRT_MEMBER(member, Args, name) Function<Args> member;
  TORCHERE_PJRT_FUNCTIONS(TORCHERE_PJRT_MEMBER)
#undef TORCHERE_PJRT_MEMBER
};

/// The version that is declared here.
inline constexpr int majorVersion = 0;
inline constexpr int minorVersion = 90;

/// The functions' names by their place in the table: "PJRT_Client_Create".
inline constexpr std::array functionNames = {std::string_view("PJRT_Error_Destroy"),
                                             std::string_view("PJRT_Error_Message"),
#define TORCHERE_PJRT_NAME(member, Args, name) std::string_view(name),
                                             TORCHERE_PJRT_FUNCTIONS(TORCHERE_PJRT_NAME)
#undef TORCHERE_PJRT_NAME
};

/// The name of the function at offsetof(Api, member).
constexpr std::string_view functionName(size_t offset) {
  return functionNames[(offset - offsetof(Api, errorDestroy)) / sizeof(void *)];
}

/// Whether the plugin has the function: its table is long enough, and the entry is not null.
template <class Args> bool offers(const Api &api, Function<Args> Api::*member) {
  const auto *end = reinterpret_cast<const char *>(&(api.*member) + 1);
  return end <= reinterpret_cast<const char *>(&api) + api.structSize && api.*member;
}

/// The name and type of the function that a plugin exports.
inline constexpr const char *entryPointName = "GetPjrtApi";
using EntryPoint = const Api *(*)();

} // namespace torchere::pjrt
