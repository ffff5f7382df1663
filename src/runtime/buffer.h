// Buffer: an array on a device.
#pragma once

#include "base/dtype.h"
#include "runtime/client.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace torchere::runtime {

/// The type of a buffer's contents: dtype, and `shape` in elements, row major.
struct ArrayType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  bool operator==(const ArrayType &) const = default;

  /// InvalidArgument if a dimension is negative or the size does not fit in 63 bits.
  TORCHERE_EXPORT Result<size_t> byteSize() const;
};

/// Types are shared, so that calls do not allocate their own.
inline std::shared_ptr<const ArrayType> makeArrayType(DType dtype, std::vector<int64_t> shape) {
  return std::make_shared<const ArrayType>(ArrayType{dtype, std::move(shape)});
}

/// A dense, row-major array in host memory. `owner` keeps the memory alive.
struct HostArray {
  const void *data = nullptr;
  std::shared_ptr<const ArrayType> type;
  std::shared_ptr<const void> owner;
};

enum class HostTransfer : uint8_t {
  /// The device may read the host's memory for as long as the buffer lives. The plugin copies if the device
  /// cannot do that, or if the memory is not aligned as it wants it: XLA's to 64 bytes, the engine to 16.
  ZeroCopy,
  /// The host's memory is free again when the call returns. The plugin owns the copy, so it can be donated
  /// without touching the host's memory.
  Copy,
};

/// Owns the plugin's buffer and, through it, the client. Move only; one thread at a time may change it.
class TORCHERE_EXPORT Buffer {
public:
  static Result<Buffer> fromHost(std::shared_ptr<Client> client, HostArray array, HostTransfer transfer,
                                 const Device *device = nullptr);
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();

  const ArrayType &type() const { return *arrayType; }
  pjrt::Buffer *handle() const { return buffer; }
  const Client &client() const { return *owningClient; }
  const Device &device() const { return *owningDevice; }
  /// True once the buffer was donated to an execution: its memory now belongs to a result.
  bool isDeleted() const;

  /// Waits until the contents are there. Fails with the error of the execution that was to compute them.
  Status wait() const;
  /// Whether the execution that computes the contents, if any, has ended.
  bool isComputed() const { return !execution || execution->hasEnded(); }
  /// Calls once with wait()'s result when the contents are there, as Execution::whenEnded() does. Waits if
  /// only the plugin knows when.
  void whenComputed(std::function<void(Status)> listener) const;
  /// The error of the execution that was to compute the contents, if it is known yet.
  Status failure() const { return execution ? execution->failure() : Status{}; }

  /// Waits for the contents and returns them in host memory: by pointer if the device's memory is the host's,
  /// otherwise as a copy. The array's owner keeps the buffer alive.
  static Result<HostArray> toHost(std::shared_ptr<const Buffer> buffer);

private:
  friend class Executable;
  Buffer(std::shared_ptr<Client> client, const Device &device, pjrt::Buffer *handle,
         std::shared_ptr<const ArrayType> type)
      : owningClient(std::move(client)), owningDevice(&device), buffer(handle), arrayType(std::move(type)) {}
  void release();
  void releaseHostMemory();
  /// The type as the plugin reports it.
  static Result<ArrayType> readType(const Client &client, pjrt::Buffer *buffer);
  /// Whether sizes of it depend on data: each execution's result has its own.
  static bool hasUnknownSizes(const Plugin &plugin, pjrt::Buffer *buffer);
  /// True if the host can read the buffer through its pointer: host memory, dense, row major.
  static bool isHostReadable(const Plugin &plugin, pjrt::Buffer *buffer, size_t rank);
  Result<const void *> pointer() const;
  Status copyTo(void *destination, size_t byteSize) const;

  std::shared_ptr<Client> owningClient;
  const Device *owningDevice; ///< the client's
  pjrt::Buffer *buffer = nullptr;
  std::shared_ptr<const ArrayType> arrayType;
  pjrt::Event *doneWithHostMemory = nullptr;
  std::shared_ptr<const void> hostMemory;
  std::shared_ptr<Execution> execution; ///< computes the contents, if nobody waited for it
  bool isReady = false;                 ///< known to hold its contents
  std::optional<bool> hostReadable;     ///< cached for the results of executions
};

} // namespace torchere::runtime
