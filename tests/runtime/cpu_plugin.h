// The plugin that tests run on: the engine, or the one that TORCHERE_TEST_PLUGIN names. That is "cpu", XLA's,
// which is installed, or "interpreter" for programs that are linked with it.
#pragma once

#include "runtime/discovery.h"
#ifdef TORCHERE_WITH_INTERPRETER
#include "interpreter_plugin/api.h"
#endif

#include <cstdlib>
#include <gtest/gtest.h>

namespace torchere::runtime {

inline std::string testPluginName() {
  const char *name = std::getenv("TORCHERE_TEST_PLUGIN");
  return name ? name : "torchere_cpu";
}

/// The path of the engine's library, or the name of another plugin, which discovery finds.
inline std::string pathOrName(const std::string &plugin) {
  return plugin == "torchere_cpu" ? ENGINE_PLUGIN : plugin;
}

inline Result<std::shared_ptr<Client>> openTestClient(const std::string &plugin) {
#ifdef TORCHERE_WITH_INTERPRETER
  if (plugin == "interpreter") {
    TORCHERE_ASSIGN(auto wrapped, Plugin::wrap(interpreter_plugin::api(), plugin));
    return Client::create(std::move(wrapped));
  }
#endif
  return sharedClient(pathOrName(plugin));
}

class CpuPluginTest : public testing::Test {
protected:
  explicit CpuPluginTest(std::string name = testPluginName()) : pluginName(std::move(name)) {}
  void SetUp() override {
    ::setenv("TORCHERE_CACHE", "0", 1); // a test compiles what it tests
    auto shared = openTestClient(pluginName);
    ASSERT_TRUE(shared) << shared.error().text();
    client = *shared;
  }
  /// A client of its own, as another process has it.
  Result<std::shared_ptr<Client>> open(ClientOptions options = {},
                                       std::shared_ptr<CompileCache> cache = nullptr) const {
    return Client::create(*Plugin::load(client->plugin().path()), std::move(options), std::move(cache));
  }
  /// The client's option for so many devices.
  ClientOptions devices(int64_t count) const {
    return {{std::string(client->traits().deviceCountOption), count}};
  }
  /// How often a dynamic program is refined for so many sizes, none of which the plugin binds itself.
  int64_t refinementsOf(int64_t sizes) const { return client->traits().bindsOpenSizes ? 0 : sizes; }
  std::string pluginName;
  std::shared_ptr<Client> client;
};

} // namespace torchere::runtime
