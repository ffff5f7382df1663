// Plugin: loading, the checks before the first call, attributes and errors.
#include "runtime/plugin.h"

#include "base/library_identity.h"
#include "pjrt/own_extensions.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <system_error>

namespace torchere::runtime {

/// The functions that we call without checking that they exist. We can do without the other ones that we use.
static constexpr size_t requiredSlots[] = {
    offsetof(pjrt::Api, errorDestroy),
    offsetof(pjrt::Api, errorMessage),
    offsetof(pjrt::Api, errorGetCode),
    offsetof(pjrt::Api, pluginInitialize),
    offsetof(pjrt::Api, eventDestroy),
    offsetof(pjrt::Api, eventIsReady),
    offsetof(pjrt::Api, eventAwait),
    offsetof(pjrt::Api, eventOnReady),
    offsetof(pjrt::Api, clientCreate),
    offsetof(pjrt::Api, clientDestroy),
    offsetof(pjrt::Api, clientPlatformName),
    offsetof(pjrt::Api, clientPlatformVersion),
    offsetof(pjrt::Api, clientAddressableDevices),
    offsetof(pjrt::Api, clientCompile),
    offsetof(pjrt::Api, clientBufferFromHostBuffer),
    offsetof(pjrt::Api, deviceDescriptionId),
    offsetof(pjrt::Api, deviceDescriptionKind),
    offsetof(pjrt::Api, deviceDescriptionToString),
    offsetof(pjrt::Api, deviceGetDescription),
    offsetof(pjrt::Api, executableDestroy),
    offsetof(pjrt::Api, executableNumOutputs),
    offsetof(pjrt::Api, loadedExecutableDestroy),
    offsetof(pjrt::Api, loadedExecutableGetExecutable),
    offsetof(pjrt::Api, loadedExecutableExecute),
    offsetof(pjrt::Api, bufferDestroy),
    offsetof(pjrt::Api, bufferElementType),
    offsetof(pjrt::Api, bufferDimensions),
    offsetof(pjrt::Api, bufferIsDeleted),
    offsetof(pjrt::Api, bufferToHostBuffer),
};

/// The minimum size of a plugin's table. We can do without the functions after it.
static constexpr size_t requiredTableSize = offsetof(pjrt::Api, copyToDeviceStreamDestroy);

Result<std::shared_ptr<const Plugin>> Plugin::load(const std::filesystem::path &path) {
  // Leaked on purpose: threads of a plugin may outlive static destructors.
  static auto &mutex = *new std::mutex;
  static auto &loaded = *new std::map<std::string, std::shared_ptr<const Plugin>>;

  std::error_code code;
  std::filesystem::path canonical = std::filesystem::canonical(path, code);
  if (code)
    return fail(ErrorCode::NotFound, "[{}] cannot load the plugin: {}", path.string(), code.message());
  if (!std::filesystem::is_regular_file(canonical, code))
    return invalidArgument("[{}] cannot load the plugin: got no regular file, expected a shared library",
                           path.string());
  std::lock_guard lock(mutex);
  auto found = loaded.find(canonical.string());
  if (found != loaded.end()) {
    TORCHERE_TRY(found->second->process().check(path.string()));
    return found->second;
  }
  TORCHERE_ASSIGN(auto plugin, loadUncached(canonical.string()));
  loaded.emplace(canonical.string(), plugin);
  return plugin;
}

Result<std::shared_ptr<const Plugin>> Plugin::loadUncached(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return invalidArgument("[{}] not a PJRT plugin: {}", path, dlerror());
  auto entryPoint = reinterpret_cast<pjrt::EntryPoint>(dlsym(library, pjrt::entryPointName));
  if (!entryPoint) {
    dlclose(library);
    return invalidArgument("[{}] not a PJRT plugin: it exports no {}", path, pjrt::entryPointName);
  }
  const pjrt::Api *api = entryPoint();
  if (!api)
    return invalidArgument("[{}] not a usable PJRT plugin: {} returned null", path, pjrt::entryPointName);
  return initialized(path, api, reinterpret_cast<const void *>(entryPoint));
}

Result<std::shared_ptr<const Plugin>> Plugin::wrap(const pjrt::Api *api, const std::string &name) {
  static auto &mutex = *new std::mutex; // leaked on purpose, as in load()
  static auto &wrapped = *new std::map<const pjrt::Api *, std::shared_ptr<const Plugin>>;

  if (!api)
    return invalidArgument("[{}] not a usable PJRT plugin: got null, expected a table of functions", name);
  std::lock_guard lock(mutex);
  auto found = wrapped.find(api);
  if (found != wrapped.end()) {
    TORCHERE_TRY(found->second->process().check(name));
    return found->second;
  }
  TORCHERE_ASSIGN(auto plugin, initialized(name, api, api));
  wrapped.emplace(api, plugin);
  return plugin;
}

Result<std::shared_ptr<const Plugin>> Plugin::initialized(const std::string &path, const pjrt::Api *api,
                                                          const void *address) {
  std::shared_ptr<Plugin> plugin(new Plugin(path, api));
  plugin->libraryIdentityText = libraryIdentity(address);
  TORCHERE_TRY(plugin->checkTable());
  TORCHERE_TRY(plugin->initialize());
  return std::shared_ptr<const Plugin>(plugin);
}

Status Plugin::checkTable() const {
  // The size comes first: nothing beyond it may be read.
  if (table->structSize < offsetof(pjrt::Api, errorDestroy))
    return invalidArgument("[{}] PJRT table too short: got {} bytes, expected at least {}", file,
                           table->structSize, requiredTableSize);
  if (table->version.major != 0)
    return invalidArgument("[{}] unsupported version of the PJRT C API: got {}.{}, expected 0.x", file,
                           table->version.major, table->version.minor);
  if (table->structSize < requiredTableSize)
    return invalidArgument("[{}] PJRT table too short (version {}.{}): got {} bytes, expected at least {}",
                           file, table->version.major, table->version.minor, table->structSize,
                           requiredTableSize);
  for (size_t slot : requiredSlots) {
    const auto *address = reinterpret_cast<const char *>(table) + slot;
    if (!*reinterpret_cast<void *const *>(address))
      return invalidArgument("[{}] PJRT table without {}: got null, expected a function", file,
                             pjrt::functionName(slot));
  }
  return {};
}

static NamedValue valueOf(const pjrt::NamedValue &value) {
  switch (value.type) {
  case pjrt::NamedValueType::String:
    return std::string(value.string, value.valueSize);
  case pjrt::NamedValueType::Int64:
    return value.int64;
  case pjrt::NamedValueType::Int64List:
    return std::vector<int64_t>(value.int64List, value.int64List + value.valueSize);
  case pjrt::NamedValueType::Float:
    return value.float32;
  case pjrt::NamedValueType::Bool:
    return value.boolean;
  }
  return std::string("?");
}

Status Plugin::initialize() {
  pjrt::PluginInitializeArgs initializeArgs;
  TORCHERE_TRY(call(table->pluginInitialize, initializeArgs, file, "cannot initialize the plugin"));
  pjrt::PluginAttributesArgs args;
  if (!table->pluginAttributes)
    return {};
  if (pjrt::Error *error = table->pluginAttributes(&args)) {
    discard(error); // attributes are optional
    return {};
  }
  for (size_t i = 0; i < args.count; ++i) {
    const pjrt::NamedValue &attribute = args.attributes[i];
    attributeValues.emplace(std::string(attribute.name, attribute.nameSize), valueOf(attribute));
  }
  return {};
}

std::optional<std::array<int64_t, 3>> Plugin::stablehloVersion() const {
  auto found = attributeValues.find("stablehlo_current_version");
  if (found == attributeValues.end())
    return std::nullopt;
  const auto *list = std::get_if<std::vector<int64_t>>(&found->second);
  if (!list || list->size() != 3)
    return std::nullopt;
  return std::array<int64_t, 3>{(*list)[0], (*list)[1], (*list)[2]};
}

bool Plugin::knowsWeights() const {
  auto found = attributeValues.find(std::string(pjrt::weightsAttribute));
  const bool *value = found == attributeValues.end() ? nullptr : std::get_if<bool>(&found->second);
  return value && *value;
}

const pjrt::ProfileExtension *Plugin::profiles() const {
  for (const pjrt::Extension *link = api().extensions; link; link = link->next)
    if (link->type == pjrt::profileExtensionType && link->structSize >= sizeof(pjrt::ProfileExtension))
      return reinterpret_cast<const pjrt::ProfileExtension *>(link);
  return nullptr;
}

PluginTraits Plugin::traitsFor(const std::string &platform) const {
  PluginTraits traits = traitsOf({platform, attributeValues.contains("xla_version"), minorVersion()});
  if (const char *precision = std::getenv("TORCHERE_FLOAT32_PRODUCTS");
      precision && precision == std::string_view("default"))
    traits.roundsFloat32Products = false; // which the user wants
  return traits;
}

Status Plugin::takeError(pjrt::Error *error, std::string_view subject, std::string_view action) const {
  pjrt::ErrorMessageArgs messageArgs;
  messageArgs.error = error;
  table->errorMessage(&messageArgs);
  std::string message(messageArgs.message ? messageArgs.message : "",
                      messageArgs.message ? messageArgs.messageSize : 0);
  pjrt::ErrorGetCodeArgs codeArgs;
  codeArgs.error = error;
  int code = static_cast<int>(ErrorCode::Unknown);
  if (pjrt::Error *second = table->errorGetCode(&codeArgs))
    discard(second);
  else if (codeArgs.code >= 1 && codeArgs.code <= static_cast<int>(ErrorCode::Unauthenticated))
    code = codeArgs.code;
  discard(error);
  return fail(static_cast<ErrorCode>(code), "[{}] {}: {}", subject, action, message);
}

Status Plugin::await(pjrt::Event *event, std::string_view subject, std::string_view action) const {
  if (!event)
    return {};
  pjrt::EventAwaitArgs args;
  args.event = event;
  Status status = call(table->eventAwait, args, subject, action);
  destroy(event);
  return status;
}

void Plugin::destroy(pjrt::Event *event) const {
  pjrt::EventDestroyArgs args;
  args.event = event;
  if (pjrt::Error *error = table->eventDestroy(&args))
    discard(error);
}

void Plugin::discard(pjrt::Error *error) const {
  pjrt::ErrorDestroyArgs args;
  args.error = error;
  table->errorDestroy(&args);
}

} // namespace torchere::runtime
