// The pending nodes of a device, and their computation.
#include "lazy/device.h"

#include "lazy/program_writer.h"
#include "runtime/buffer.h"
#include "runtime/discovery.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <bit>
#include <cstring>

namespace torchere::lazy {

template <class T> static T valueOf(Result<T> result) {
  TORCH_CHECK(result.has_value(), result.error().text());
  return *std::move(result);
}

namespace {

/// Never destroyed: tensors may outlive everything else.
struct DeviceTable {
  std::mutex mutex;
  std::map<c10::DeviceIndex, std::unique_ptr<Device>> devices;
};
DeviceTable &deviceTable() {
  static auto *table = new DeviceTable;
  return *table;
}

} // namespace

Device &Device::get(c10::DeviceIndex index) {
  DeviceTable &table = deviceTable();
  std::lock_guard lock(table.mutex);
  std::unique_ptr<Device> &device = table.devices[index < 0 ? 0 : index];
  if (!device)
    device = std::make_unique<Device>(index < 0 ? 0 : index);
  return *device;
}

c10::DeviceIndex Device::count() noexcept {
  static const c10::DeviceIndex known = [] {
    auto client = runtime::sharedClient();
    return static_cast<c10::DeviceIndex>(client ? (*client)->devices().size() : 1);
  }();
  return known;
}

/// A long chain of nodes is freed in a loop: recursion would exhaust the stack.
void Node::release(Node *node) {
  thread_local c10::SmallVector<Node *, 16> dying;
  thread_local bool isFreeing = false;
  dying.push_back(node);
  if (isFreeing)
    return;
  isFreeing = true;
  while (!dying.empty()) {
    Node *dead = dying.pop_back_val();
    dead->device.unlink(*dead);
    delete dead; // drops its operands, which come here
  }
  isFreeing = false;
}

void Device::unlink(Node &node) {
  std::lock_guard lock(mutex);
  if (!node.isPending)
    return;
  node.isPending = false;
  (node.previous ? node.previous->next : first) = node.next;
  (node.next ? node.next->previous : last) = node.previous;
}

Reference<Node> Device::record(const Call *call, c10::SmallVector<Value, 3> operands) {
  auto *node = new Node(*this, call);
  node->operands = std::move(operands);
  Reference<Node> made(node);
  std::lock_guard lock(mutex);
  node->isPending = true;
  node->previous = last;
  (last ? last->next : first) = node;
  last = node;
  return made;
}

Value Device::upload(const at::Tensor &tensor) {
  at::Tensor dense = tensor.contiguous();
  DType dtype = valueOf(programDType(dense.scalar_type()));
  runtime::HostArray array{dense.const_data_ptr(), runtime::makeArrayType(dtype, dense.sizes().vec()),
                           nullptr};
  std::lock_guard lock(mutex);
  auto plugin = valueOf(traces.client());
  auto buffer = valueOf(runtime::Buffer::fromHost(
      std::move(plugin), std::move(array), runtime::HostTransfer::Copy, valueOf(traces.runtimeDevice())));
  Reference<Node> node(new Node(*this, nullptr));
  node->type = TensorType::intern(dense.scalar_type(), dense.sizes());
  node->arrays.push_back(std::make_shared<runtime::Buffer>(std::move(buffer)));
  TORCH_LAZY_COUNTER("HostToDevice", 1);
  return {std::move(node), 0};
}

Value Device::number(const c10::Scalar &number, at::ScalarType dtype) {
  auto complex = number.toComplexDouble();
  auto bits = number.isIntegral(true) ? static_cast<uint64_t>(number.toLong())
                                      : std::bit_cast<uint64_t>(complex.real());
  std::tuple key{dtype, bits, std::bit_cast<uint64_t>(complex.imag())};
  std::lock_guard lock(numbersMutex);
  auto found = numbers.find(key);
  if (found == numbers.end()) {
    constexpr size_t limit = 4096; // a loop may use a new number in each step
    if (numbers.size() >= limit)
      numbers.clear();
    at::Tensor tensor = at::empty({}, at::TensorOptions().dtype(dtype));
    tensor.fill_(number);
    found = numbers.emplace(key, upload(tensor)).first;
  }
  return found->second;
}

Graph Device::collect(std::vector<Reference<Node>> &nodes) {
  Graph graph;
  uint64_t visit = ++visits;
  for (Node *node = first; node; node = node->next)
    if (node->tryRetain())
      nodes.push_back(Reference<Node>::adopt(node));
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Node &node = *nodes[i];
    node.visit = visit;
    node.position = i;
    bool isWanted = node.tensors.load(std::memory_order_relaxed) != 0;
    graph.calls.push_back(node.call);
    graph.isWanted.push_back(isWanted);
    graph.firstOperand.push_back(static_cast<uint32_t>(graph.operands.size()));
    graph.words.push_back(reinterpret_cast<uintptr_t>(node.call));
    graph.words.push_back(isWanted);
    for (const Value &operand : node.operands) {
      Node &source = *operand.node;
      TORCH_CHECK(!source.failure, *source.failure);
      // A result of a computed node is a leaf of its own: its number is that of its first result.
      if (!source.isPending && source.visit != visit) {
        source.visit = visit;
        source.position = static_cast<uint32_t>(graph.leaves.size());
        for (size_t result = 0; result < source.arrays.size(); ++result) {
          graph.leaves.push_back(source.arrays[result]);
          graph.leafTypes.push_back(source.resultType(static_cast<uint32_t>(result)));
          graph.words.push_back(reinterpret_cast<uintptr_t>(graph.leafTypes.back()));
        }
      }
      uint64_t word = source.isPending ? operandWord(false, source.position, operand.result)
                                       : operandWord(true, source.position + operand.result, 0);
      graph.operands.push_back(word);
      graph.words.push_back(word);
    }
    if (isWanted)
      for (uint32_t result = 0; result < node.call->results.size(); ++result)
        if (node.call->results[result])
          graph.results.emplace_back(i, result);
  }
  return graph;
}

