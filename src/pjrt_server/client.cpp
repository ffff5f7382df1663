// Implements the functions for the plugin, clients, topologies, devices and memories.
#include "pjrt_server/client.h"

#include "base/memory_share.h"
#include "pjrt/own_extensions.h"
#include "pjrt_server/handles.h"
#include "vhlo/version.h"

#include <array>
#include <limits>

namespace torchere::pjrt_server {

using pjrt::checkGiven;

Client::Client(const Engine &engine, const ClientOptions &options, int64_t deviceCount)
    : engine(engine), options(options) {
  for (int id = 0; id < deviceCount; ++id) {
    auto device = std::make_unique<Device>();
    device->client = this;
    device->id = id;
    device->text = fmt::format("{}Device(id={})", engine.deviceName, id);
    device->memory = {device.get(), id, fmt::format("{}Memory(id={})", engine.deviceName, id)};
    device->handle = handleOf<pjrt::Device>(device.get());
    device->memoryHandle = handleOf<pjrt::Memory>(&device->memory);
    deviceHandles.push_back(device->handle);
    memoryHandles.push_back(device->memoryHandle);
    descriptionHandles.push_back(handleOf<pjrt::DeviceDescription>(device.get()));
    devices.push_back(std::move(device));
  }
}

static Result<int64_t> integerOf(const pjrt::NamedValue &option, std::string_view name, int64_t most) {
  if (option.type != pjrt::NamedValueType::Int64)
    return invalidArgument("[{}] wrong type of option: expected an integer", name);
  if (option.int64 < 1 || option.int64 > most)
    return invalidArgument("[{}] out of range: got {}, expected 1 to {}", name, option.int64, most);
  return option.int64;
}

static Status setOption(const Engine &engine, const pjrt::NamedValue &option, ClientOptions &options,
                        int64_t &deviceCount) {
  std::string_view name(option.name, option.nameSize);
  if (name == "device_count") {
    TORCHERE_ASSIGN(deviceCount, integerOf(option, name, maxDeviceCount));
  } else if (engine.takesOptions && name == "intra_op_threads") {
    TORCHERE_ASSIGN(options.intraOpThreads, integerOf(option, name, maxThreadCount));
  } else if (engine.takesOptions && name == "asynchronous") {
    if (option.type != pjrt::NamedValueType::Bool)
      return invalidArgument("[asynchronous] wrong type of option: expected a bool");
    options.asynchronous = option.boolean;
  } else if (engine.takesOptions && name == "packed_cache") {
    if (option.type != pjrt::NamedValueType::String)
      return invalidArgument("[packed_cache] wrong type of option: expected a string");
    TORCHERE_TRY(pjrt::checkGiven(option.string, "packed_cache"));
    options.packedCache.assign(option.string, option.valueSize);
    if (options.packedCache.find('\0') != std::string::npos)
      return invalidArgument("[packed_cache] a path with a null byte in it");
    if (!options.packedCache.starts_with('/'))
      return invalidArgument("[packed_cache] is no absolute path: got \"{}\"", options.packedCache);
  } else if (engine.takesOptions && name == "packed_cache_size") {
    TORCHERE_ASSIGN(options.packedCacheSize, integerOf(option, name, std::numeric_limits<int64_t>::max()));
  } else {
    return invalidArgument(
        "no such option of the {}: got '{}', expected {}", engine.platform, name,
        engine.takesOptions
            ? "device_count, intra_op_threads, asynchronous, packed_cache or packed_cache_size"
            : "device_count");
  }
  return {};
}

Status Client::create(const Engine &engine, pjrt::ClientCreateArgs &args) {
  int64_t deviceCount = 1;
  ClientOptions options;
  options.asynchronous = engine.isAsynchronous;
  if (args.optionCount)
    TORCHERE_TRY(checkGiven(args.options, "options"));
  for (size_t index = 0; index < args.optionCount; ++index)
    TORCHERE_TRY(setOption(engine, args.options[index], options, deviceCount));
  args.client = handleOf<pjrt::Client>(
      new std::shared_ptr<Client>(std::make_shared<Client>(engine, options, deviceCount)));
  return {};
}

void Client::perform(std::function<void()> task) {
  if (options.asynchronous)
    worker.add(std::move(task));
  else
    task();
}

void Client::performShort(std::function<void()> task) {
  if (worker.isIdle())
    task();
  else
    perform(std::move(task));
}

Result<Device *> Client::findDevice(int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(devices.size()))
    return fail(ErrorCode::NotFound, "no such device: got {}, expected 0 to {}", id, devices.size() - 1);
  return devices[static_cast<size_t>(id)].get();
}

