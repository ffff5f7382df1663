// The arguments of the buffer and transfer functions.
#pragma once

#include "pjrt/plugin_arguments.h"

namespace torchere::pjrt {

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
  Memory *memory = nullptr; ///< null: the device's own
  MemoryLayout *deviceLayout = nullptr;
  Event *doneWithHostBuffer = nullptr; // out
  Buffer *buffer = nullptr;            // out
};
struct ClientCreateUninitializedBufferArgs {
  TORCHERE_PJRT_HEADER(ClientCreateUninitializedBufferArgs, buffer);
  Client *client = nullptr;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
  MemoryLayout *layout = nullptr;
  Device *device = nullptr;
  Memory *memory = nullptr;
  Buffer *buffer = nullptr; // out
};
struct ClientCreateErrorBufferArgs {
  TORCHERE_PJRT_HEADER(ClientCreateErrorBufferArgs, buffer);
  Client *client = nullptr;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
  MemoryLayout *layout = nullptr;
  Memory *memory = nullptr;
  Buffer *buffer = nullptr; // out
};
struct ClientCreateAliasBufferArgs {
  TORCHERE_PJRT_HEADER(ClientCreateAliasBufferArgs, fulfill);
  Client *client = nullptr;
  Memory *memory = nullptr;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
  MemoryLayout *layout = nullptr;
  Buffer *buffer = nullptr;                      // out
  FulfillAliasBufferCallback *fulfill = nullptr; // out
};
struct ClientFulfillAliasBufferArgs {
  TORCHERE_PJRT_HEADER(ClientFulfillAliasBufferArgs, fulfill);
  Client *client = nullptr;
  Buffer *buffer = nullptr;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
  FulfillAliasBufferCallback *fulfill = nullptr;
};
struct ClientCreateViewOfDeviceBufferArgs {
  TORCHERE_PJRT_HEADER(ClientCreateViewOfDeviceBufferArgs, memory);
  Client *client = nullptr;
  void *data = nullptr;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
  MemoryLayout *layout = nullptr;
  Device *device = nullptr;
  void (*onDelete)(void *data, void *argument) = nullptr;
  void *onDeleteArgument = nullptr;
  intptr_t stream = 0;
  Buffer *buffer = nullptr; // out
  Memory *memory = nullptr;
};
struct ClientCreateBuffersForAsyncHostToDeviceArgs {
  TORCHERE_PJRT_HEADER(ClientCreateBuffersForAsyncHostToDeviceArgs, manager);
  Client *client = nullptr;
  ShapeSpec *shapes = nullptr;
  size_t shapeCount = 0;
  MemoryLayout **layouts = nullptr;
  size_t layoutCount = 0;
  Memory *memory = nullptr;
  AsyncHostToDeviceTransferManager *manager = nullptr; // out
};

