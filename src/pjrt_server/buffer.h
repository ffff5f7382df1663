// Buffer: an array on a device, which may still be in the making.
#pragma once

#include "pjrt/completion.h"
#include "pjrt_server/client.h"

#include <atomic>

namespace torchere::pjrt_server {

/// The contents of a buffer. No other array shares the tensor's elements. They lie in memory of
/// its own, or where the host has them. The client's worker writes them before `ready` is set; from then on
/// they are only read, until an execution that they are donated to overwrites them.
struct Array {
  std::shared_ptr<pjrt::Completion> ready = std::make_shared<pjrt::Completion>();
  Tensor tensor;
  /// Whether the elements lie in memory of the host, which is never overwritten.
  bool isImmutable = false;
  /// Of readers that the plugin does not know about. While there are any, the array is never overwritten.
  std::atomic<int64_t> externalReferences = 0;
  std::atomic<int64_t> uses = 0; ///< see ArrayUse
  /// Of these contents. Last, so that the memory is not free before everyone knows.
  const Lifetime lifetime;
};

/// Keeps the elements of an array as they are while somebody reads them: an execution that the array is
/// donated to overwrites them only if it has the only use.
class ArrayUse {
public:
  ArrayUse() = default;
  explicit ArrayUse(std::shared_ptr<Array> used) : array(std::move(used)) {
    if (array)
      array->uses.fetch_add(1, std::memory_order_relaxed);
  }
  ArrayUse(const ArrayUse &other) : ArrayUse(other.array) {}
  ArrayUse(ArrayUse &&other) noexcept = default;
  ArrayUse &operator=(ArrayUse other) noexcept {
    array.swap(other.array);
    return *this;
  }
  ~ArrayUse() {
    if (array)
      array->uses.fetch_sub(1, std::memory_order_release);
  }

  explicit operator bool() const { return array != nullptr; }
  Array &operator*() const { return *array; }
  Array *operator->() const { return array.get(); }
  /// Once the array's buffer has given it up, no other use begins, and this stays true.
  bool isOnly() const { return array->uses.load(std::memory_order_acquire) == 1; }

private:
  std::shared_ptr<Array> array;
};

struct Buffer {
  Buffer(std::shared_ptr<Client> client, Device *device, TensorType type, pjrt::BufferType elementType,
         std::shared_ptr<Array> array);

  /// Null once the buffer was deleted or donated.
  ArrayUse contents() const;
  bool isDeleted() const;
  /// Returns the contents and deletes the buffer.
  std::shared_ptr<Array> take();
  /// InvalidArgument once the buffer was deleted or donated.
  Result<ArrayUse> existing() const;
  /// For readers that the plugin does not know about: they may read the array even after the buffer is
  /// deleted.
  Status addReference();
  Status dropReference();
  /// The sizes, which stay in place. If one depends on data, waits for the array, and returns its failure.
  Result<const Index *> shape() const;
  /// The type with these sizes.
  Result<TensorType> type() const;

  const std::shared_ptr<Client> client;
  Device *const device;
  const TensorType declaredType; ///< sizes that depend on data are unknown
  const pjrt::BufferType elementType;
  const Index minorToMajor;
  std::vector<size_t> unknownDimensions; ///< of the declared type

private:
  mutable std::mutex mutex;
  std::shared_ptr<Array> array;
  std::shared_ptr<Array> referenced; ///< set while there are external references
  mutable std::optional<Index> computedShape;
};

/// The buffer functions.
void fillBuffer(pjrt::Api &api);

} // namespace torchere::pjrt_server
