// Client: the plugin's devices, their memories, and the thread that works for them.
#pragma once

#include "interpreter_plugin/worker.h"
#include "pjrt/plugin_table.h"

#include <string>
#include <vector>

namespace torchere::interpreter_plugin {

struct Device;
struct Client;

/// The memory of one device, which is the host's.
struct Memory {
  Device *device = nullptr;
  int id = 0;
  std::string text;
};

/// A device is its own description.
struct Device {
  Client *client = nullptr;
  int id = 0;
  std::string text;
  Memory memory;
  pjrt::Device *handle = nullptr;       ///< itself
  pjrt::Memory *memoryHandle = nullptr; ///< its memory
};

struct Client {
  /// InvalidArgument for an option that there is not, or a count below 1 or above maxDeviceCount.
  static Result<std::shared_ptr<Client>> create(const pjrt::ClientCreateArgs &args);
  explicit Client(int64_t deviceCount);
  Client(const Client &) = delete;

  Result<Device *> findDevice(int64_t id);
  Result<std::vector<Device *>> findDevices(const std::vector<int64_t> &ids);

  std::vector<std::unique_ptr<Device>> devices; ///< the place is the id
  std::vector<pjrt::Device *> deviceHandles;
  std::vector<pjrt::Memory *> memoryHandles;
  std::vector<pjrt::DeviceDescription *> descriptionHandles;
  Worker worker; // last: its tasks end before the rest goes
};

inline constexpr int64_t maxDeviceCount = 1024;
inline constexpr std::string_view platformName = "interpreter";
inline constexpr std::string_view memoryKind = "device";

/// The functions for the plugin, clients, topologies, devices and memories.
void fillClient(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
