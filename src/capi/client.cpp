// Plugins, clients and devices in the C ABI.
#include "capi/failure.h"
#include "capi/objects.h"
#include "capi/structures.h"

using namespace torchere;
using namespace torchere::capi;

torchere_status torchere_plugins_create(torchere_plugins *plugins) {
  return guarded([&]() -> Status {
    TORCHERE_TRY(checkGiven(plugins, "plugins"));
    auto made = std::make_shared<Plugins>();
    TORCHERE_ASSIGN(made->list, runtime::knownPlugins());
    *plugins = addHandle(std::move(made));
    return {};
  });
}

torchere_status torchere_plugins_count(torchere_plugins plugins, size_t *count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Plugins>(plugins));
    TORCHERE_TRY(checkGiven(count, "count"));
    *count = found->list.size();
    return {};
  });
}

torchere_status torchere_plugins_get(torchere_plugins plugins, size_t index, torchere_plugin_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Plugins>(plugins));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_TRY(checkIndex(index, found->list.size(), "index"));
    const runtime::PluginLocation &plugin = found->list[index];
    *info = {sizeof *info, plugin.name.c_str(), plugin.path.c_str(), plugin.origin.c_str()};
    return {};
  });
}

torchere_status torchere_plugins_destroy(torchere_plugins plugins) {
  return guarded([&] { return capi::destroy<Plugins>(plugins); });
}

static Result<runtime::NamedValue> valueOf(const torchere_option &option, std::string_view name) {
  switch (option.kind) {
  case TORCHERE_KIND_INT:
    return option.integer;
  case TORCHERE_KIND_FLOAT:
    return static_cast<float>(option.number);
  case TORCHERE_KIND_BOOL:
    return option.integer != 0;
  case TORCHERE_KIND_STRING: {
    TORCHERE_ASSIGN(std::string_view text, checkText(option.string, "string"));
    return std::string(text);
  }
  default:
    return invalidArgument("[{}] wrong kind of option: got {}, expected an int, a float, a bool or a string",
                           name, option.kind);
  }
}

static Result<runtime::CacheChoice> cacheOf(const torchere_client_options &options) {
  runtime::CacheChoice choice;
  switch (options.cache) {
  case TORCHERE_CACHE_ENVIRONMENT:
    if (options.cache_directory || options.cache_limit)
      return invalidArgument("[cache] a folder or limit without TORCHERE_CACHE_ON");
    return choice;
  case TORCHERE_CACHE_OFF:
    choice.use = runtime::CacheChoice::Use::Off;
    return choice;
  case TORCHERE_CACHE_ON:
    choice.use = runtime::CacheChoice::Use::On;
    choice.limit = options.cache_limit;
    if (options.cache_directory)
      choice.folder = options.cache_directory;
    if (!choice.folder.empty() && !choice.folder.is_absolute())
      return invalidArgument("[cache_directory] not an absolute path: got {}", choice.folder.string());
    return choice;
  default:
    return invalidArgument("[cache] no such choice: got {}, expected TORCHERE_CACHE_ENVIRONMENT, OFF or ON",
                           options.cache);
  }
}

torchere_status torchere_client_create(const torchere_client_options *options, torchere_client *client) {
  return guarded([&]() -> Status {
    TORCHERE_TRY(checkGiven(client, "client"));
    torchere_client_options given = {};
    if (options) {
      TORCHERE_TRY(checkStructure(options, "options"));
      given = *options;
    }
    TORCHERE_ASSIGN(auto list, checkList(given.options, given.option_count, "options"));
    runtime::ClientOptions values;
    for (const torchere_option &option : list) {
      TORCHERE_ASSIGN(std::string_view name, checkText(option.name, "name"));
      TORCHERE_ASSIGN(runtime::NamedValue value, valueOf(option, name));
      values.insert_or_assign(std::string(name), std::move(value));
    }
    TORCHERE_ASSIGN(runtime::CacheChoice cache, cacheOf(given));
    auto made = std::make_shared<Client>();
    TORCHERE_ASSIGN(made->client,
                    runtime::sharedClient(given.plugin ? given.plugin : "", std::move(values), {}, cache));
    *client = addHandle(std::move(made));
    return {};
  });
}

torchere_status torchere_client_destroy(torchere_client client) {
  return guarded([&] { return capi::destroy<Client>(client); });
}

torchere_status torchere_client_get_info(torchere_client client, torchere_client_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Client>(client));
    TORCHERE_TRY(checkStructure(info, "info"));
    const runtime::Client &shared = *found->client;
    runtime::Client::CompileCounts counts = shared.compileCounts();
    *info = {sizeof *info,
             shared.platformName().c_str(),
             shared.platformVersion().c_str(),
             shared.plugin().path().c_str(),
             shared.devices().size(),
             counts.compiled,
             counts.loaded,
             counts.reused};
    return {};
  });
}

static void fill(const runtime::Device &device, torchere_device_info &info) {
  info = {sizeof info, device.id, device.kind.c_str(), device.description.c_str()};
}

torchere_status torchere_client_get_device(torchere_client client, size_t index, torchere_device_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Client>(client));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_TRY(checkIndex(index, found->client->devices().size(), "index"));
    fill(found->client->devices()[index], *info);
    return {};
  });
}

torchere_status torchere_program_get_device(torchere_program program, torchere_device_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkStructure(info, "info"));
    const runtime::Device *device = &found->client->devices().front();
    if (found->deviceId) {
      TORCHERE_ASSIGN(device, found->client->device(*found->deviceId));
    }
    fill(*device, *info);
    return {};
  });
}