Result<std::vector<Device *>> Client::findDevices(const std::vector<int64_t> &ids) {
  std::vector<Device *> found;
  for (int64_t id : ids) {
    TORCHERE_ASSIGN(Device * device, findDevice(id));
    found.push_back(device);
  }
  return found;
}

namespace {

// Names declared in this folder take precedence over PJRT's.
using namespace pjrt;

void give(std::string_view text, const char *&data, size_t &size) {
  data = text.data();
  size = text.size();
}

std::string_view platformVersion() {
  static const std::string text = "StableHLO " + vhlo::currentVersion.text();
  return text;
}

NamedValue listAttribute(std::string_view name, const std::array<int64_t, 3> &values) {
  NamedValue attribute;
  give(name, attribute.name, attribute.nameSize);
  attribute.type = NamedValueType::Int64List;
  attribute.int64List = values.data();
  attribute.valueSize = values.size();
  return attribute;
}

NamedValue switchAttribute(std::string_view name) {
  NamedValue attribute;
  give(name, attribute.name, attribute.nameSize);
  attribute.type = NamedValueType::Bool;
  attribute.boolean = true;
  attribute.valueSize = 1;
  return attribute;
}

constexpr std::array<int64_t, 3> numbersOf(const vhlo::Version &version) {
  return {version.major, version.minor, version.patch};
}

Status initializePlugin(PluginInitializeArgs &) {
  return {};
}

Status destroyClient(ClientDestroyArgs &args) {
  if (args.client)
    delete &held(args.client);
  return {};
}
Status nameOfPlatform(ClientPlatformNameArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  give(held(args.client)->engine.platform, args.name, args.nameSize);
  return {};
}
Status versionOfPlatform(ClientPlatformVersionArgs &args) {
  give(platformVersion(), args.version, args.versionSize);
  return {};
}
Status processIndexOfClient(ClientProcessIndexArgs &args) {
  args.index = 0;
  return {};
}
/// All devices belong to this process.
template <class Args> Status devicesOfClient(Args &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  args.devices = held(args.client)->deviceHandles.data();
  args.count = held(args.client)->deviceHandles.size();
  return {};
}
Status lookUpDevice(ClientLookupDeviceArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_ASSIGN(Device * device, held(args.client)->findDevice(args.id));
  args.device = device->handle;
  return {};
}
Status lookUpAddressableDevice(ClientLookupAddressableDeviceArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_ASSIGN(Device * device, held(args.client)->findDevice(args.localHardwareId));
  args.device = device->handle;
  return {};
}
Status memoriesOfClient(ClientAddressableMemoriesArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  args.memories = held(args.client)->memoryHandles.data();
  args.count = held(args.client)->memoryHandles.size();
  return {};
}
Status defaultAssignment(ClientDefaultDeviceAssignmentArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  TORCHERE_TRY(checkGiven(args.assignment, "memory for the assignment"));
  int64_t count = static_cast<int64_t>(args.replicaCount) * args.partitionCount;
  auto deviceCount = static_cast<int64_t>(held(args.client)->devices.size());
  if (args.replicaCount < 1 || args.partitionCount < 1 || count > deviceCount)
    return invalidArgument("{} replicas of {} partitions for {} devices", args.replicaCount,
                           args.partitionCount, deviceCount);
  if (args.assignmentSize < static_cast<size_t>(count))
    return invalidArgument("memory for {} ids, expected for {}", args.assignmentSize, count);
  for (int id = 0; id < count; ++id)
    args.assignment[id] = id;
  return {};
}

Status topologyOfClient(ClientTopologyDescriptionArgs &args) {
  TORCHERE_TRY(checkGiven(args.client, "client"));
  args.topology = handleOf<TopologyDescription>(held(args.client).get());
  return {};
}
Status nameOfTopology(TopologyDescriptionPlatformNameArgs &args) {
  TORCHERE_TRY(checkGiven(args.topology, "topology"));
  give(held(args.topology).engine.platform, args.name, args.nameSize);
  return {};
}
Status versionOfTopology(TopologyDescriptionPlatformVersionArgs &args) {
  give(platformVersion(), args.version, args.versionSize);
  return {};
}
Status descriptionsOfTopology(TopologyDescriptionGetDeviceDescriptionsArgs &args) {
  TORCHERE_TRY(checkGiven(args.topology, "topology"));
  args.descriptions = held(args.topology).descriptionHandles.data();
  args.count = held(args.topology).descriptionHandles.size();
  return {};
}
Status attributesOfTopology(TopologyDescriptionAttributesArgs &args) {
  args.attributes = nullptr;
  args.count = 0;
  return {};
}

Status idOfDevice(DeviceDescriptionIdArgs &args) {
  TORCHERE_TRY(checkGiven(args.description, "device description"));
  args.id = held(args.description).id;
  return {};
}
Status processIndexOfDevice(DeviceDescriptionProcessIndexArgs &args) {
  args.index = 0;
  return {};
}
Status attributesOfDevice(DeviceDescriptionAttributesArgs &args) {
  args.attributes = nullptr;
  args.count = 0;
  return {};
}
Status kindOfDevice(DeviceDescriptionKindArgs &args) {
  TORCHERE_TRY(checkGiven(args.description, "device description"));
  give(held(args.description).client->engine.platform, args.kind, args.kindSize);
  return {};
}
template <class Args> Status textOfDevice(Args &args) {
  TORCHERE_TRY(checkGiven(args.description, "device description"));
  give(held(args.description).text, args.text, args.textSize);
  return {};
}

Status descriptionOfDevice(DeviceGetDescriptionArgs &args) {
  TORCHERE_TRY(checkGiven(args.device, "device"));
  args.description = handleOf<DeviceDescription>(&held(args.device));
  return {};
}
Status isAddressable(DeviceIsAddressableArgs &args) {
  args.isAddressable = true;
  return {};
}
Status hardwareIdOfDevice(DeviceLocalHardwareIdArgs &args) {
  TORCHERE_TRY(checkGiven(args.device, "device"));
  args.id = held(args.device).id;
  return {};
}
Status memoriesOfDevice(DeviceAddressableMemoriesArgs &args) {
  TORCHERE_TRY(checkGiven(args.device, "device"));
  args.memories = &held(args.device).memoryHandle;
  args.count = 1;
  return {};
}
Status memoryOfDevice(DeviceDefaultMemoryArgs &args) {
  TORCHERE_TRY(checkGiven(args.device, "device"));
  args.memory = held(args.device).memoryHandle;
  return {};
}
/// The figures of the whole process: the devices share its memory.
Status deviceMemoryStatistics(DeviceMemoryStatsArgs &args) {
  args.inUse = memoryTaken();
  args.limit = {memoryLimit(), true};
  return {};
}

Status idOfMemory(MemoryIdArgs &args) {
  TORCHERE_TRY(checkGiven(args.memory, "memory"));
  args.id = held(args.memory).id;
  return {};
}
Status kindOfMemory(MemoryKindArgs &args) {
  give(memoryKind, args.kind, args.kindSize);
  return {};
}
Status kindIdOfMemory(MemoryKindIdArgs &args) {
  args.kindId = 0;
  return {};
}
template <class Args> Status textOfMemory(Args &args) {
  TORCHERE_TRY(checkGiven(args.memory, "memory"));
  give(held(args.memory).text, args.text, args.textSize);
  return {};
}
Status devicesOfMemory(MemoryAddressableByDevicesArgs &args) {
  TORCHERE_TRY(checkGiven(args.memory, "memory"));
  args.devices = &held(args.memory).device->handle;
  args.count = 1;
  return {};
}

} // namespace

