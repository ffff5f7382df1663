// Buffer: an array on a device, which may be there later.
#pragma once

#include "interpreter/entry_point.h"
#include "interpreter_plugin/client.h"
#include "pjrt/completion.h"

#include <atomic>

namespace torchere::interpreter_plugin {

/// What a buffer holds. The tensor's elements belong to this array alone. The client's worker writes them
/// before `ready` is set; later they are read only, until an execution that they are donated to writes them
/// again.
struct Array {
  std::shared_ptr<pjrt::Completion> ready = std::make_shared<pjrt::Completion>();
  interpreter::Tensor tensor;
  std::atomic<int64_t> externalReferences =
      0; ///< of whom the plugin does not know: then it is never written again
};

struct Buffer {
  Buffer(std::shared_ptr<Client> client, Device *device, interpreter::TensorType type,
         pjrt::BufferType elementType, std::shared_ptr<Array> array);

  /// Null once the buffer was deleted or donated.
  std::shared_ptr<Array> contents() const;
  /// The same, and the buffer is deleted.
  std::shared_ptr<Array> take();
  /// InvalidArgument once the buffer was deleted or donated.
  Result<std::shared_ptr<Array>> existing() const;
  /// Somebody of whom the plugin does not know reads the array, even when the buffer is deleted meanwhile.
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
  std::shared_ptr<Array> referenced; ///< while there are references
};

/// The functions for buffers.
void fillBuffer(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
