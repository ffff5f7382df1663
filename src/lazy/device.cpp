// The pending nodes of a device, and their computation.
#include "lazy/device.h"

#include "lazy/current_device.h"
#include "lazy/plugin_client.h"
#include "lazy/program_writer.h"
#include "lazy/range.h"
#include "lazy/region.h"
#include "lazy/result.h"
#include "lazy/settings.h"
#include "runtime/buffer.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <cstring>
#include <utility>

namespace torchere::lazy {

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

/// Of a node that nobody owns: its state does not change any more.
void Device::unlink(Node &node) {
  liveCount.fetch_sub(1, std::memory_order_relaxed);
  if (node.state != Node::State::Pending)
    return;
  std::lock_guard lock(mutex);
  removePending(node);
}

/// Needs the lock.
void Device::removePending(Node &node) {
  (node.previous ? node.previous->next : first) = node.next;
  (node.next ? node.next->previous : last) = node.previous;
  --pendingCount;
}

Reference<Node> Device::record(Reference<const Call> call, c10::SmallVector<Value, 3> operands) {
  auto *node = new Node(*this, std::move(call));
  node->operands = std::move(operands);
  node->thread = currentThread();
  Reference<Node> made(node);
  liveCount.fetch_add(1, std::memory_order_relaxed);
  bool isFull;
  {
    std::lock_guard lock(mutex);
    node->state = Node::State::Pending;
    node->previous = last;
    (last ? last->next : first) = node;
    last = node;
    isFull = ++pendingCount >= setting(Setting::PendingOps);
  }
  if (isFull)
    cut();
  return made;
}

/// A loop without a sync would trace for ever. What failed is the error of those who read it.
void Device::cut() {
  if (!checkRegionMayExecute()) // the region's end is a sync
    return;
  const SourceLine *line = SourceLine::find();
  TORCH_WARN("[", torchDevice(), "] ", setting(Setting::PendingOps),
             " ops are pending without a sync, and are computed now",
             line ? fmt::format(", at {}:{}", line->file, line->number) : "",
             ". Call torchere.lazy.sync() once in each step, or change the limit: "
             "torchere.lazy.set_limits(pending_ops=...)");
  TORCH_LAZY_COUNTER("CutTrace", 1);
  compute(nullptr, true);
}

Value Device::upload(const at::Tensor &tensor) {
  TORCHERE_LAZY_RANGE("lazy::transfer_to_device", "TransferToDeviceTime");
  at::Tensor dense = tensor.contiguous();
  DType dtype = valueOf(programDType(dense.scalar_type()));
  runtime::HostArray array{dense.const_data_ptr(), runtime::makeArrayType(dtype, dense.sizes().vec()),
                           nullptr};
  auto plugin = valueOf(pluginClient());
  auto buffer = valueOf(runtime::Buffer::fromHost(std::move(plugin), std::move(array),
                                                  runtime::HostTransfer::Copy, valueOf(pluginDevice(index))));
  TORCH_LAZY_COUNTER("HostToDevice", 1);
  TORCHERE_LAZY_BYTES("OutboundData", dense.nbytes());
  Value value = adopt(std::make_shared<const runtime::Buffer>(std::move(buffer)));
  value.node->range = indexRange(dense);
  return value;
}

Value Device::adopt(session::DeviceTensor array) {
  Reference<Node> node(new Node(*this, {}));
  node->type = TensorType::intern(torchDType(array->type().dtype), array->type().shape);
  node->arrays.push_back(std::move(array));
  liveCount.fetch_add(1, std::memory_order_relaxed);
  return {std::move(node), 0};
}

Value Device::number(const c10::Scalar &number, at::ScalarType dtype) {
  return numbers.find(number, dtype, [&] {
    at::Tensor tensor = at::empty({}, at::TensorOptions().dtype(dtype));
    tensor.fill_(number);
    return upload(tensor);
  });
}

/// Needs the lock. Nodes that another thread is about to free are passed over.
NodeList Device::pendingNodes() {
  NodeList nodes;
  nodes.reserve(static_cast<size_t>(pendingCount));
  for (Node *node = first; node; node = node->next)
    if (node->tryRetain())
      nodes.push_back(Reference<Node>::adopt(node));
  return nodes;
}

/// Takes nodes out of the list, for a computation; null if there are none.
std::unique_ptr<Computation> Device::take(const Node *wanted, bool isEverything) {
  NodeList taken, left; // given up after the lock
  std::lock_guard lock(mutex);
  if (wanted && wanted->state != Node::State::Pending)
    return nullptr;
  taken = pendingNodes();
  if (!isEverything)
    left = takeOut(taken, selectNodes(taken, currentThread(), wanted, ++visits));
  if (taken.empty())
    return nullptr;
  Graph graph = graphOf(taken, ++visits);
  TORCH_LAZY_VALUE_METRIC("TensorsGraphSize", static_cast<double>(graph.calls.size()));
  for (const Reference<Node> &node : taken) {
    removePending(*node);
    node->state = Node::State::Running;
  }
  return std::make_unique<Computation>(ComputationContext{traces, mutex, computed}, std::move(taken),
                                       std::move(graph));
}

/// Computes what belongs to a node, or to this thread, or everything. Returns the first error of its
/// preparation; those who read these nodes get it from then on.
std::string Device::compute(const Node *wanted, bool isEverything) {
  TORCHERE_LAZY_RANGE("lazy::sync", "SyncTime");
  Status mayExecute = checkRegionMayExecute();
  TORCH_CHECK(mayExecute.has_value(), mayExecute.error().text());
  valueOf(pluginClient()); // in a process that was forked no thread runs what is queued
  std::lock_guard order(syncMutex);
  std::unique_ptr<Computation> computation = take(wanted, isEverything);
  if (!computation)
    return {};
  std::string error = computation->prepare();
  if (wanted)
    queue.runOrPush(std::move(computation));
  else
    queue.push(std::move(computation));
  return error;
}

void Device::sync() {
  std::string error = compute(nullptr, false);
  TORCH_CHECK(error.empty(), error);
}

void Device::waitForAll() {
  auto client = madeClient();
  if (!client || client->isForked())
    return;
  std::vector<Device *> devices;
  {
    std::lock_guard lock(deviceTable().mutex);
    for (const auto &[index, device] : deviceTable().devices)
      devices.push_back(device.get());
  }
  for (Device *device : devices)
    device->queue.wait();
  for (int64_t count = client->running()->load(); count; count = client->running()->load())
    client->running()->wait(count);
}

void Device::readPending(c10::ArrayRef<Value> chosen, c10::function_ref<void(const Graph &)> read) {
  NodeList nodes, others; // given up after the locks
  std::lock_guard order(syncMutex);
  queue.wait(); // so that all leaves have arrays
  std::lock_guard lock(mutex);
  nodes = pendingNodes();
  others = takeOut(nodes, chosen.empty() ? selectNodes(nodes, currentThread(), nullptr, ++visits)
                                         : neededNodes(nodes, chosen, ++visits));
  Graph graph = graphOf(nodes, ++visits, chosen);
  for (const Leaf &leaf : graph.leaves)
    TORCH_CHECK(!leaf.node->failure, *leaf.node->failure);
  read(graph);
}

bool Device::isComputed(const Value &value) {
  std::lock_guard lock(value.node->device.mutex);
  return value.node->state == Node::State::Computed && !value.node->failure;
}

bool Device::hasFailed(const Value &value) {
  std::lock_guard lock(value.node->device.mutex);
  return value.node->failure != nullptr;
}

session::DeviceTensor Device::arrayOf(const Value &value) {
  std::unique_lock lock(mutex);
  if (value.node->state == Node::State::Pending)
    return nullptr;
  valueOf(pluginClient()); // a process that was forked would wait for ever
  computed.wait(lock, [&] { return value.node->state == Node::State::Computed; });
  TORCH_CHECK(!value.node->failure, *value.node->failure);
  return value.node->arrays[value.result];
}

session::DeviceTensor Device::computedArray(const Value &value) {
  if (auto array = arrayOf(value))
    return array;
  compute(value.node.get(), false); // its error, if it concerns this value, is that of the value
  return arrayOf(value);
}

at::Tensor Device::download(const Value &value) {
  session::DeviceTensor array = computedArray(value);
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

std::map<std::string, int64_t> Device::statistics() {
  std::map<std::string, int64_t> known = {
      {"programs", traces.size()}, {"numbers", numbers.size()}, {"running", queue.size()}};
  auto [calls, types] = callCounts();
  known["calls"] = calls;
  known["types"] = types;
  auto compiles = valueOf(pluginClient())->compileCounts();
  known["plugin_compiles"] = compiles.compiled;
  known["disk_cache_loads"] = compiles.loaded;
  std::lock_guard lock(mutex);
  known["nodes"] = liveCount;
  known["pending_ops"] = pendingCount;
  return known;
}

} // namespace torchere::lazy
