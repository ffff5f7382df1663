// Buffer: an array on a device.
#pragma once

#include "base/dtype.h"
#include "runtime/client.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace torchere::runtime {

/// What a buffer holds: `shape` in elements, row major.
struct ArrayType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  bool operator==(const ArrayType &) const = default;

  /// InvalidArgument when a dimension is negative or the size does not fit 63 bits.
  TORCHERE_EXPORT Result<size_t> byteSize() const;
};

/// Types are shared, so that a call makes none of its own.
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
  /// The device may read the host's memory for as long as the buffer lives. A device that cannot, or memory
  /// that is
  /// not aligned to 64 bytes, is copied by the plugin.
  ZeroCopy,
  /// The host's memory is free again when the call returns. The plugin owns the copy, so that it can be
  /// donated
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
  /// Whether the execution that computes the contents, if there is one, has ended.
  bool isComputed() const { return !execution || execution->hasEnded(); }
  /// The error of the execution that was to compute the contents, if it is known by now.
  Status failure() const { return execution ? execution->failure() : Status{}; }

  /// The contents in host memory, once they are there: by pointer when the device's memory is the host's,
  /// else a copy. The array's owner keeps the buffer alive.
  static Result<HostArray> toHost(std::shared_ptr<const Buffer> buffer);

private:
  friend class Executable;
  Buffer(std::shared_ptr<Client> client, const Device &device, pjrt::Buffer *handle,
         std::shared_ptr<const ArrayType> type)
      : owningClient(std::move(client)), owningDevice(&device), buffer(handle), arrayType(std::move(type)) {}
  void release();
  void releaseHostMemory();
  /// The type as the plugin gives it.
  static Result<ArrayType> readType(const Client &client, pjrt::Buffer *buffer);
  /// True when the host can read the buffer by its pointer: host memory, dense, row major.
  static bool isHostReadable(const Plugin &plugin, pjrt::Buffer *buffer, size_t rank);
  Result<const void *> pointer() const;
  Status copyTo(void *destination, size_t byteSize) const;

  std::shared_ptr<Client> owningClient;
  const Device *owningDevice; ///< the client's
  pjrt::Buffer *buffer = nullptr;
  std::shared_ptr<const ArrayType> arrayType;
  pjrt::Event *doneWithHostMemory = nullptr;
  std::shared_ptr<const void> hostMemory;
  std::shared_ptr<Execution> execution; ///< that computes the contents, where nobody waited for it
  bool isReady = false;                 ///< known to hold its contents
  std::optional<bool> hostReadable;     ///< known for results of executions
};

} // namespace torchere::runtime
