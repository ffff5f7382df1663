// Buffer: transfers from host memory and back, and the release of both sides.
#include "runtime/buffer.h"

#include "pjrt/element_type.h"

#include <cstdlib>
#include <limits>
#include <utility>

namespace torchere::runtime {

/// XLA's alignment of host memory, and torch's.
static constexpr size_t hostAlignment = 64;

Result<size_t> ArrayType::byteSize() const {
  size_t size = torchere::byteSize(dtype);
  bool overflow = false;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      return invalidArgument("[array] negative dimension: got {}", dimension);
    size_t next = 0;
    overflow |= __builtin_mul_overflow(size, static_cast<size_t>(dimension), &next);
    size = next;
  }
  if (overflow || size > static_cast<size_t>(std::numeric_limits<int64_t>::max()))
    return invalidArgument("[array] too large: its size in bytes does not fit 63 bits");
  return size;
}

Result<Buffer> Buffer::fromHost(std::shared_ptr<Client> client, HostArray array, HostTransfer transfer,
                                const Device *device) {
  TORCHERE_TRY(client->checkProcess());
  auto elementType = pjrt::bufferTypeOf(array.type->dtype);
  if (!elementType)
    return fail(ErrorCode::Unimplemented, "[{}] no such element type in PJRT: got {}", client->platformName(),
                dtypeInfo(array.type->dtype).torchName);
  TORCHERE_TRY(array.type->byteSize());
  alignas(hostAlignment) static const char empty[hostAlignment] = {};
  const Plugin &plugin = client->plugin();
  pjrt::ClientBufferFromHostBufferArgs args;
  args.client = client->handle();
  args.data = array.data ? array.data : empty; // arrays without elements may have a null address
  args.type = *elementType;
  args.dimensions = array.type->shape.data();
  args.dimensionCount = array.type->shape.size();
  args.semantics = transfer == HostTransfer::ZeroCopy ? pjrt::HostBufferSemantics::ImmutableZeroCopy
                                                      : pjrt::HostBufferSemantics::ImmutableOnlyDuringCall;
  const Device &target = device ? *device : client->devices().front();
  args.device = target.handle;
  TORCHERE_TRY(plugin.call(plugin.api().clientBufferFromHostBuffer, args, client->platformName(),
                           "cannot make a buffer from host memory"));
  Buffer buffer(std::move(client), target, args.buffer, std::move(array.type));
  buffer.doneWithHostMemory = args.doneWithHostBuffer;
  if (transfer == HostTransfer::ZeroCopy)
    buffer.hostMemory = std::move(array.owner);
  return buffer;
}

Buffer::Buffer(Buffer &&other) noexcept
    : owningClient(std::move(other.owningClient)), owningDevice(other.owningDevice),
      buffer(std::exchange(other.buffer, nullptr)), arrayType(std::move(other.arrayType)),
      doneWithHostMemory(std::exchange(other.doneWithHostMemory, nullptr)),
      hostMemory(std::move(other.hostMemory)), execution(std::move(other.execution)), isReady(other.isReady),
      hostReadable(other.hostReadable) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  if (this != &other) {
    release();
    owningClient = std::move(other.owningClient);
    owningDevice = other.owningDevice;
    buffer = std::exchange(other.buffer, nullptr);
    arrayType = std::move(other.arrayType);
    doneWithHostMemory = std::exchange(other.doneWithHostMemory, nullptr);
    hostMemory = std::move(other.hostMemory);
    execution = std::move(other.execution);
    isReady = other.isReady;
    hostReadable = other.hostReadable;
  }
  return *this;
}

Buffer::~Buffer() {
  release();
}

void Buffer::release() {
  if (!buffer || owningClient->isForked())
    return; // after a fork, the plugin's part is left alone
  const Plugin &plugin = owningClient->plugin();
  pjrt::BufferDestroyArgs args;
  args.buffer = std::exchange(buffer, nullptr);
  if (pjrt::Error *error = plugin.api().bufferDestroy(&args))
    plugin.discard(error);
  if (doneWithHostMemory)
    releaseHostMemory();
}