struct AsyncHostToDeviceTransferManagerDestroyArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerDestroyArgs, manager);
  AsyncHostToDeviceTransferManager *manager = nullptr;
};
struct AsyncHostToDeviceTransferManagerTransferDataArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerTransferDataArgs, done);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  int bufferIndex = 0;
  const void *data = nullptr;
  int64_t offset = 0;
  int64_t size = 0;
  bool isLast = false;
  Event *done = nullptr; // out
};
struct AsyncHostToDeviceTransferManagerTransferLiteralArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerTransferLiteralArgs, done);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  int bufferIndex = 0;
  const void *data = nullptr;
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
  MemoryLayout *layout = nullptr;
  Event *done = nullptr; // out
};
struct AsyncHostToDeviceTransferManagerRetrieveBufferArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerRetrieveBufferArgs, buffer);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  int bufferIndex = 0;
  Buffer *buffer = nullptr; // out
};
struct AsyncHostToDeviceTransferManagerDeviceArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerDeviceArgs, device);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  Device *device = nullptr; // out
};
struct AsyncHostToDeviceTransferManagerBufferCountArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerBufferCountArgs, count);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  size_t count = 0; // out
};
struct AsyncHostToDeviceTransferManagerBufferSizeArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerBufferSizeArgs, size);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  int bufferIndex = 0;
  size_t size = 0; // out
};
struct AsyncHostToDeviceTransferManagerSetBufferErrorArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerSetBufferErrorArgs, messageSize);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  int bufferIndex = 0;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
};
struct AsyncHostToDeviceTransferManagerAddMetadataArgs {
  TORCHERE_PJRT_HEADER(AsyncHostToDeviceTransferManagerAddMetadataArgs, count);
  AsyncHostToDeviceTransferManager *manager = nullptr;
  const NamedValue *metadata = nullptr;
  size_t count = 0;
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
struct BufferUnpaddedDimensionsArgs {
  TORCHERE_PJRT_HEADER(BufferUnpaddedDimensionsArgs, count);
  Buffer *buffer = nullptr;
  const int64_t *dimensions = nullptr; // out
  size_t count = 0;                    // out
};
struct BufferDynamicDimensionIndicesArgs {
  TORCHERE_PJRT_HEADER(BufferDynamicDimensionIndicesArgs, count);
  Buffer *buffer = nullptr;
  const size_t *indices = nullptr; // out
  size_t count = 0;                // out
};
struct BufferGetMemoryLayoutArgs {
  TORCHERE_PJRT_HEADER(BufferGetMemoryLayoutArgs, layout);
  Buffer *buffer = nullptr;
  MemoryLayout layout; // out
};
struct BufferOnDeviceSizeInBytesArgs {
  TORCHERE_PJRT_HEADER(BufferOnDeviceSizeInBytesArgs, size);
  Buffer *buffer = nullptr;
  size_t size = 0; // out
};
struct BufferDeviceArgs {
  TORCHERE_PJRT_HEADER(BufferDeviceArgs, device);
  Buffer *buffer = nullptr;
  Device *device = nullptr; // out
};
struct BufferMemoryArgs {
  TORCHERE_PJRT_HEADER(BufferMemoryArgs, memory);
  Buffer *buffer = nullptr;
  Memory *memory = nullptr; // out
};
struct BufferDeleteArgs {
  TORCHERE_PJRT_HEADER(BufferDeleteArgs, buffer);
  Buffer *buffer = nullptr;
};
struct BufferIsDeletedArgs {
  TORCHERE_PJRT_HEADER(BufferIsDeletedArgs, isDeleted);
  Buffer *buffer = nullptr;
  bool isDeleted = false; // out
};
struct BufferCopyToDeviceArgs {
  TORCHERE_PJRT_HEADER(BufferCopyToDeviceArgs, copy);
  Buffer *buffer = nullptr;
  Device *device = nullptr;
  Buffer *copy = nullptr; // out
};
struct BufferCopyToMemoryArgs {
  TORCHERE_PJRT_HEADER(BufferCopyToMemoryArgs, copy);
  Buffer *buffer = nullptr;
  Memory *memory = nullptr;
  Buffer *copy = nullptr; // out
};
struct BufferToHostBufferArgs {
  TORCHERE_PJRT_HEADER(BufferToHostBufferArgs, event);
  Buffer *source = nullptr;
  MemoryLayout *hostLayout = nullptr; ///< null: as on the device
  void *destination = nullptr;        ///< null: only destinationSize is wanted
  size_t destinationSize = 0;         // in, and out when there is no destination
  Event *event = nullptr;             // out
};
struct BufferCopyRawToHostArgs {
  TORCHERE_PJRT_HEADER(BufferCopyRawToHostArgs, event);
  Buffer *buffer = nullptr;
  void *destination = nullptr;
  int64_t offset = 0;
  int64_t size = 0;
  Event *event = nullptr; // out
};
struct BufferCopyRawToHostFutureCallbackArgs {
  size_t structSize = offsetof(BufferCopyRawToHostFutureCallbackArgs, destination) + sizeof(destination);
  void *callbackData = nullptr;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
  void *destination = nullptr;
};
struct BufferCopyRawToHostFutureArgs {
  TORCHERE_PJRT_HEADER(BufferCopyRawToHostFutureArgs, onDestination);
  Buffer *buffer = nullptr;
  int64_t offset = 0;
  int64_t size = 0;
  Event *event = nullptr;                                                   // out
  void *callbackData = nullptr;                                             // out
  void (*onDestination)(BufferCopyRawToHostFutureCallbackArgs *) = nullptr; // out
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
struct BufferUnsafePointerArgs {
  TORCHERE_PJRT_HEADER(BufferUnsafePointerArgs, pointer);
  Buffer *buffer = nullptr;
  uintptr_t pointer = 0; // out
};
struct BufferIncreaseExternalReferenceCountArgs {
  TORCHERE_PJRT_HEADER(BufferIncreaseExternalReferenceCountArgs, buffer);
  Buffer *buffer = nullptr;
};
struct BufferDecreaseExternalReferenceCountArgs {
  TORCHERE_PJRT_HEADER(BufferDecreaseExternalReferenceCountArgs, buffer);
  Buffer *buffer = nullptr;
};
struct BufferOpaqueDeviceMemoryDataPointerArgs {
  TORCHERE_PJRT_HEADER(BufferOpaqueDeviceMemoryDataPointerArgs, pointer);
  Buffer *buffer = nullptr;
  void *pointer = nullptr; // out
};
struct BufferDonateWithControlDependencyCallbackArgs {
  size_t structSize =
      offsetof(BufferDonateWithControlDependencyCallbackArgs, messageSize) + sizeof(messageSize);
  void *callbackData = nullptr;
  int code = 0;
  const char *message = nullptr;
  size_t messageSize = 0;
};
struct BufferDonateWithControlDependencyArgs {
  TORCHERE_PJRT_HEADER(BufferDonateWithControlDependencyArgs, result);
  Buffer *buffer = nullptr;
  void *callbackData = nullptr;                                                    // out
  void (*onDependency)(BufferDonateWithControlDependencyCallbackArgs *) = nullptr; // out
  Buffer *result = nullptr;                                                        // out
};

struct CopyToDeviceStreamDestroyArgs {
  TORCHERE_PJRT_HEADER(CopyToDeviceStreamDestroyArgs, stream);
  CopyToDeviceStream *stream = nullptr;
};
struct CopyToDeviceStreamAddChunkArgs {
  TORCHERE_PJRT_HEADER(CopyToDeviceStreamAddChunkArgs, complete);
  CopyToDeviceStream *stream = nullptr;
  Chunk *chunk = nullptr;
  Event *complete = nullptr; // out
};
struct CopyToDeviceStreamTotalBytesArgs {
  TORCHERE_PJRT_HEADER(CopyToDeviceStreamTotalBytesArgs, size);
  CopyToDeviceStream *stream = nullptr;
  int64_t size = 0; // out
};
struct CopyToDeviceStreamGranuleSizeArgs {
  TORCHERE_PJRT_HEADER(CopyToDeviceStreamGranuleSizeArgs, size);
  CopyToDeviceStream *stream = nullptr;
  int64_t size = 0; // out
};
struct CopyToDeviceStreamCurrentBytesArgs {
  TORCHERE_PJRT_HEADER(CopyToDeviceStreamCurrentBytesArgs, size);
  CopyToDeviceStream *stream = nullptr;
  int64_t size = 0; // out
};

} // namespace torchere::pjrt
