// Client: a plugin's devices, ready to hold buffers and to compile programs.
#pragma once

#include "base/single_flight.h"
#include "runtime/cache_entry.h"
#include "runtime/compile_options.h"
#include "runtime/execution.h"
#include "runtime/plugin.h"
#include "traits/plugin_traits.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::runtime {

class CompileCache;
class Executable;

/// A device that this process can use. Lives as long as its client.
struct Device {
  pjrt::Device *handle = nullptr;
  int id = 0;
  std::string kind;        ///< the vendor's name, such as "cpu" or "NVIDIA H200"
  std::string description; ///< the plugin's description for users
};

/// The memory of a device, in bytes.
struct DeviceMemory {
  int64_t inUse = 0;
  std::optional<int64_t> limit; ///< of what may be in use; not every plugin tells it
};

/// A program that is generated only when needed.
struct ProgramSource {
  /// Equal only for equal programs: it covers everything that make() depends on, including our own code.
  std::string identity;
  std::function<Result<std::string>()> make; ///< returns StableHLO, as text or as bytecode
  /// Whether each call binds sizes: the plugin may have more to store after calls.
  bool isOpen = false;
};

/// Options of PJRT_Client_Create, defined by the plugin. The engine knows `device_count`.
using ClientOptions = std::map<std::string, NamedValue>;

class TORCHERE_EXPORT Client : public std::enable_shared_from_this<Client> {
public:
  /// `cache` keeps executables for other processes; null for none.
  static Result<std::shared_ptr<Client>> create(std::shared_ptr<const Plugin> plugin,
                                                const ClientOptions &options = {},
                                                std::shared_ptr<CompileCache> cache = nullptr);
  /// Waits for running executions, then destroys the plugin's client. Buffers and executables own their
  /// client, so they are gone by then.
  ~Client();
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  const Plugin &plugin() const { return *loadedPlugin; }
  const std::string &platformName() const { return platform; }
  const std::string &platformVersion() const { return version; }
  /// What is known about the plugin.
  const PluginTraits &traits() const { return pluginTraits; }
  /// The devices of this process; at least one.
  std::span<const Device> devices() const { return deviceList; }
  /// NotFound if there is no device with that id.
  Result<const Device *> device(int id) const;

  /// Unimplemented if the plugin does not tell it. The engine's devices share the process's memory: it counts
  /// that of buffers, of packed weights and of runs, and what is kept to be used again.
  Result<DeviceMemory> memoryOf(const Device &device) const;

  /// Compiles StableHLO, as text or as bytecode. A program that was compiled before with equal options is not
  /// compiled again if its executable is still in use or in the cache on disk. If another thread is compiling
  /// the same program, this one waits for the result, or error. Different programs compile concurrently:
  /// clients of PJRT plugins are thread-safe.
  Result<std::shared_ptr<const Executable>> compile(std::string_view program,
                                                    const CompileOptions &options = {});
  /// The same for a program that is generated only if no executable matches its identity.
  Result<std::shared_ptr<const Executable>> compile(const ProgramSource &source,
                                                    const CompileOptions &options = {});
  /// How often the plugin compiled, and how often compile() found the executable instead.
  struct CompileCounts {
    int64_t compiled = 0;
    int64_t reused = 0; ///< already in use, or compiled or loaded by another thread in the meantime
    int64_t loaded = 0; ///< from the cache on disk
  };
  CompileCounts compileCounts() const;
  /// Stores an executable of open sizes again if the plugin has more to store of it than before.
  void storeGrown(const Executable &executable);

  pjrt::Client *handle() const { return client; }
  /// The executions that were started and have not ended.
  const std::shared_ptr<RunningCount> &running() const { return runningCount; }
  /// FailedPrecondition in a process that was forked after the client was made.
  Status checkProcess() const { return mark.check(platform); }
  bool isForked() const { return mark.isForked(); }

private:
  Client(std::shared_ptr<const Plugin> plugin, pjrt::Client *handle)
      : loadedPlugin(std::move(plugin)), client(handle) {}
  Status readDescription();
  void identify(const ClientOptions &options);
  /// `options` in their wire form.
  CacheKey keyOf(std::string_view identity, std::string_view options) const;
  std::shared_ptr<const Executable> findInUse(const CacheKey &key);
  std::shared_ptr<const Executable> load(const ProgramSource &source, const CacheKey &key,
                                         const Device &device);
  Result<std::shared_ptr<const Executable>> compileNew(const ProgramSource &source, const CacheKey &key,
                                                       const std::string &options, const Device &device);
  Result<Device> describe(pjrt::Device *device) const;

  std::shared_ptr<const Plugin> loadedPlugin;
  pjrt::Client *client;
  std::string platform, version;
  PluginTraits pluginTraits;
  std::vector<Device> deviceList;
  ProcessMark mark;

  std::shared_ptr<CompileCache> diskCache;
  Digest::Value environment = {}; ///< what executables depend on besides program and options

  SingleFlight<CacheKey, std::shared_ptr<const Executable>> compilations;
  std::map<CacheKey, std::weak_ptr<const Executable>> inUse; ///< under the lock of `compilations`
  std::shared_ptr<RunningCount> runningCount = std::make_shared<RunningCount>(0);
  std::atomic<int64_t> compiledCount = 0, reusedCount = 0, loadedCount = 0;
};

} // namespace torchere::runtime