namespace {
/// Host memory that the plugin still reads after its buffer was destroyed.
struct PendingHostMemory {
  const Plugin *plugin; // plugins are never unloaded
  pjrt::Event *event;
  std::shared_ptr<const void> owner;
};
} // namespace

static void dropHostMemory(pjrt::Error *error, void *argument) {
  std::unique_ptr<PendingHostMemory> pending(static_cast<PendingHostMemory *>(argument));
  if (error)
    pending->plugin->discard(error);
  pending->plugin->destroy(pending->event);
}

/// Drops the owner now if the plugin is done with the memory, otherwise when the plugin reports it, on a
/// thread of the plugin's.
void Buffer::releaseHostMemory() {
  const Plugin &plugin = owningClient->plugin();
  pjrt::Event *event = std::exchange(doneWithHostMemory, nullptr);
  pjrt::EventIsReadyArgs readyArgs;
  readyArgs.event = event;
  pjrt::Error *error = plugin.api().eventIsReady(&readyArgs);
  if (error)
    plugin.discard(error);
  if (!hostMemory || (!error && readyArgs.isReady)) {
    plugin.destroy(event);
    hostMemory.reset();
    return;
  }
  auto *pending = new PendingHostMemory{&plugin, event, std::move(hostMemory)};
  pjrt::EventOnReadyArgs args;
  args.event = event;
  args.callback = dropHostMemory;
  args.argument = pending;
  // On failure the plugin may still read the memory: leak it rather than free it under the plugin.
  if (pjrt::Error *onReadyError = plugin.api().eventOnReady(&args))
    plugin.discard(onReadyError);
}

bool Buffer::isDeleted() const {
  if (!buffer || owningClient->isForked())
    return true;
  const Plugin &plugin = owningClient->plugin();
  pjrt::BufferIsDeletedArgs args;
  args.buffer = buffer;
  if (pjrt::Error *error = plugin.api().bufferIsDeleted(&args)) {
    plugin.discard(error);
    return true;
  }
  return args.isDeleted;
}

Result<ArrayType> Buffer::readType(const Client &client, pjrt::Buffer *buffer) {
  const Plugin &plugin = client.plugin();
  pjrt::BufferElementTypeArgs elementType;
  elementType.buffer = buffer;
  TORCHERE_TRY(plugin.call(plugin.api().bufferElementType, elementType, client.platformName(),
                           "cannot get a buffer's element type"));
  auto dtype = pjrt::dtypeOf(elementType.type);
  if (!dtype)
    return fail(ErrorCode::Unimplemented,
                "[{}] a result of an element type that torch has not: got PJRT type {}",
                client.platformName(), static_cast<int>(elementType.type));
  pjrt::BufferDimensionsArgs dimensions;
  dimensions.buffer = buffer;
  TORCHERE_TRY(plugin.call(plugin.api().bufferDimensions, dimensions, client.platformName(),
                           "cannot get a buffer's dimensions"));
  return ArrayType{*dtype, {dimensions.dimensions, dimensions.dimensions + dimensions.count}};
}

bool Buffer::hasUnknownSizes(const Plugin &plugin, pjrt::Buffer *buffer) {
  if (!pjrt::offers(plugin.api(), &pjrt::Api::bufferDynamicDimensionIndices))
    return false;
  pjrt::BufferDynamicDimensionIndicesArgs args;
  args.buffer = buffer;
  if (pjrt::Error *error = plugin.api().bufferDynamicDimensionIndices(&args)) {
    plugin.discard(error); // a plugin may not know the function
    return false;
  }
  return args.count > 0;
}

bool Buffer::isHostReadable(const Plugin &plugin, pjrt::Buffer *buffer, size_t rank) {
  const pjrt::Api &api = plugin.api();
  if (!api.bufferIsOnCpu || !api.bufferGetMemoryLayout || !api.bufferOpaqueDeviceMemoryDataPointer)
    return false;
  pjrt::BufferIsOnCpuArgs onCpu;
  onCpu.buffer = buffer;
  if (pjrt::Error *error = api.bufferIsOnCpu(&onCpu)) {
    plugin.discard(error);
    return false;
  }
  if (!onCpu.isOnCpu)
    return false;
  pjrt::BufferGetMemoryLayoutArgs layout;
  layout.buffer = buffer;
  if (pjrt::Error *error = api.bufferGetMemoryLayout(&layout)) {
    plugin.discard(error);
    return false;
  }
  const pjrt::TiledLayout &tiled = layout.layout.tiled;
  if (layout.layout.type != pjrt::MemoryLayoutType::Tiled || tiled.tileCount ||
      tiled.minorToMajorSize != rank)
    return false;
  for (size_t i = 0; i < rank; ++i)
    if (tiled.minorToMajor[i] != static_cast<int64_t>(rank - 1 - i))
      return false;
  return true;
}

