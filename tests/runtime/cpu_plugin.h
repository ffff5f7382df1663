// XLA's CPU plugin for tests: the one that TORCHERE_CPU_PLUGIN names, or the installed one.
#pragma once

#include "runtime/discovery.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace torchere::runtime {

inline std::string cpuPluginName() {
  const char *path = std::getenv("TORCHERE_CPU_PLUGIN");
  return path ? path : "cpu";
}

class CpuPluginTest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TORCHERE_CACHE", "0", 1); // a test compiles what it tests
    auto shared = sharedClient(cpuPluginName());
    ASSERT_TRUE(shared) << shared.error().text();
    client = *shared;
  }
  std::shared_ptr<Client> client;
};

} // namespace torchere::runtime