Status attributesOf(const Engine &engine, PluginAttributesArgs &args) {
  static constexpr auto current = numbersOf(vhlo::currentVersion), minimum = numbersOf(vhlo::minimumVersion);
  static const NamedValue attributes[] = {listAttribute("stablehlo_current_version", current),
                                          listAttribute("stablehlo_minimum_version", minimum),
                                          switchAttribute(weightsAttribute)};
  args.attributes = attributes;
  args.count = std::size(attributes) - (engine.knowsWeights ? 0 : 1);
  return {};
}

void fillClient(pjrt::Api &api) {
  TORCHERE_PJRT_FILL(api, pluginInitialize, initializePlugin);
  TORCHERE_PJRT_FILL(api, clientDestroy, destroyClient);
  TORCHERE_PJRT_FILL(api, clientPlatformName, nameOfPlatform);
  TORCHERE_PJRT_FILL(api, clientPlatformVersion, versionOfPlatform);
  TORCHERE_PJRT_FILL(api, clientProcessIndex, processIndexOfClient);
  TORCHERE_PJRT_FILL(api, clientDevices, devicesOfClient<pjrt::ClientDevicesArgs>);
  TORCHERE_PJRT_FILL(api, clientAddressableDevices, devicesOfClient<pjrt::ClientAddressableDevicesArgs>);
  TORCHERE_PJRT_FILL(api, clientLookupDevice, lookUpDevice);
  TORCHERE_PJRT_FILL(api, clientLookupAddressableDevice, lookUpAddressableDevice);
  TORCHERE_PJRT_FILL(api, clientAddressableMemories, memoriesOfClient);
  TORCHERE_PJRT_FILL(api, clientDefaultDeviceAssignment, defaultAssignment);
  TORCHERE_PJRT_FILL(api, clientTopologyDescription, topologyOfClient);
  TORCHERE_PJRT_FILL(api, topologyDescriptionPlatformName, nameOfTopology);
  TORCHERE_PJRT_FILL(api, topologyDescriptionPlatformVersion, versionOfTopology);
  TORCHERE_PJRT_FILL(api, topologyDescriptionGetDeviceDescriptions, descriptionsOfTopology);
  TORCHERE_PJRT_FILL(api, topologyDescriptionAttributes, attributesOfTopology);
  TORCHERE_PJRT_FILL(api, deviceDescriptionId, idOfDevice);
  TORCHERE_PJRT_FILL(api, deviceDescriptionProcessIndex, processIndexOfDevice);
  TORCHERE_PJRT_FILL(api, deviceDescriptionAttributes, attributesOfDevice);
  TORCHERE_PJRT_FILL(api, deviceDescriptionKind, kindOfDevice);
  TORCHERE_PJRT_FILL(api, deviceDescriptionDebugString, textOfDevice<pjrt::DeviceDescriptionDebugStringArgs>);
  TORCHERE_PJRT_FILL(api, deviceDescriptionToString, textOfDevice<pjrt::DeviceDescriptionToStringArgs>);
  TORCHERE_PJRT_FILL(api, deviceGetDescription, descriptionOfDevice);
  TORCHERE_PJRT_FILL(api, deviceIsAddressable, isAddressable);
  TORCHERE_PJRT_FILL(api, deviceLocalHardwareId, hardwareIdOfDevice);
  TORCHERE_PJRT_FILL(api, deviceAddressableMemories, memoriesOfDevice);
  TORCHERE_PJRT_FILL(api, deviceDefaultMemory, memoryOfDevice);
  TORCHERE_PJRT_FILL(api, deviceMemoryStats, deviceMemoryStatistics);
  TORCHERE_PJRT_FILL(api, memoryId, idOfMemory);
  TORCHERE_PJRT_FILL(api, memoryKind, kindOfMemory);
  TORCHERE_PJRT_FILL(api, memoryKindId, kindIdOfMemory);
  TORCHERE_PJRT_FILL(api, memoryDebugString, textOfMemory<pjrt::MemoryDebugStringArgs>);
  TORCHERE_PJRT_FILL(api, memoryToString, textOfMemory<pjrt::MemoryToStringArgs>);
  TORCHERE_PJRT_FILL(api, memoryAddressableByDevices, devicesOfMemory);
}

} // namespace torchere::pjrt_server
