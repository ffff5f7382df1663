// Plugin: loading, the checks before the first call, attributes and errors.
#include "runtime/plugin.h"

#include "runtime/machine_identity.h"

#include <dlfcn.h>
#include <mutex>
#include <system_error>

namespace torchere::runtime {

/// What we call without asking whether it is there. The other slots that we use have a way around them.
static constexpr size_t requiredSlots[] = {
    offsetof(abi::Api, errorDestroy),
    offsetof(abi::Api, errorMessage),
    offsetof(abi::Api, errorGetCode),
    offsetof(abi::Api, pluginInitialize),
    offsetof(abi::Api, eventDestroy),
    offsetof(abi::Api, eventIsReady),
    offsetof(abi::Api, eventAwait),
    offsetof(abi::Api, eventOnReady),
    offsetof(abi::Api, clientCreate),
    offsetof(abi::Api, clientDestroy),
    offsetof(abi::Api, clientPlatformName),
    offsetof(abi::Api, clientPlatformVersion),
    offsetof(abi::Api, clientAddressableDevices),
    offsetof(abi::Api, clientCompile),
    offsetof(abi::Api, clientBufferFromHostBuffer),
    offsetof(abi::Api, deviceDescriptionId),
    offsetof(abi::Api, deviceDescriptionKind),
    offsetof(abi::Api, deviceDescriptionToString),
    offsetof(abi::Api, deviceGetDescription),
    offsetof(abi::Api, executableDestroy),
    offsetof(abi::Api, executableNumOutputs),
    offsetof(abi::Api, loadedExecutableDestroy),
    offsetof(abi::Api, loadedExecutableGetExecutable),
    offsetof(abi::Api, loadedExecutableExecute),
    offsetof(abi::Api, bufferDestroy),
    offsetof(abi::Api, bufferElementType),
    offsetof(abi::Api, bufferDimensions),
    offsetof(abi::Api, bufferIsDeleted),
    offsetof(abi::Api, bufferToHostBuffer),
};

/// How much of the table every plugin has to have: what comes after has a way around it as well.
static constexpr size_t requiredTableSize = offsetof(abi::Api, copyToDeviceStreamDestroy);

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
  auto entryPoint = reinterpret_cast<abi::EntryPoint>(dlsym(library, abi::entryPointName));
  if (!entryPoint) {
    dlclose(library);
    return invalidArgument("[{}] not a PJRT plugin: it exports no {}", path, abi::entryPointName);
  }
  const abi::Api *api = entryPoint();
  if (!api)
    return invalidArgument("[{}] not a usable PJRT plugin: {} returned null", path, abi::entryPointName);
  return initialized(path, api, reinterpret_cast<const void *>(entryPoint));
}

Result<std::shared_ptr<const Plugin>> Plugin::wrap(const abi::Api *api, const std::string &name) {
  static auto &mutex = *new std::mutex; // leaked on purpose, as in load()
  static auto &wrapped = *new std::map<const abi::Api *, std::shared_ptr<const Plugin>>;

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

Result<std::shared_ptr<const Plugin>> Plugin::initialized(const std::string &path, const abi::Api *api,
                                                          const void *address) {
  std::shared_ptr<Plugin> plugin(new Plugin(path, api));
  plugin->libraryIdentityText = libraryIdentity(address);
  TORCHERE_TRY(plugin->checkTable());
  TORCHERE_TRY(plugin->initialize());
  return std::shared_ptr<const Plugin>(plugin);
}

Status Plugin::checkTable() const {
  // The size comes first: nothing behind it may be read before.
  if (table->structSize < offsetof(abi::Api, errorDestroy))
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
                             abi::functionName(slot));
  }
  return {};
}

static NamedValue valueOf(const abi::NamedValue &value) {
  switch (value.type) {
  case abi::NamedValueType::String:
    return std::string(value.string, value.valueSize);
  case abi::NamedValueType::Int64:
    return value.int64;
  case abi::NamedValueType::Int64List:
    return std::vector<int64_t>(value.int64List, value.int64List + value.valueSize);
  case abi::NamedValueType::Float:
    return value.float32;
  case abi::NamedValueType::Bool:
    return value.boolean;
  }
  return std::string("?");
}

Status Plugin::initialize() {
  abi::PluginInitializeArgs initializeArgs;
  TORCHERE_TRY(call(table->pluginInitialize, initializeArgs, file, "cannot initialize the plugin"));
  abi::PluginAttributesArgs args;
  if (!table->pluginAttributes)
    return {};
  if (abi::Error *error = table->pluginAttributes(&args)) {
    discard(error); // attributes are optional
    return {};
  }
  for (size_t i = 0; i < args.count; ++i) {
    const abi::NamedValue &attribute = args.attributes[i];
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

PluginTraits Plugin::traitsFor(const std::string &platform) const {
  return traitsOf({platform, attributeValues.contains("xla_version"), minorVersion()});
}

Status Plugin::takeError(abi::Error *error, std::string_view subject, std::string_view action) const {
  abi::ErrorMessageArgs messageArgs;
  messageArgs.error = error;
  table->errorMessage(&messageArgs);
  std::string message(messageArgs.message ? messageArgs.message : "",
                      messageArgs.message ? messageArgs.messageSize : 0);
  abi::ErrorGetCodeArgs codeArgs;
  codeArgs.error = error;
  int code = static_cast<int>(ErrorCode::Unknown);
  if (abi::Error *second = table->errorGetCode(&codeArgs))
    discard(second);
  else if (codeArgs.code >= 1 && codeArgs.code <= static_cast<int>(ErrorCode::Unauthenticated))
    code = codeArgs.code;
  discard(error);
  return fail(static_cast<ErrorCode>(code), "[{}] {}: {}", subject, action, message);
}

Status Plugin::await(abi::Event *event, std::string_view subject, std::string_view action) const {
  if (!event)
    return {};
  abi::EventAwaitArgs args;
  args.event = event;
  Status status = call(table->eventAwait, args, subject, action);
  destroy(event);
  return status;
}

void Plugin::destroy(abi::Event *event) const {
  abi::EventDestroyArgs args;
  args.event = event;
  if (abi::Error *error = table->eventDestroy(&args))
    discard(error);
}

void Plugin::discard(abi::Error *error) const {
  abi::ErrorDestroyArgs args;
  args.error = error;
  table->errorDestroy(&args);
}

} // namespace torchere::runtime
