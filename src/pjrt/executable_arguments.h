// The arguments of the executable functions.
#pragma once

#include "pjrt/plugin_arguments.h"

namespace torchere::pjrt {

struct ExecuteContextCreateArgs {
  TORCHERE_PJRT_HEADER(ExecuteContextCreateArgs, context);
  ExecuteContext *context = nullptr; // out
};
struct ExecuteContextDestroyArgs {
  TORCHERE_PJRT_HEADER(ExecuteContextDestroyArgs, context);
  ExecuteContext *context = nullptr;
};

struct ExecutableDestroyArgs {
  TORCHERE_PJRT_HEADER(ExecutableDestroyArgs, executable);
  Executable *executable = nullptr;
};
struct ExecutableNameArgs {
  TORCHERE_PJRT_HEADER(ExecutableNameArgs, nameSize);
  Executable *executable = nullptr;
  const char *name = nullptr; // out
  size_t nameSize = 0;        // out
};
struct ExecutableNumReplicasArgs {
  TORCHERE_PJRT_HEADER(ExecutableNumReplicasArgs, count);
  Executable *executable = nullptr;
  size_t count = 0; // out
};
struct ExecutableNumPartitionsArgs {
  TORCHERE_PJRT_HEADER(ExecutableNumPartitionsArgs, count);
  Executable *executable = nullptr;
  size_t count = 0; // out
};
struct ExecutableNumOutputsArgs {
  TORCHERE_PJRT_HEADER(ExecutableNumOutputsArgs, count);
  Executable *executable = nullptr;
  size_t count = 0; // out
};
struct ExecutableSizeOfGeneratedCodeInBytesArgs {
  TORCHERE_PJRT_HEADER(ExecutableSizeOfGeneratedCodeInBytesArgs, size);
  Executable *executable = nullptr;
  int64_t size = 0; // out
};
struct ExecutableFingerprintArgs {
  TORCHERE_PJRT_HEADER(ExecutableFingerprintArgs, fingerprintSize);
  Executable *executable = nullptr;
  const char *fingerprint = nullptr; // out
  size_t fingerprintSize = 0;        // out
};
struct ExecutableGetCostAnalysisArgs {
  TORCHERE_PJRT_HEADER(ExecutableGetCostAnalysisArgs, properties);
  Executable *executable = nullptr;
  size_t count = 0;                       // out
  const NamedValue *properties = nullptr; // out
};
/// Sizes in bytes, all set by the plugin; those with `host` in their names are of host memory.
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
struct ExecutableOutputElementTypesArgs {
  TORCHERE_PJRT_HEADER(ExecutableOutputElementTypesArgs, count);
  Executable *executable = nullptr;
  const BufferType *types = nullptr; // out
  size_t count = 0;                  // out
};
/// The dimensions of all outputs, concatenated; `ranks` has the number of dimensions of each output.
struct ExecutableOutputDimensionsArgs {
  TORCHERE_PJRT_HEADER(ExecutableOutputDimensionsArgs, ranks);
  Executable *executable = nullptr;
  size_t outputCount = 0;              // out
  const int64_t *dimensions = nullptr; // out
  const size_t *ranks = nullptr;       // out
};
struct ExecutableOutputMemoryKindsArgs {
  TORCHERE_PJRT_HEADER(ExecutableOutputMemoryKindsArgs, kindSizes);
  Executable *executable = nullptr;
  size_t outputCount = 0;             // out
  const char *const *kinds = nullptr; // out
  const size_t *kindSizes = nullptr;  // out
};
/// Called twice: without `code` to get the size, then with memory of `codeSize` bytes.
struct ExecutableOptimizedProgramArgs {
  TORCHERE_PJRT_HEADER(ExecutableOptimizedProgramArgs, program);
  Executable *executable = nullptr;
  Program *program = nullptr; // out
};
struct ExecutableSerializeArgs {
  TORCHERE_PJRT_HEADER(ExecutableSerializeArgs, deleter);
  const Executable *executable = nullptr;
  const char *bytes = nullptr;                       // out, lives as long as `serialized`
  size_t byteSize = 0;                               // out
  SerializedExecutable *serialized = nullptr;        // out, destroyed by the caller with `deleter`
  void (*deleter)(SerializedExecutable *) = nullptr; // out
};
struct ExecutableGetCompileOptionsArgs {
  TORCHERE_PJRT_HEADER(ExecutableGetCompileOptionsArgs, deleter);
  Executable *executable = nullptr;
  const char *bytes = nullptr;                           // out, lives as long as `serialized`
  size_t byteSize = 0;                                   // out
  SerializedCompileOptions *serialized = nullptr;        // out, destroyed by the caller with `deleter`
  void (*deleter)(SerializedCompileOptions *) = nullptr; // out
};
struct ExecutableDeserializeAndLoadArgs {
  TORCHERE_PJRT_HEADER(ExecutableDeserializeAndLoadArgs, compileOptionsSize);
  Client *client = nullptr;
  const char *bytes = nullptr;
  size_t byteSize = 0;
  LoadedExecutable *executable = nullptr; // out
  const char *compileOptions = nullptr;   ///< null: those it was compiled with
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
struct LoadedExecutableAddressableDevicesArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableAddressableDevicesArgs, count);
  LoadedExecutable *executable = nullptr;
  Device *const *devices = nullptr; // out
  size_t count = 0;                 // out
};
struct LoadedExecutableGetDeviceAssignmentArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableGetDeviceAssignmentArgs, deleter);
  LoadedExecutable *executable = nullptr;
  const char *bytes = nullptr;                             // out: a DeviceAssignmentProto
  size_t byteSize = 0;                                     // out
  SerializedDeviceAssignment *serialized = nullptr;        // out, destroyed by the caller with `deleter`
  void (*deleter)(SerializedDeviceAssignment *) = nullptr; // out
};
struct LoadedExecutableDeleteArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableDeleteArgs, executable);
  LoadedExecutable *executable = nullptr;
};
struct LoadedExecutableIsDeletedArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableIsDeletedArgs, isDeleted);
  LoadedExecutable *executable = nullptr;
  bool isDeleted = false; // out
};
struct LoadedExecutableFingerprintArgs {
  TORCHERE_PJRT_HEADER(LoadedExecutableFingerprintArgs, fingerprintSize);
  LoadedExecutable *executable = nullptr;
  const char *fingerprint = nullptr; // out
  size_t fingerprintSize = 0;        // out
};

