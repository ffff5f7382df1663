// Implements the buffer functions.
#include "pjrt_server/buffer.h"

#include "pjrt/element_type.h"
#include "pjrt_server/handles.h"
#include "pjrt_server/host_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace torchere::pjrt_server {

using pjrt::checkGiven;

static Index rowMajor(size_t rank) {
  Index minorToMajor(rank);
  std::iota(minorToMajor.rbegin(), minorToMajor.rend(), 0);
  return minorToMajor;
}

Buffer::Buffer(std::shared_ptr<Client> client, Device *device, TensorType type, pjrt::BufferType elementType,
               std::shared_ptr<Array> array)
    : client(std::move(client)), device(device), declaredType(std::move(type)), elementType(elementType),
      minorToMajor(rowMajor(declaredType.shape.size())), array(std::move(array)) {
  for (size_t i = 0; i < declaredType.shape.size(); ++i)
    if (declaredType.shape[i] == interpreter::unknownSize)
      unknownDimensions.push_back(i);
}

Result<const Index *> Buffer::shape() const {
  if (unknownDimensions.empty())
    return &declaredType.shape;
  {
    std::lock_guard lock(mutex);
    if (computedShape)
      return &*computedShape;
  }
  TORCHERE_ASSIGN(ArrayUse computed, existing());
  TORCHERE_TRY(computed->ready->wait());
  std::lock_guard lock(mutex);
  if (!computedShape)
    computedShape = computed->tensor.shape();
  return &*computedShape;
}

Result<TensorType> Buffer::type() const {
  TORCHERE_ASSIGN(const Index *sizes, shape());
  return TensorType{declaredType.elementType, *sizes};
}

ArrayUse Buffer::contents() const {
  std::lock_guard lock(mutex); // a use begins before the array is taken, or not at all
  return ArrayUse(array);
}

bool Buffer::isDeleted() const {
  std::lock_guard lock(mutex);
  return !array;
}

std::shared_ptr<Array> Buffer::take() {
  std::lock_guard lock(mutex);
  return std::move(array);
}

Result<ArrayUse> Buffer::existing() const {
  if (ArrayUse existing = contents())
    return existing;
  return invalidArgument("the buffer was deleted or donated");
}

Status Buffer::addReference() {
  std::lock_guard lock(mutex);
  if (!array)
    return invalidArgument("the buffer was deleted or donated");
  referenced = array;
  ++referenced->externalReferences;
  return {};
}

Status Buffer::dropReference() {
  std::lock_guard lock(mutex);
  if (!referenced)
    return invalidArgument("nobody has an external reference");
  if (--referenced->externalReferences == 0)
    referenced = nullptr;
  return {};
}

