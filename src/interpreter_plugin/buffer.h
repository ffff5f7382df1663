// Buffer: an array on a device, which may still be in the making.
#pragma once

#include "interpreter/entry_point.h"
#include "interpreter_plugin/client.h"
#include "pjrt/completion.h"

#include <atomic>

namespace torchere::interpreter_plugin {

/// The contents of a buffer. No other array shares the tensor's elements. The client's worker writes them
/// before `ready` is set; from then on they are only read, until an execution that they are donated to
/// overwrites them.
struct Array {
  std::shared_ptr<pjrt::Completion> ready = std::make_shared<pjrt::Completion>();
  interpreter::Tensor tensor;
  /// Of readers that the plugin does not know about. While there are any, the array is never overwritten.
  std::atomic<int64_t> externalReferences = 0;
};

struct Buffer {
  Buffer(std::shared_ptr<Client> client, Device *device, interpreter::TensorType type,
         pjrt::BufferType elementType, std::shared_ptr<Array> array);

  /// Null once the buffer was deleted or donated.
  std::shared_ptr<Array> contents() const;
  /// Returns the contents and deletes the buffer.
  std::shared_ptr<Array> take();
  /// InvalidArgument once the buffer was deleted or donated.
  Result<std::shared_ptr<Array>> existing() const;
  /// For readers that the plugin does not know about: they may read the array even after the buffer is
  /// deleted.
  Status addReference();
  Status dropReference();

  const std::shared_ptr<Client> client;
  Device *const device;
  const interpreter::TensorType type;
  const pjrt::BufferType elementType;
  const interpreter::Index minorToMajor;

private:
  mutable std::mutex mutex;
  std::shared_ptr<Array> array;
  std::shared_ptr<Array> referenced; ///< set while there are external references
};

/// The buffer functions.
void fillBuffer(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