using SendCallback = Error *(*)(Chunk * chunk, CallbackError *callbackError, size_t totalSize, bool isDone,
                                void *argument);
struct SendCallbackInfo {
  int64_t channel;
  void *argument;
  SendCallback callback;
};
using RecvCallback = void (*)(CopyToDeviceStream *stream, void *argument);
struct RecvCallbackInfo {
  int64_t channel;
  void *argument;
  RecvCallback callback;
};
struct ExecuteOptions {
  TORCHERE_PJRT_HEADER(ExecuteOptions, incarnationIds);
  SendCallbackInfo **sendCallbacks = nullptr; ///< [device][callback]
  RecvCallbackInfo **recvCallbacks = nullptr; ///< [device][callback]
  size_t sendCount = 0;
  size_t recvCount = 0;
  int launchId = 0;
  const int64_t *nonDonatableInputs = nullptr;
  size_t nonDonatableInputCount = 0;
  ExecuteContext *context = nullptr;
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
  Buffer **const *outputLists = nullptr; ///< [device][output], filled by the plugin
  Event **deviceCompleteEvents =
      nullptr;                     ///< [device], filled by the plugin, destroyed by the caller; or null
  Device *executeDevice = nullptr; ///< null: the devices that the executable was compiled for
};

} // namespace torchere::pjrt
