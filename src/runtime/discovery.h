// Discovery: which plugin a name refers to, and where plugins are looked for.
#pragma once

#include "runtime/client.h"
#include "runtime/compile_cache.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::runtime {

/// A plugin that could be loaded.
struct PluginLocation {
  std::string name; ///< "cpu", "cuda"
  std::string path; ///< of the shared library
  std::string
      origin; ///< where the name was found, for users: "PJRT_NAMES_AND_LIBRARY_PATHS", "installed", ...
};

/// The folder that `torchere plugins install` fills, as NAME/VERSION/LIBRARY.so:
/// `$XDG_DATA_HOME/torchere/plugins`, or below `~/.local/share`. Empty when neither variable nor HOME is set.
TORCHERE_EXPORT std::filesystem::path pluginDirectory();

/// Parses the variable that tells JAX about plugins: "name:/path.so,name2:/path2.so". A malformed entry is an
/// InvalidArgument that quotes it.
TORCHERE_EXPORT Result<std::vector<PluginLocation>> parsePluginPaths(std::string_view text,
                                                                     const char *variable);

/// Parses the variable TORCHERE_PLUGIN_OPTIONS: "device_count=4,asynchronous=true". A value is a bool, an
/// integer, a float, or else a string. A malformed entry is an InvalidArgument that quotes it.
TORCHERE_EXPORT Result<ClientOptions> parsePluginOptions(std::string_view text);

/// Every known plugin, the preferred one for a name first: those of PJRT_NAMES_AND_LIBRARY_PATHS, those in
/// pluginDirectory() (the newest version of each), those that ship with libtorchere.so (the engine and the
/// interpreter), then `others` (those that Python finds among installed packages).
TORCHERE_EXPORT Result<std::vector<PluginLocation>> knownPlugins(std::span<const PluginLocation> others = {});

/// Finds the plugins of installed packages. That takes milliseconds, so it is called only where no other
/// plugin has the name.
using PackageSearch = std::function<std::vector<PluginLocation>()>;

/// The plugin for a name or path. An empty `nameOrPath` means the variable TORCHERE_PLUGIN, else PJRT_DEVICE,
/// else "torchere_cpu", the engine. Names are case-insensitive; anything that contains a '/' or ends in ".so"
/// is a path. "cpu" is XLA's plugin, or the engine where XLA's is nowhere to be found. NotFound lists the
/// known names.
TORCHERE_EXPORT Result<PluginLocation> findPlugin(std::string_view nameOrPath,
                                                  const PackageSearch &packages = {});

/// The client of findPlugin()'s plugin. One client serves all callers with equal options until the process
/// ends. If the environment chooses the plugin (an empty `nameOrPath`), TORCHERE_PLUGIN_OPTIONS has options
/// for it; those that are given here come first. A plugin of the processor is told to make one device, or as
/// many as CPU_NUM_DEVICES says (`device_count`, XLA's `cpu_device_count`), and XLA's to execute in the
/// caller's thread (`asynchronous`: false), unless the options say otherwise. Executables are cached on disk
/// as chosen; another choice makes another client.
TORCHERE_EXPORT Result<std::shared_ptr<Client>> sharedClient(std::string_view nameOrPath = {},
                                                             ClientOptions options = {},
                                                             const PackageSearch &packages = {},
                                                             const CacheChoice &cache = {});

} // namespace torchere::runtime
