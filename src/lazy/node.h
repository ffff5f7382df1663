// Node: a value of the graph that is being traced: an op on operands, or an array on the device.
#pragma once

#include "lazy/call.h"
#include "lazy/index_range.h"
#include "lazy/reference.h"
#include "session/tensor_view.h"

#include <c10/util/SmallVector.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace torchere::lazy {

class Device;
struct Node;

/// One result of a node.
struct Value {
  Reference<Node> node;
  uint32_t result = 0;

  inline const TensorType *type() const;
};

/// A node that is not yet computed is pending: it is in its device's list, in the order of creation, which is
/// an order in which the nodes can be computed. Only tensors and pending nodes own nodes, so that every node
/// in the list is needed.
struct Node : Counted {
  Node(Device &device, const Call *call) : device(device), call(call) {}
  static void release(Node *node);

  const TensorType *resultType(uint32_t result) const { return call ? call->results[result] : type; }

  Device &device;
  const Call *const call;           ///< null for an array that came from the host
  const TensorType *type = nullptr; ///< of such an array
  std::optional<IndexRange> range;  ///< of its elements, where it is known; set before anyone else sees it
  /// How many tensors show the node's results: whether a sync has to keep them.
  std::atomic<uint32_t> tensors = 0;

  // Guarded by the device's lock.
  Node *previous = nullptr, *next = nullptr;
  bool isPending = false;
  uint64_t visit = 0; ///< the sync that gave the node its position
  uint32_t position = 0;
  c10::SmallVector<Value, 3> operands;               ///< while it is pending
  c10::SmallVector<session::DeviceTensor, 1> arrays; ///< by result, once it is not
  std::shared_ptr<const std::string> failure;        ///< why there are none
};

const TensorType *Value::type() const {
  return node->resultType(result);
}

} // namespace torchere::lazy
