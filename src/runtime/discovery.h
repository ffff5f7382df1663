// Discovery: which plugin a name stands for, and where plugins are looked for.
#pragma once

#include "runtime/client.h"

#include <filesystem>
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

/// Reads the variable by which JAX is told of plugins: "name:/path.so,name2:/path2.so". Malformed entries are
/// an InvalidArgument that quotes them.
TORCHERE_EXPORT Result<std::vector<PluginLocation>> parsePluginPaths(std::string_view text);

/// Every plugin that is known, the preferred one of a name first: those of PJRT_NAMES_AND_LIBRARY_PATHS,
/// those in pluginDirectory() (the newest version of each), the interpreter that comes with libtorchere.so,
/// then `others` (what Python finds among installed packages).
TORCHERE_EXPORT Result<std::vector<PluginLocation>> knownPlugins(std::span<const PluginLocation> others = {});

/// The plugin of a name or path. An empty `nameOrPath` means the variable PJRT_DEVICE, or "cpu" without it;
/// names are compared without regard to case; whatever holds a '/' or ends in ".so" is a path. NotFound names
/// the command that installs the plugin when there is one, and the names that are known.
TORCHERE_EXPORT Result<PluginLocation> findPlugin(std::string_view nameOrPath,
                                                  std::span<const PluginLocation> others = {});

/// The client of findPlugin()'s plugin. One client serves all callers with equal options, to the end of the
/// process. XLA's plugin of the name "cpu" is told to make one device (`cpu_device_count`) and to execute in
/// the caller's thread (`asynchronous`: false), unless the options say otherwise. Executables are kept on
/// disk as CompileCache::fromEnvironment() has it.
TORCHERE_EXPORT Result<std::shared_ptr<Client>> sharedClient(std::string_view nameOrPath = {},
                                                             ClientOptions options = {},
                                                             std::span<const PluginLocation> others = {});

} // namespace torchere::runtime
