// Discovery: environment variables, the folder of installed plugins, and names.
#include "runtime/discovery.h"

#include "base/log.h"
#include "runtime/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <dlfcn.h>
#include <optional>
#include <system_error>
#include <tuple>

namespace torchere::runtime {

namespace fs = std::filesystem;

static constexpr const char *pathsVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";
static constexpr const char *packagesVariable = "TORCHERE_PACKAGE_PLUGINS"; // command_line.py sets it
static constexpr const char *pluginVariable = "TORCHERE_PLUGIN";
static constexpr const char *optionsVariable = "TORCHERE_PLUGIN_OPTIONS";
// As PyTorch/XLA reads them.
static constexpr const char *deviceVariable = "PJRT_DEVICE";
static constexpr const char *deviceCountVariable = "CPU_NUM_DEVICES";
static constexpr std::string_view engineName = "torchere_cpu"; // the default
static constexpr std::string_view processorName = "cpu";       // XLA's plugin, else the engine

static std::string lowered(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

fs::path pluginDirectory() {
  if (std::string_view data = environment("XDG_DATA_HOME"); !data.empty())
    return fs::path(data) / "torchere" / "plugins";
  if (std::string_view home = environment("HOME"); !home.empty())
    return fs::path(home) / ".local" / "share" / "torchere" / "plugins";
  return {};
}

using Entry = std::pair<std::string_view, std::string_view>;

/// The comma-separated entries of a variable, each as what is before and after its first `separator`. `form`
/// is what an error expects.
static Result<std::vector<Entry>> parseEntries(std::string_view text, const char *variable, char separator,
                                               std::string_view form) {
  std::vector<Entry> entries;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (entry.empty())
      continue;
    size_t place = entry.find(separator);
    if (place == std::string_view::npos || place == 0 || place + 1 == entry.size())
      return invalidArgument("[{}] malformed entry: got '{}', expected '{}'", variable, entry, form);
    entries.emplace_back(entry.substr(0, place), entry.substr(place + 1));
  }
  return entries;
}

Result<std::vector<PluginLocation>> parsePluginPaths(std::string_view text, const char *variable) {
  TORCHERE_ASSIGN(std::vector<Entry> entries, parseEntries(text, variable, ':', "name:/path/to/plugin.so"));
  std::vector<PluginLocation> plugins;
  for (auto [name, path] : entries)
    plugins.push_back({lowered(name), std::string(path), variable});
  return plugins;
}

/// The number that the whole text is; nothing if it is none.
template <class Number> static std::optional<Number> numberIn(std::string_view text) {
  Number number = {};
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

static NamedValue optionValue(std::string_view text) {
  if (text == "true" || text == "false")
    return text == "true";
  if (auto integer = numberIn<int64_t>(text))
    return *integer;
  if (auto real = numberIn<float>(text))
    return *real;
  return std::string(text);
}

Result<ClientOptions> parsePluginOptions(std::string_view text) {
  TORCHERE_ASSIGN(std::vector<Entry> entries, parseEntries(text, optionsVariable, '=', "name=value"));
  ClientOptions options;
  for (auto [name, value] : entries)
    options.insert_or_assign(std::string(name), optionValue(value));
  return options;
}

/// The numbers of a version: "0.11.2" -> {0, 11, 2}; anything that is not a number counts as 0.
static std::vector<long> versionNumbers(const std::string &version) {
  std::vector<long> numbers;
  for (size_t start = 0; start <= version.size();) {
    size_t end = std::min(version.find('.', start), version.size());
    numbers.push_back(std::strtol(version.substr(start, end - start).c_str(), nullptr, 10));
    start = end + 1;
  }
  return numbers;
}

static std::vector<fs::path> entries(const fs::path &directory) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(directory, code), end; !code && it != end; it.increment(code))
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

static std::optional<std::string> libraryIn(const fs::path &directory) {
  for (const fs::path &path : entries(directory))
    if (path.extension() == ".so")
      return path.string();
  return std::nullopt;
}

static std::vector<PluginLocation> installedPlugins() {
  std::vector<PluginLocation> plugins;
  fs::path root = pluginDirectory();
  if (root.empty())
    return plugins;
  for (const fs::path &named : entries(root)) {
    std::vector<fs::path> versions = entries(named);
    std::sort(versions.begin(), versions.end(), [](const fs::path &a, const fs::path &b) {
      return versionNumbers(a.filename().string()) > versionNumbers(b.filename().string());
    });
    for (const fs::path &version : versions)
      if (auto library = libraryIn(version)) {
        plugins.push_back({lowered(named.filename().string()), *library, "installed"});
        break;
      }
  }
  return plugins;
}

/// The libraries of ours that lie next to the library that contains this code.
static std::vector<PluginLocation> builtInPlugins() {
  Dl_info library = {};
  if (!dladdr(reinterpret_cast<const void *>(&pluginDirectory), &library) || !library.dli_fname)
    return {};
  std::vector<PluginLocation> plugins;
  for (auto [name, file] : {std::pair("interpreter", "libtorchere_interpreter.so"),
                            std::pair("torchere_cpu", "libtorchere_cpu.so")}) {
    fs::path path = fs::path(library.dli_fname).parent_path() / file;
    std::error_code code;
    if (fs::is_regular_file(path, code))
      plugins.push_back({name, path.string(), "built in"});
  }
  return plugins;
}

Result<std::vector<PluginLocation>> knownPlugins(std::span<const PluginLocation> others) {
  TORCHERE_ASSIGN(std::vector<PluginLocation> plugins,
                  parsePluginPaths(environment(pathsVariable), pathsVariable));
  for (PluginLocation &plugin : installedPlugins())
    plugins.push_back(std::move(plugin));
  for (PluginLocation &plugin : builtInPlugins())
    plugins.push_back(std::move(plugin));
  plugins.insert(plugins.end(), others.begin(), others.end());
  TORCHERE_ASSIGN(std::vector<PluginLocation> packages,
                  parsePluginPaths(environment(packagesVariable), packagesVariable));
  for (PluginLocation &plugin : packages) {
    plugin.origin = "installed package";
    plugins.push_back(std::move(plugin));
  }
  return plugins;
}

static bool isPath(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".so");
}

