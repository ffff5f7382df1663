// Client: creation, devices, and how executables are found or compiled.
#include "runtime/client.h"

#include "base/log.h"
#include "runtime/compile_cache.h"
#include "runtime/executable.h"
#include "runtime/machine_identity.h"

#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>

namespace torchere::runtime {

/// A plugin may abort on a bad count instead of answering, so it is checked here.
static constexpr int64_t maxCpuDeviceCount = 1024;

static Status checkOptions(const ClientOptions &options) {
  auto found = options.find("cpu_device_count");
  if (found == options.end())
    return {};
  const auto *count = std::get_if<int64_t>(&found->second);
  if (!count)
    return invalidArgument("[cpu_device_count] wrong type of option: expected an integer");
  if (*count < 1 || *count > maxCpuDeviceCount)
    return invalidArgument("[cpu_device_count] out of range: got {}, expected 1 to {}", *count,
                           maxCpuDeviceCount);
  return {};
}

static pjrt::NamedValue toAbi(const std::string &name, const NamedValue &value) {
  pjrt::NamedValue result;
  result.name = name.data();
  result.nameSize = name.size();
  result.valueSize = 1;
  if (const auto *text = std::get_if<std::string>(&value)) {
    result.type = pjrt::NamedValueType::String;
    result.string = text->data();
    result.valueSize = text->size();
  } else if (const auto *integer = std::get_if<int64_t>(&value)) {
    result.type = pjrt::NamedValueType::Int64;
    result.int64 = *integer;
  } else if (const auto *list = std::get_if<std::vector<int64_t>>(&value)) {
    result.type = pjrt::NamedValueType::Int64List;
    result.int64List = list->data();
    result.valueSize = list->size();
  } else if (const auto *real = std::get_if<float>(&value)) {
    result.type = pjrt::NamedValueType::Float;
    result.float32 = *real;
  } else {
    result.type = pjrt::NamedValueType::Bool;
    result.boolean = std::get<bool>(value);
  }
  return result;
}

Result<std::shared_ptr<Client>> Client::create(std::shared_ptr<const Plugin> plugin,
                                               const ClientOptions &options,
                                               std::shared_ptr<CompileCache> cache) {
  TORCHERE_TRY(plugin->process().check(plugin->path()));
  TORCHERE_TRY(checkOptions(options));
  std::vector<pjrt::NamedValue> values;
  for (const auto &[name, value] : options)
    values.push_back(toAbi(name, value));
  pjrt::ClientCreateArgs args;
  args.options = values.data();
  args.optionCount = values.size();
  TORCHERE_TRY(plugin->call(plugin->api().clientCreate, args, plugin->path(), "cannot create a client"));
  std::shared_ptr<Client> client(new Client(std::move(plugin), args.client));
  TORCHERE_TRY(client->readDescription());
  client->diskCache = std::move(cache);
  client->identify(options);
  return client;
}

static std::string optionText(const NamedValue &value) {
  struct Printer {
    std::string operator()(const std::string &text) const { return text; }
    std::string operator()(const std::vector<int64_t> &list) const {
      return fmt::format("{}", fmt::join(list, ","));
    }
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(float value) const { return fmt::format("{}", value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
  };
  return fmt::format("{}:{}", value.index(), std::visit(Printer{}, value));
}

/// The environment variables that configure compilation in XLA's plugins.
static constexpr const char *compilerVariables[] = {"XLA_FLAGS", "LIBTPU_INIT_ARGS"};

void Client::identify(const ClientOptions &options) {
  Digest digest;
  digest.addField("torchere compile cache, keys of layout 1");
  digest.addField(loadedPlugin->identity()).addField(platform).addField(version);
  digest.addField(static_cast<uint64_t>(loadedPlugin->minorVersion()));
  digest.addField(processorIdentity());
  digest.addField(uint64_t{deviceList.size()}).addField(uint64_t{options.size()});
  for (const Device &device : deviceList)
    digest.addField(static_cast<uint64_t>(device.id)).addField(device.kind);
  for (const auto &[name, value] : options)
    digest.addField(name).addField(optionText(value));
  for (const char *name : compilerVariables)
    if (const char *value = std::getenv(name))
      digest.addField(name).addField(value);
  environment = digest.finish();
}

Status Client::readDescription() {
  const Plugin &p = *loadedPlugin;
  pjrt::ClientPlatformNameArgs name;
  name.client = client;
  TORCHERE_TRY(p.call(p.api().clientPlatformName, name, p.path(), "cannot get the platform's name"));
  platform.assign(name.name, name.nameSize);
  pjrt::ClientPlatformVersionArgs versionArgs;
  versionArgs.client = client;
  TORCHERE_TRY(
      p.call(p.api().clientPlatformVersion, versionArgs, platform, "cannot get the platform's version"));
  version.assign(versionArgs.version, versionArgs.versionSize);
  pluginTraits = p.traitsFor(platform);
  pjrt::ClientAddressableDevicesArgs devices;
  devices.client = client;
  TORCHERE_TRY(p.call(p.api().clientAddressableDevices, devices, platform, "cannot list the devices"));
  for (size_t i = 0; i < devices.count; ++i) {
    TORCHERE_ASSIGN(Device device, describe(devices.devices[i]));
    deviceList.push_back(std::move(device));
  }
  if (deviceList.empty())
    return fail(ErrorCode::Unavailable, "[{}] no device: got 0, expected at least 1", platform);
  return {};
}

Result<Device> Client::describe(pjrt::Device *device) const {
  const Plugin &p = *loadedPlugin;
  pjrt::DeviceGetDescriptionArgs description;
  description.device = device;
  TORCHERE_TRY(p.call(p.api().deviceGetDescription, description, platform, "cannot describe a device"));
  pjrt::DeviceDescriptionIdArgs id;
  id.description = description.description;
  TORCHERE_TRY(p.call(p.api().deviceDescriptionId, id, platform, "cannot get a device's id"));
  pjrt::DeviceDescriptionKindArgs kind;
  kind.description = description.description;
  TORCHERE_TRY(p.call(p.api().deviceDescriptionKind, kind, platform, "cannot get a device's kind"));
  pjrt::DeviceDescriptionToStringArgs text;
  text.description = description.description;
  TORCHERE_TRY(p.call(p.api().deviceDescriptionToString, text, platform, "cannot get a device's text"));
  return Device{device, id.id, std::string(kind.kind, kind.kindSize), std::string(text.text, text.textSize)};
}

Result<DeviceMemory> Client::memoryOf(const Device &device) const {
  TORCHERE_TRY(checkProcess());
  const pjrt::Api &api = loadedPlugin->api();
  if (!pjrt::offers(api, &pjrt::Api::deviceMemoryStats))
    return fail(ErrorCode::Unimplemented,
                "[{}] the plugin does not tell how much of a device's memory is in use: it has no {}",
                platform, "PJRT_Device_MemoryStats");
  pjrt::DeviceMemoryStatsArgs args;
  args.device = device.handle;
  TORCHERE_TRY(loadedPlugin->call(api.deviceMemoryStats, args, platform,
                                  "cannot tell how much of a device's memory is in use"));
  return DeviceMemory{args.inUse, args.limit.isSet ? std::optional(args.limit.value) : std::nullopt};
}

Client::~Client() {
  if (mark.isForked())
    return;
  for (int64_t count = runningCount->load(); count; count = runningCount->load())
    runningCount->wait(count);
  pjrt::ClientDestroyArgs args;
  args.client = client;
  if (pjrt::Error *error = loadedPlugin->api().clientDestroy(&args))
    loadedPlugin->discard(error);
}

Result<const Device *> Client::device(int id) const {
  std::vector<int> ids;
  for (const Device &device : deviceList) {
    if (device.id == id)
      return &device;
    ids.push_back(device.id);
  }
  return fail(ErrorCode::NotFound, "[{}] no such device: got {}, expected one of {}", platform, id,
              fmt::join(ids, ", "));
}

CacheKey Client::keyOf(std::string_view identity, std::string_view options) const {
  Digest digest;
  digest.add(std::as_bytes(std::span(environment)));
  return digest.addField(options).addField(identity).finish();
}

Result<std::shared_ptr<const Executable>> Client::compile(std::string_view program,
                                                          const CompileOptions &options) {
  TORCHERE_TRY(checkProcess());
  std::string digest = hexText(Digest().addField(program).finish());
  return compile(ProgramSource{"program " + digest, [&] { return std::string(program); }}, options);
}

Result<std::shared_ptr<const Executable>> Client::compile(const ProgramSource &source,
                                                          const CompileOptions &options) {
  TORCHERE_TRY(checkProcess());
  const Device *target = &deviceList.front();
  if (options.device) {
    TORCHERE_ASSIGN(target, device(*options.device));
  }
  CompileOptions effective = options;
  if (pluginTraits.losesNaNInMinMax) // which violates StableHLO's specification
    effective.switches.emplace("xla_cpu_enable_fast_min_max", false);
  std::string serialized = effective.serialize();
  CacheKey key = keyOf(source.identity, serialized);
  bool isMade = false;
  auto make = [&]() -> Result<std::shared_ptr<const Executable>> {
    isMade = true;
    if (auto loaded = load(source, key, *target))
      return loaded;
    return compileNew(source, key, serialized, *target);
  };
  auto keep = [&](const std::shared_ptr<const Executable> &made) { inUse.insert_or_assign(key, made); };
  auto executable = compilations.get(key, [&] { return findInUse(key); }, make, keep);
  if (executable && !isMade)
    ++reusedCount;
  return executable;
}

/// Null if it is not in use. Called under the lock of `compilations`.
std::shared_ptr<const Executable> Client::findInUse(const CacheKey &key) {
  std::erase_if(inUse, [](const auto &entry) { return entry.second.expired(); });
  auto found = inUse.find(key);
  return found == inUse.end() ? nullptr : found->second.lock();
}

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// From the cache on disk; null if it has to be compiled.
std::shared_ptr<const Executable> Client::load(const ProgramSource &source, const CacheKey &key,
                                               const Device &device) {
  if (!diskCache)
    return nullptr;
  auto start = std::chrono::steady_clock::now();
  std::optional<CompileCache::Entry> entry = diskCache->load(key);
  if (!entry)
    return nullptr;
  auto executable = Executable::deserialize(shared_from_this(), entry->executable(), device);
  if (!executable) {
    TORCHERE_LOG_LINE(Warning, "cache", "removed an entry that the plugin refuses: {}",
                      executable.error().message);
    diskCache->remove(key);
    return nullptr;
  }
  TORCHERE_LOG_LINE(Info, "cache", "loaded {} ({} bytes) in {:.1f} ms", hexText(key), entry->file.size(),
                    millisecondsSince(start));
  ++loadedCount;
  if (source.isOpen)
    (*executable)->markOpen(key, entry->executable().size());
  return *std::move(executable);
}

Result<std::shared_ptr<const Executable>> Client::compileNew(const ProgramSource &source, const CacheKey &key,
                                                             const std::string &options,
                                                             const Device &device) {
  auto start = std::chrono::steady_clock::now();
  TORCHERE_ASSIGN(std::string program, source.make());
  TORCHERE_ASSIGN(auto executable, Executable::compile(shared_from_this(), program, options, device));
  TORCHERE_LOG_LINE(Info, "compile", "compiled {} in {:.1f} ms", hexText(key), millisecondsSince(start));
  ++compiledCount;
  if (!diskCache)
    return executable;
  if (Result<std::string> bytes = executable->serialize()) {
    (void)diskCache->store(key, *bytes); // errors are logged
    if (source.isOpen)
      executable->markOpen(key, bytes->size());
  } else
    TORCHERE_LOG_LINE(Info, "cache", "not stored: {}", bytes.error().message);
  return executable;
}

void Client::storeGrown(const Executable &executable) {
  Executable::OpenEntry &entry = executable.openEntry;
  auto start = std::chrono::steady_clock::now();
  Result<std::string> bytes = executable.serialize();
  if (!bytes || entry.bytes.exchange(bytes->size()) == bytes->size())
    return;
  (void)diskCache->store(*entry.key, *bytes); // errors are logged
  TORCHERE_LOG_LINE(Info, "cache", "stored {} again ({} bytes) in {:.1f} ms", hexText(*entry.key),
                    bytes->size(), millisecondsSince(start));
}

Client::CompileCounts Client::compileCounts() const {
  return {compiledCount, reusedCount, loadedCount};
}

} // namespace torchere::runtime