namespace {

// Names declared in this folder take precedence over PJRT's.
using namespace pjrt;

Result<Device *> targetOf(Client &client, pjrt::Device *device, pjrt::Memory *memory) {
  Device *target = client.devices.front().get();
  if (memory)
    target = held(memory).device;
  else if (device)
    target = &held(device);
  if (target->client != &client)
    return invalidArgument("the device is another client's");
  return target;
}

Result<ElementType> checkElementType(BufferType type) {
  if (std::optional<ElementType> found = elementTypeOf(type))
    return *found;
  if (type == BufferType::Token)
    return fail(ErrorCode::Unimplemented, "buffers of tokens: expected an element type");
  return invalidArgument("no such element type: got {}", static_cast<int>(type));
}

Result<TensorType> typeOf(const ClientBufferFromHostBufferArgs &args) {
  if (args.dimensionCount)
    TORCHERE_TRY(checkGiven(args.dimensions, "dimensions"));
  TensorType type;
  TORCHERE_ASSIGN(type.elementType, checkElementType(args.type));
  type.shape.assign(args.dimensions, args.dimensions + args.dimensionCount);
  return type;
}

/// Of the largest element, and of what malloc() gives: numpy's arrays are lent as well.
constexpr uintptr_t borrowedAlignment = 16;

/// Whether the buffer can be the host's memory itself: the caller leaves it for as long as the buffer needs
/// it, and it is laid out as a tensor.
bool mayBorrow(const ClientBufferFromHostBufferArgs &args, const Index &strides, const TensorType &type) {
  bool hasElements = std::all_of(type.shape.begin(), type.shape.end(), [](int64_t size) { return size > 0; });
  bool isLent = args.semantics == HostBufferSemantics::ImmutableZeroCopy ||
                args.semantics == HostBufferSemantics::MutableZeroCopy;
  return isLent && hasElements && type.byteSize() &&
         reinterpret_cast<uintptr_t>(args.data) % borrowedAlignment == 0 && isDense(strides, type);
}

/// Returns the event that comes when nobody reads the memory any more.
std::shared_ptr<Completion> borrow(const ClientBufferFromHostBufferArgs &args, const TensorType &type,
                                   Array &array) {
  auto done = std::make_shared<Completion>();
  auto *elements = static_cast<std::byte *>(const_cast<void *>(args.data));
  std::shared_ptr<std::byte[]> memory(elements, [done](std::byte *) { done->set({}); });
  array.tensor = Tensor::over(type.elementType, type.shape, std::move(memory));
  array.isImmutable = args.semantics == HostBufferSemantics::ImmutableZeroCopy;
  array.ready->set({});
  return done;
}

Status fromHost(ClientBufferFromHostBufferArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_TRY(checkGiven(args.data, "data"));
  const std::shared_ptr<Client> &client = held(args.client);
  TORCHERE_ASSIGN(Device * device, targetOf(*client, args.device, args.memory));
  TORCHERE_ASSIGN(TensorType type, typeOf(args));
  auto array = std::make_shared<Array>();
  auto give = [&](const std::shared_ptr<Completion> &done) {
    args.doneWithHostBuffer = makeEvent(done);
    args.buffer = handleOf<pjrt::Buffer>(new Buffer(client, device, type, args.type, array));
  };
  TORCHERE_ASSIGN(Index strides, stridesOf(args.byteStrides, args.byteStrideCount, type));
  if (mayBorrow(args, strides, type)) {
    give(borrow(args, type, *array));
    return {};
  }
  TORCHERE_ASSIGN(array->tensor, Tensor::create(type.elementType, type.shape));
  auto copy = [array, data = args.data, strides] {
    copyFromHost(data, strides, array->tensor);
    array->ready->set({});
  };
  if (args.semantics == HostBufferSemantics::ImmutableOnlyDuringCall)
    copy();
  else // also a copy, but as late as the caller allows: callers must keep their memory
    client->perform(copy);
  give(array->ready);
  return {};
}

Status destroyBuffer(BufferDestroyArgs &args) {
  if (args.buffer)
    delete &held(args.buffer);
  return {};
}
Status elementTypeOfBuffer(BufferElementTypeArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.type = held(args.buffer).elementType;
  return {};
}
/// The sizes stay in place for as long as the buffer.
template <class Args> Status dimensionsOfBuffer(Args &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  Buffer &buffer = held(args.buffer);
  TORCHERE_ASSIGN(const Index *shape, buffer.shape());
  args.dimensions = shape->data();
  args.count = shape->size();
  return {};
}
Status dynamicDimensionsOfBuffer(BufferDynamicDimensionIndicesArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.indices = held(args.buffer).unknownDimensions.data();
  args.count = held(args.buffer).unknownDimensions.size();
  return {};
}
Status layoutOfBuffer(BufferGetMemoryLayoutArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.layout = {};
  args.layout.tiled.minorToMajor = held(args.buffer).minorToMajor.data();
  args.layout.tiled.minorToMajorSize = held(args.buffer).minorToMajor.size();
  return {};
}
Status sizeOfBuffer(BufferOnDeviceSizeInBytesArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  TORCHERE_ASSIGN(TensorType type, held(args.buffer).type());
  TORCHERE_ASSIGN(int64_t size, type.byteSize());
  args.size = static_cast<size_t>(size);
  return {};
}
Status deviceOfBuffer(BufferDeviceArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.device = held(args.buffer).device->handle;
  return {};
}
Status memoryOfBuffer(BufferMemoryArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.memory = held(args.buffer).device->memoryHandle;
  return {};
}
Status deleteBuffer(BufferDeleteArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  held(args.buffer).take();
  return {};
}
Status isBufferDeleted(BufferIsDeletedArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  args.isDeleted = held(args.buffer).isDeleted();
  return {};
}
Status isOnCpu(BufferIsOnCpuArgs &args) {
  args.isOnCpu = true;
  return {};
}
Status readyEventOfBuffer(BufferReadyEventArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  TORCHERE_ASSIGN(ArrayUse array, held(args.buffer).existing());
  args.event = makeEvent(array->ready);
  return {};
}

Result<pjrt::Buffer *> copyTo(Buffer &source, Device *device) {
  if (device->client != source.client.get())
    return fail(ErrorCode::Unimplemented, "a copy to another client's device");
  TORCHERE_ASSIGN(ArrayUse array, source.existing());
  TORCHERE_ASSIGN(TensorType type, source.type());
  auto copy = std::make_shared<Array>();
  source.client->perform([array = std::move(array), copy]() mutable {
    Status status = array->ready->wait();
    if (status) {
      Result<Tensor> cloned = array->tensor.clone();
      if (cloned)
        copy->tensor = *std::move(cloned);
      else
        status = tl::unexpected(std::move(cloned).error());
    }
    array = {}; // whoever learns of the end may donate it
    copy->ready->set(std::move(status));
  });
  return handleOf<pjrt::Buffer>(new Buffer(source.client, device, std::move(type), source.elementType, copy));
}
Status copyToDevice(BufferCopyToDeviceArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  TORCHERE_TRY(checkGiven(args.device, "device"));
  TORCHERE_ASSIGN(args.copy, copyTo(held(args.buffer), &held(args.device)));
  return {};
}
Status copyToMemory(BufferCopyToMemoryArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  TORCHERE_TRY(checkGiven(args.memory, "memory"));
  TORCHERE_ASSIGN(args.copy, copyTo(held(args.buffer), held(args.memory).device));
  return {};
}

Status toHost(BufferToHostBufferArgs &args) {
  TORCHERE_TRY(checkGiven(args.source, "buffer"));
  Buffer &buffer = held(args.source);
  TORCHERE_ASSIGN(TensorType type, buffer.type());
  TORCHERE_ASSIGN(Index strides, stridesOf(args.hostLayout, type));
  TORCHERE_ASSIGN(int64_t span, spanOf(strides, type));
  if (!args.destination) {
    args.destinationSize = static_cast<size_t>(span);
    return {};
  }
  if (args.destinationSize < static_cast<size_t>(span))
    return invalidArgument("destination too small: got {} bytes, expected at least {}", args.destinationSize,
                           span);
  TORCHERE_ASSIGN(ArrayUse array, buffer.existing());
  auto done = std::make_shared<Completion>();
  buffer.client->perform([array = std::move(array), done, strides, destination = args.destination]() mutable {
    Status status = array->ready->wait();
    if (status)
      copyToHost(array->tensor, destination, strides);
    array = {}; // whoever learns of the end may donate it
    done->set(std::move(status));
  });
  args.event = makeEvent(std::move(done));
  return {};
}

/// Waits, because there is nothing at the address before the buffer is ready.
Result<void *> addressOf(pjrt::Buffer *buffer) {
  TORCHERE_TRY(checkGiven(buffer, "buffer"));
  TORCHERE_ASSIGN(ArrayUse array, held(buffer).existing());
  TORCHERE_TRY(array->ready->wait());
  return array->tensor.writableBytes().data();
}
Status opaquePointer(BufferOpaqueDeviceMemoryDataPointerArgs &args) {
  TORCHERE_ASSIGN(args.pointer, addressOf(args.buffer));
  return {};
}
Status unsafePointer(BufferUnsafePointerArgs &args) {
  TORCHERE_ASSIGN(void *address, addressOf(args.buffer));
  args.pointer = reinterpret_cast<uintptr_t>(address);
  return {};
}
Status addReference(BufferIncreaseExternalReferenceCountArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  return held(args.buffer).addReference();
}
Status dropReference(BufferDecreaseExternalReferenceCountArgs &args) {
  TORCHERE_TRY(checkGiven(args.buffer, "buffer"));
  return held(args.buffer).dropReference();
}

} // namespace