static tl::unexpected<Error> missingPlugin(const std::string &name,
                                           const std::vector<PluginLocation> &plugins) {
  std::vector<std::string> names;
  for (const PluginLocation &plugin : plugins)
    if (std::find(names.begin(), names.end(), plugin.name) == names.end())
      names.push_back(plugin.name);
  std::string known = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  const char *advice = name == engineName      ? "it ships with the package, beside libtorchere.so"
                       : name == processorName ? "install it with `torchere plugins install cpu`"
                                               : "name one by its path, or in PJRT_NAMES_AND_LIBRARY_PATHS";
  return fail(ErrorCode::NotFound, "[{}] no such PJRT plugin: known are {}; {}", name, known, advice);
}

static const PluginLocation *find(const std::vector<PluginLocation> &plugins, std::string_view name) {
  auto found = std::find_if(plugins.begin(), plugins.end(),
                            [&](const PluginLocation &plugin) { return plugin.name == name; });
  return found == plugins.end() ? nullptr : &*found;
}

/// What is asked for: the argument, else what the environment says, else the engine.
static std::string wantedPlugin(std::string_view nameOrPath) {
  std::string wanted(nameOrPath);
  for (const char *variable : {pluginVariable, deviceVariable})
    if (wanted.empty())
      wanted = environment(variable);
  return wanted.empty() ? std::string(engineName) : wanted;
}

Result<PluginLocation> findPlugin(std::string_view nameOrPath, const PackageSearch &packages) {
  std::string wanted = wantedPlugin(nameOrPath);
  if (isPath(wanted))
    return PluginLocation{fs::path(wanted).stem().string(), wanted, "path"};
  std::string name = lowered(wanted);
  TORCHERE_ASSIGN(std::vector<PluginLocation> plugins, knownPlugins());
  if (const PluginLocation *plugin = find(plugins, name))
    return *plugin;
  if (packages)
    for (PluginLocation &plugin : packages())
      plugins.push_back(std::move(plugin));
  if (const PluginLocation *plugin = find(plugins, name))
    return *plugin;
  // To scripts for PyTorch/XLA, which set PJRT_DEVICE, the name means the processor.
  if (const PluginLocation *engine = find(plugins, engineName); engine && name == processorName)
    return *engine;
  return missingPlugin(name, plugins);
}

static Status addDefaults(const PluginTraits &traits, ClientOptions &options) {
  // The device is shared: with PyTorch in this process, and with other processes that load programs.
  if (traits.takesAllMemory)
    options.emplace("preallocate", false);
  if (traits.deviceCountOption.empty())
    return {};
  std::string_view count = environment(deviceCountVariable);
  std::optional<int64_t> devices = count.empty() ? 1 : numberIn<int64_t>(count);
  if (!devices)
    return invalidArgument("[{}] not a number: got '{}', expected how many devices the CPU has",
                           deviceCountVariable, count);
  options.emplace(traits.deviceCountOption, *devices);
  // We wait for the end of a program in any case, and a thread switch costs more than a small program.
  if (traits.executesInOwnThreads)
    options.emplace("asynchronous", false);
  return {};
}

Result<std::shared_ptr<Client>> sharedClient(std::string_view nameOrPath, ClientOptions options,
                                             const PackageSearch &packages, const CacheChoice &cache) {
  using Key = std::tuple<const Plugin *, ClientOptions, CacheChoice>;
  // Leaked on purpose: a client's threads may outlive static destructors.
  static auto &mutex = *new std::mutex;
  static auto &clients = *new std::map<Key, std::shared_ptr<Client>>;

  TORCHERE_ASSIGN(PluginLocation location, findPlugin(nameOrPath, packages));
  if (nameOrPath.empty()) {
    TORCHERE_ASSIGN(ClientOptions chosen, parsePluginOptions(environment(optionsVariable)));
    options.merge(std::move(chosen));
  }
  TORCHERE_ASSIGN(std::shared_ptr<const Plugin> plugin, Plugin::load(location.path));
  // There is no client yet to report its platform.
  TORCHERE_TRY(addDefaults(plugin->traitsFor(location.name), options));
  std::lock_guard lock(mutex);
  auto &client = clients[Key(plugin.get(), options, cache)];
  if (!client) {
    auto created = Client::create(plugin, options, CompileCache::choose(cache));
    if (!created) {
      clients.erase(Key(plugin.get(), options, cache));
      return tl::unexpected(std::move(created).error());
    }
    client = *std::move(created);
    TORCHERE_LOG_LINE(Info, "plugin", "{} is {}, {}: {}", wantedPlugin(nameOrPath), location.name,
                      location.origin, location.path);
  }
  return client;
}

} // namespace torchere::runtime
