// Functions that are called by name, as torch.ops.torchere_lazy: the plugin, its devices, and arrays that
// programs share with tensors.
#include "lazy/current_device.h"
#include "lazy/plugin_client.h"
#include "lazy/result.h"
#include "lazy/tensor.h"
#include "runtime/buffer.h"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <algorithm>
#include <cctype>

namespace torchere::lazy {

static void addPluginsByName(const std::vector<std::string> &names, const std::vector<std::string> &paths,
                             const std::vector<std::string> &origins) {
  TORCH_CHECK(names.size() == paths.size() && names.size() == origins.size(),
              "[plugins] lists of different lengths");
  std::vector<runtime::PluginLocation> others;
  for (size_t i = 0; i < names.size(); ++i)
    others.push_back({names[i], paths[i], origins[i]});
  addPlugins(std::move(others));
}

/// "CPU:0": the plugin's platform, or what PyTorch/XLA calls the processor, and the device's id.
static std::vector<std::string> deviceNames() {
  auto client = valueOf(pluginClient());
  std::string platform = client->traits().isProcessor ? "cpu" : client->platformName();
  std::transform(platform.begin(), platform.end(), platform.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  std::vector<std::string> names;
  for (const runtime::Device &device : client->devices())
    names.push_back(platform + ":" + std::to_string(device.id));
  return names;
}

static bool isForked() {
  auto client = madeClient();
  return client && client->isForked();
}

static void setDevice(int64_t index) {
  TORCH_CHECK(index >= 0 && index <= INT8_MAX, "[xla:", index, "] no such device: expected an index from 0");
  setCurrentDevice(Device::get(static_cast<c10::DeviceIndex>(index)).torchDevice().index());
}

/// An array that programs share with a tensor. While they do, its node has an owner more, and is not donated.
struct SharedArray {
  Reference<Node> node;
  session::DeviceTensor array;
};

/// A reference to the tensor's array, for DeviceArray._take(). Computes what is pending; nothing is copied.
static int64_t give(const at::Tensor &tensor) {
  at::Tensor inner = unwrapped(tensor);
  const TensorImpl *ours = implementationOf(inner);
  TORCH_CHECK(ours, "[array] not a tensor of the device: got one on ", tensor.device(), ", expected xla");
  const Value &value = ours->value();
  auto shared =
      std::make_shared<SharedArray>(SharedArray{value.node, value.node->device.computedArray(value)});
  const runtime::Buffer *array = shared->array.get();
  auto given = std::make_unique<session::DeviceTensor>(std::move(shared), array);
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(given.release()));
}

/// A tensor that shows the array of a reference that DeviceArray._give() made.
static at::Tensor take(int64_t given) {
  std::unique_ptr<session::DeviceTensor> array(
      reinterpret_cast<session::DeviceTensor *>(static_cast<intptr_t>(given)));
  auto client = valueOf(pluginClient());
  TORCH_CHECK(&(*array)->client() == client.get(), "[array] another plugin's: got one of ",
              (*array)->client().platformName(), " (", (*array)->client().plugin().path(),
              "), expected one of ", client->platformName(), " (", client->plugin().path(), ")");
  ptrdiff_t index = &(*array)->device() - client->devices().data();
  return wrapped(tensorOf(Device::get(static_cast<c10::DeviceIndex>(index)).adopt(std::move(*array))));
}

TORCH_LIBRARY_FRAGMENT(torchere_lazy, library) {
  library.def("add_plugins(str[] names, str[] paths, str[] origins) -> ()", &addPluginsByName);
  library.def("device_names() -> str[]", &deviceNames);
  library.def("is_used() -> bool", [] { return madeClient() != nullptr; });
  library.def("is_forked() -> bool", &isForked);
  library.def("current_device() -> int", [] { return static_cast<int64_t>(currentDevice()); });
  library.def("set_device(int index) -> ()", &setDevice);
  library.def("wait() -> ()", &Device::waitForAll);
  library.def("give(Tensor tensor) -> int", &give);
  library.def("take(int given) -> Tensor", &take);
}

} // namespace torchere::lazy