Status Buffer::wait() const {
  if (isReady)
    return {};
  TORCHERE_TRY(owningClient->checkProcess());
  if (execution)
    return execution->wait();
  const Plugin &plugin = owningClient->plugin();
  if (!plugin.api().bufferReadyEvent)
    return {};
  pjrt::BufferReadyEventArgs args;
  args.buffer = buffer;
  TORCHERE_TRY(plugin.call(plugin.api().bufferReadyEvent, args, owningClient->platformName(),
                           "cannot wait for a buffer"));
  return plugin.await(args.event, owningClient->platformName(), "computing a buffer failed");
}

void Buffer::whenComputed(std::function<void(Status)> listener) const {
  if (execution && !isReady && !owningClient->isForked())
    execution->whenEnded(std::move(listener));
  else
    listener(wait());
}

Result<const void *> Buffer::pointer() const {
  const Plugin &plugin = owningClient->plugin();
  pjrt::BufferOpaqueDeviceMemoryDataPointerArgs args;
  args.buffer = buffer;
  TORCHERE_TRY(plugin.call(plugin.api().bufferOpaqueDeviceMemoryDataPointer, args,
                           owningClient->platformName(), "cannot get a buffer's address"));
  return args.pointer;
}

Status Buffer::copyTo(void *destination, size_t byteSize) const {
  const Plugin &plugin = owningClient->plugin();
  std::vector<int64_t> minorToMajor(arrayType->shape.size());
  for (size_t i = 0; i < minorToMajor.size(); ++i)
    minorToMajor[i] = static_cast<int64_t>(minorToMajor.size() - 1 - i);
  pjrt::MemoryLayout rowMajor;
  rowMajor.tiled.minorToMajor = minorToMajor.data();
  rowMajor.tiled.minorToMajorSize = minorToMajor.size();
  pjrt::BufferToHostBufferArgs args;
  args.source = buffer;
  args.hostLayout = &rowMajor;
  args.destination = destination;
  args.destinationSize = byteSize;
  TORCHERE_TRY(plugin.call(plugin.api().bufferToHostBuffer, args, owningClient->platformName(),
                           "cannot copy a buffer to the host"));
  return plugin.await(args.event, owningClient->platformName(), "copying a buffer to the host failed");
}

Result<HostArray> Buffer::toHost(std::shared_ptr<const Buffer> buffer) {
  const Client &client = *buffer->owningClient;
  TORCHERE_TRY(client.checkProcess());
  if (!buffer->isReady)
    TORCHERE_TRY(buffer->wait());
  const ArrayType &type = *buffer->arrayType;
  bool byPointer = buffer->hostReadable ? *buffer->hostReadable
                                        : isHostReadable(client.plugin(), buffer->buffer, type.shape.size());
  if (byPointer) {
    TORCHERE_ASSIGN(const void *data, buffer->pointer());
    return HostArray{data, buffer->arrayType, buffer};
  }
  TORCHERE_ASSIGN(size_t byteSize, type.byteSize());
  size_t allocated = (byteSize / hostAlignment + 1) * hostAlignment;
  std::shared_ptr<void> memory(std::aligned_alloc(hostAlignment, allocated), std::free);
  if (!memory)
    return fail(ErrorCode::ResourceExhausted, "[{}] no host memory for a result of {} bytes",
                client.platformName(), byteSize);
  TORCHERE_TRY(buffer->copyTo(memory.get(), byteSize));
  return HostArray{memory.get(), buffer->arrayType, memory};
}

} // namespace torchere::runtime
