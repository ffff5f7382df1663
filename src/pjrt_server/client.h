// Client: the plugin's devices, their memories, and the thread that does their work.
#pragma once

#include "pjrt/plugin_table.h"
#include "pjrt_server/program.h"
#include "pjrt_server/worker.h"

#include <string>
#include <vector>

namespace torchere::pjrt_server {

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
  /// InvalidArgument for an unknown option, or a value that it cannot have.
  static Status create(const Engine &engine, pjrt::ClientCreateArgs &args);
  Client(const Engine &engine, const ClientOptions &options, int64_t deviceCount);
  Client(const Client &) = delete;

  Result<Device *> findDevice(int64_t id);
  Result<std::vector<Device *>> findDevices(const std::vector<int64_t> &ids);

  /// Does the task now, or, in a client that works asynchronously, later in its thread.
  void perform(std::function<void()> task);
  /// A short task: at once if no other waits, because a switch of threads would cost as much.
  void performShort(std::function<void()> task);

  const Engine &engine;
  const ClientOptions options;
  std::vector<std::unique_ptr<Device>> devices; ///< indexed by id
  std::vector<pjrt::Device *> deviceHandles;
  std::vector<pjrt::Memory *> memoryHandles;
  std::vector<pjrt::DeviceDescription *> descriptionHandles;
  Worker worker; // last, so that its tasks end before the other members are destroyed
};

inline constexpr int64_t maxDeviceCount = 1024;
inline constexpr int64_t maxThreadCount = 1024;
inline constexpr std::string_view memoryKind = "device";

/// What the plugin says of itself.
Status attributesOf(const Engine &engine, pjrt::PluginAttributesArgs &args);

/// The functions for the plugin, clients, topologies, devices and memories, without the client's creation and
/// the plugin's attributes.
void fillClient(pjrt::Api &api);

} // namespace torchere::pjrt_server
