// The pending nodes of a device, and their computation.
#include "lazy/device.h"

#include "lazy/current_device.h"
#include "lazy/plugin_client.h"
#include "lazy/program_writer.h"
#include "lazy/range.h"
#include "lazy/region.h"
#include "runtime/buffer.h"

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
  if (index < 0)
    index = currentDevice();
  DeviceTable &table = deviceTable();
  std::lock_guard lock(table.mutex);
  auto found = table.devices.find(index);
  if (found == table.devices.end()) {
    if (index > 0) // the first one is there, or an upload or a sync says why not
      valueOf(pluginDevice(index));
    found = table.devices.emplace(index, std::make_unique<Device>(index)).first;
  }
  return *found->second;
}

c10::DeviceIndex Device::count() noexcept {
  auto client = pluginClient();
  return static_cast<c10::DeviceIndex>(client ? (*client)->devices().size() : 1);
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
  TORCHERE_LAZY_RANGE("lazy::transfer_to_device", "TransferToDeviceTime");
  at::Tensor dense = tensor.contiguous();
  DType dtype = valueOf(programDType(dense.scalar_type()));
  runtime::HostArray array{dense.const_data_ptr(), runtime::makeArrayType(dtype, dense.sizes().vec()),
                           nullptr};
  std::lock_guard lock(mutex);
  auto plugin = valueOf(pluginClient());
  auto buffer = valueOf(runtime::Buffer::fromHost(std::move(plugin), std::move(array),
                                                  runtime::HostTransfer::Copy, valueOf(pluginDevice(index))));
  TORCH_LAZY_COUNTER("HostToDevice", 1);
  TORCHERE_LAZY_BYTES("OutboundData", dense.nbytes());
  return adopt(std::make_shared<const runtime::Buffer>(std::move(buffer)));
}

Value Device::adopt(session::DeviceTensor array) {
  Reference<Node> node(new Node(*this, nullptr));
  node->type = TensorType::intern(torchDType(array->type().dtype), array->type().shape);
  node->arrays.push_back(std::move(array));
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

/// Marks the pending nodes that values need with a visit of their own, which it returns.
uint64_t Device::markNeeded(c10::ArrayRef<Value> chosen) {
  uint64_t visit = ++visits;
  std::vector<Node *> reached;
  auto reach = [&](const Value &value) {
    Node &node = *value.node;
    if (node.isPending && std::exchange(node.visit, visit) != visit)
      reached.push_back(&node);
  };
  for (const Value &value : chosen)
    reach(value);
  while (!reached.empty()) {
    Node *node = reached.back();
    reached.pop_back();
    for (const Value &operand : node->operands)
      reach(operand);
  }
  return visit;
}

/// A result of a computed node is a leaf of its own: its number is that of the node's first result.
static void addLeaves(Graph &graph, Node &source, uint64_t visit) {
  if (source.isPending || source.visit == visit)
    return;
  TORCH_CHECK(!source.failure, *source.failure);
  source.visit = visit;
  source.position = static_cast<uint32_t>(graph.leaves.size());
  for (size_t result = 0; result < source.arrays.size(); ++result) {
    graph.leaves.push_back(source.arrays[result]);
    graph.leafTypes.push_back(source.resultType(static_cast<uint32_t>(result)));
  }
}

static uint64_t wordOf(const Value &value) {
  const Node &source = *value.node;
  return source.isPending ? operandWord(false, source.position, value.result)
                          : operandWord(true, source.position + value.result, 0);
}

Graph Device::collect(std::vector<Reference<Node>> &nodes, c10::ArrayRef<Value> chosen) {
  Graph graph;
  uint64_t needed = chosen.empty() ? 0 : markNeeded(chosen);
  uint64_t visit = ++visits;
  for (Node *node = first; node; node = node->next)
    if ((chosen.empty() || node->visit == needed) && node->tryRetain())
      nodes.push_back(Reference<Node>::adopt(node));
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Node &node = *nodes[i];
    node.visit = visit;
    node.position = i;
    bool isWanted = chosen.empty() && node.tensors.load(std::memory_order_relaxed) != 0;
    graph.calls.push_back(node.call);
    graph.lines.push_back(node.line);
    graph.isWanted.push_back(isWanted);
    graph.firstOperand.push_back(static_cast<uint32_t>(graph.operands.size()));
    graph.words.push_back(reinterpret_cast<uintptr_t>(node.call));
    graph.words.push_back(isWanted);
    for (const Value &operand : node.operands) {
      addLeaves(graph, *operand.node, visit);
      uint64_t word = wordOf(operand);
      graph.operands.push_back(word);
      graph.words.push_back(word);
    }
    if (isWanted)
      for (uint32_t result = 0; result < node.call->results.size(); ++result)
        if (node.call->results[result]) {
          graph.results.emplace_back(i, result);
          graph.outputs.push_back(operandWord(false, i, result));
        }
  }
  for (const Value &value : chosen) {
    addLeaves(graph, *value.node, visit);
    graph.outputs.push_back(wordOf(value));
  }
  return graph;
}

/// Computes what is pending. Returns the error, which every reader of these nodes gets from then on.
std::string Device::computePending() {
  TORCHERE_LAZY_RANGE("lazy::sync", "SyncTime");
  Status mayExecute = checkRegionMayExecute();
  TORCH_CHECK(mayExecute.has_value(), mayExecute.error().text());
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
      TORCH_LAZY_VALUE_METRIC("TensorsGraphSize", static_cast<double>(graph.calls.size()));
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

void Device::readPending(c10::ArrayRef<Value> chosen, c10::function_ref<void(const Graph &)> read) {
  std::vector<Reference<Node>> nodes; // destroyed after the lock is given back
  std::lock_guard lock(mutex);
  read(collect(nodes, chosen));
}

session::DeviceTensor Device::arrayOf(const Value &value) {
  std::lock_guard lock(mutex);
  TORCH_CHECK(!value.node->failure, *value.node->failure);
  return value.node->isPending ? nullptr : value.node->arrays[value.result];
}

session::DeviceTensor Device::computed(const Value &value) {
  if (auto array = arrayOf(value))
    return array;
  computePending(); // its error, if it concerns this value, is that of the value
  return arrayOf(value);
}

at::Tensor Device::download(const Value &value) {
  session::DeviceTensor array = computed(value);
  TORCHERE_LAZY_RANGE("lazy::transfer_from_device", "TransferFromDeviceTime");
  TORCH_LAZY_COUNTER("DeviceToHost", 1);
  runtime::HostArray host = valueOf(runtime::Buffer::toHost(array));
  const TensorType &type = *value.type();
  at::Tensor tensor = at::empty(type.sizes, at::TensorOptions().dtype(type.dtype));
  TORCHERE_LAZY_BYTES("InboundData", tensor.nbytes());
  if (tensor.nbytes() > 0)
    std::memcpy(tensor.mutable_data_ptr(), host.data, tensor.nbytes());
  return tensor;
}

} // namespace torchere::lazy
