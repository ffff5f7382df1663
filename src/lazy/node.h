// Node: a value of the graph that is being traced: an op on operands, or an array on the device.
#pragma once

#include "lazy/call.h"
#include "lazy/index_range.h"
#include "lazy/reference.h"
#include "lazy/source_line.h"
#include "lazy/thread_mark.h"
#include "session/tensor_view.h"

#include <c10/util/SmallVector.h>

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
  enum class State : uint8_t {
    Pending, ///< in the list
    Running, ///< a sync has taken it
    Computed ///< has its arrays, or its failure
  };

  Node(Device &device, Reference<const Call> known)
      : call(std::move(known)), device(device), line(call ? SourceLine::current() : nullptr) {}
  static void release(Node *node);

  const TensorType *resultType(uint32_t result) const { return call ? call->results[result] : type.get(); }
  uint32_t resultCount() const { return call ? static_cast<uint32_t>(call->results.size()) : 1; }

  // What a sync reads of each pending node is together. Guarded by the device's lock, but for the call and
  // the thread; operands and what follows `visit` are the sync's own while it runs.
  State state = State::Computed;
  uint32_t position = 0;
  uint32_t readers = 0;             ///< operands of that sync which are this node
  uint64_t visit = 0;               ///< the sync that gave the node its position
  ThreadMark thread = sharedThread; ///< that recorded it
  const Reference<const Call> call; ///< null for an array that came from the host
  Node *previous = nullptr, *next = nullptr;
  c10::SmallVector<Value, 3> operands;               ///< until the computation that it is in has ended
  c10::SmallVector<session::DeviceTensor, 1> arrays; ///< by result, once it is computed
  std::shared_ptr<const std::string> failure;        ///< why there are none

  Device &device;
  const SourceLine *const line;     ///< null if lines are not recorded
  Reference<const TensorType> type; ///< of an array that came from the host
  std::optional<IndexRange> range;  ///< of its elements, where it is known; set before anyone else sees it
};

const TensorType *Value::type() const {
  return node->resultType(result);
}

} // namespace torchere::lazy
