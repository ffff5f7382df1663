// Client: the plugin's devices, their memories, and the thread that does their work.
#pragma once

#include "interpreter_plugin/worker.h"
#include "pjrt/plugin_table.h"

#include <string>
#include <vector>

namespace torchere::interpreter_plugin {

struct Device;
struct Client;

/// A device's memory, which is host memory.
struct Memory {
  Device *device = nullptr;
  int id = 0;
  std::string text;
};

/// A device is also its own description.
struct Device {
  Client *client = nullptr;
  int id = 0;
  std::string text;
  Memory memory;
  pjrt::Device *handle = nullptr;       ///< itself
  pjrt::Memory *memoryHandle = nullptr; ///< its memory
};

struct Client {
  /// InvalidArgument for an unknown option, or a count below 1 or above maxDeviceCount.
  static Result<std::shared_ptr<Client>> create(const pjrt::ClientCreateArgs &args);
  explicit Client(int64_t deviceCount);
  Client(const Client &) = delete;

  Result<Device *> findDevice(int64_t id);
  Result<std::vector<Device *>> findDevices(const std::vector<int64_t> &ids);

  std::vector<std::unique_ptr<Device>> devices; ///< indexed by id
  std::vector<pjrt::Device *> deviceHandles;
  std::vector<pjrt::Memory *> memoryHandles;
  std::vector<pjrt::DeviceDescription *> descriptionHandles;
  Worker worker; // last, so that its tasks end before the other members are destroyed
};

inline constexpr int64_t maxDeviceCount = 1024;
inline constexpr std::string_view platformName = "interpreter";
inline constexpr std::string_view memoryKind = "device";

/// The functions for the plugin, clients, topologies, devices and memories.
void fillClient(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
