// The plugin that tests run on: XLA's CPU plugin, the one that TORCHERE_CPU_PLUGIN names or the installed
// one. Programs that are linked with the interpreter run on its plugin where TORCHERE_TEST_PLUGIN is
// "interpreter".
#pragma once

#include "runtime/discovery.h"
#ifdef TORCHERE_WITH_INTERPRETER
#include "interpreter_plugin/api.h"
#endif

#include <cstdlib>
#include <gtest/gtest.h>

namespace torchere::runtime {

inline std::string cpuPluginName() {
  const char *path = std::getenv("TORCHERE_CPU_PLUGIN");
  return path ? path : "cpu";
}

/// True where the tests run on the interpreter's plugin.
inline bool isOnInterpreter() {
  const char *plugin = std::getenv("TORCHERE_TEST_PLUGIN");
  return plugin && std::string_view(plugin) == "interpreter";
}

inline Result<std::shared_ptr<Client>> openTestClient() {
#ifdef TORCHERE_WITH_INTERPRETER
  if (isOnInterpreter()) {
    TORCHERE_ASSIGN(auto plugin, Plugin::wrap(interpreter_plugin::api(), "interpreter"));
    return Client::create(std::move(plugin));
  }
#endif
  return sharedClient(cpuPluginName());
}

class CpuPluginTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TORCHERE_CACHE", "0", 1); // a test compiles what it tests
    auto shared = openTestClient();
    ASSERT_TRUE(shared) << shared.error().text();
    client = *shared;
  }
  std::shared_ptr<Client> client;
};

} // namespace torchere::runtime