/// Computes what is pending. Returns the error, which every reader of these nodes gets from then on.
std::string Device::computePending() {
  std::vector<Reference<Node>> nodes;
  std::vector<c10::SmallVector<Value, 3>> dropped; // destroyed after the lock is given back
  std::string error;
  {
    std::lock_guard lock(mutex);
    Result<std::vector<session::DeviceTensor>> arrays;
    Graph graph;
    try {
      graph = collect(nodes);
      if (graph.results.empty())
        return {};
      arrays = traces.run(graph);
    } catch (const std::exception &exception) {
      arrays = fail(ErrorCode::Internal, "{}", exception.what());
    }
    auto failure = arrays ? nullptr : std::make_shared<const std::string>(arrays.error().text());
    for (const Reference<Node> &node : nodes) {
      node->isPending = false;
      dropped.push_back(std::move(node->operands));
      node->operands.clear();
      node->failure = failure;
      node->arrays.resize(node->call->results.size());
    }
    first = last = nullptr;
    if (failure)
      error = *failure;
    else
      for (size_t i = 0; i < graph.results.size(); ++i)
        nodes[graph.results[i].first]->arrays[graph.results[i].second] = std::move((*arrays)[i]);
  }
  return error;
}

void Device::sync() {
  std::string error = computePending();
  TORCH_CHECK(error.empty(), error);
}

bool Device::isComputed(const Value &value) {
  std::lock_guard lock(value.node->device.mutex);
  return !value.node->isPending && !value.node->failure;
}

bool Device::hasFailed(const Value &value) {
  std::lock_guard lock(value.node->device.mutex);
  return value.node->failure != nullptr;
}

std::string Device::pendingText() {
  std::vector<Reference<Node>> nodes;
  std::unique_lock lock(mutex);
  Result<std::string> text = textOf(collect(nodes));
  lock.unlock();
  return valueOf(std::move(text));
}

at::Tensor Device::download(const Value &value) {
  bool isPending;
  {
    std::lock_guard lock(mutex);
    isPending = value.node->isPending;
  }
  if (isPending)
    computePending(); // its error, if it concerns this value, is found below
  session::DeviceTensor array;
  {
    std::lock_guard lock(mutex);
    TORCH_CHECK(!value.node->failure, *value.node->failure);
    array = value.node->arrays[value.result];
  }
  TORCH_LAZY_COUNTER("DeviceToHost", 1);
  runtime::HostArray host = valueOf(runtime::Buffer::toHost(array));
  const TensorType &type = *value.type();
  at::Tensor tensor = at::empty(type.sizes, at::TensorOptions().dtype(type.dtype));
  if (tensor.nbytes() > 0)
    std::memcpy(tensor.mutable_data_ptr(), host.data, tensor.nbytes());
  return tensor;
}

} // namespace torchere::lazy