void fillBuffer(pjrt::Api &api) {
  TORCHERE_PJRT_FILL(api, clientBufferFromHostBuffer, fromHost);
  TORCHERE_PJRT_FILL(api, bufferDestroy, destroyBuffer);
  TORCHERE_PJRT_FILL(api, bufferElementType, elementTypeOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferDimensions, dimensionsOfBuffer<pjrt::BufferDimensionsArgs>);
  TORCHERE_PJRT_FILL(api, bufferUnpaddedDimensions, dimensionsOfBuffer<pjrt::BufferUnpaddedDimensionsArgs>);
  TORCHERE_PJRT_FILL(api, bufferDynamicDimensionIndices, dynamicDimensionsOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferGetMemoryLayout, layoutOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferOnDeviceSizeInBytes, sizeOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferDevice, deviceOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferMemory, memoryOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferDelete, deleteBuffer);
  TORCHERE_PJRT_FILL(api, bufferIsDeleted, isBufferDeleted);
  TORCHERE_PJRT_FILL(api, bufferCopyToDevice, copyToDevice);
  TORCHERE_PJRT_FILL(api, bufferCopyToMemory, copyToMemory);
  TORCHERE_PJRT_FILL(api, bufferToHostBuffer, toHost);
  TORCHERE_PJRT_FILL(api, bufferIsOnCpu, isOnCpu);
  TORCHERE_PJRT_FILL(api, bufferReadyEvent, readyEventOfBuffer);
  TORCHERE_PJRT_FILL(api, bufferUnsafePointer, unsafePointer);
  TORCHERE_PJRT_FILL(api, bufferIncreaseExternalReferenceCount, addReference);
  TORCHERE_PJRT_FILL(api, bufferDecreaseExternalReferenceCount, dropReference);
  TORCHERE_PJRT_FILL(api, bufferOpaqueDeviceMemoryDataPointer, opaquePointer);
}

} // namespace torchere::pjrt_server
