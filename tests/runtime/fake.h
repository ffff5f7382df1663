// Fake: the fake plugin, loaded, with its controls, reset for each test.
#pragma once

#include "fake_plugin.h"
#include "runtime/executable.h"

#include <algorithm>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace torchere::runtime {

inline std::string fakePath(const std::string &name = "fake_plugin") {
  return FAKE_PLUGINS "/" + name + ".so";
}

class FakeTest : public testing::Test {
protected:
  explicit FakeTest(const std::string &name = "fake_plugin") : path(fakePath(name)) {}
  void SetUp() override {
    auto loaded = Plugin::load(path);
    ASSERT_TRUE(loaded) << loaded.error().text();
    plugin = *loaded;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    control = reinterpret_cast<FakeControl *(*)()>(dlsym(library, "fakeControl"))();
    *control = FakeControl();
  }
  /// Whatever was made must be gone when the test's own objects are.
  void TearDown() override {
    EXPECT_EQ(control->live, 0);
    dlclose(library);
  }

  void release() { reinterpret_cast<void (*)()>(dlsym(library, "fakeRelease"))(); }
  int64_t callCount(const std::string &name) const {
    return std::count(control->calls.begin(), control->calls.end(), name);
  }
  std::shared_ptr<Client> makeClient(const ClientOptions &options = {}) {
    auto client = Client::create(plugin, options);
    EXPECT_TRUE(client) << client.error().text();
    return *client;
  }

  const std::string path;
  std::shared_ptr<const Plugin> plugin;
  FakeControl *control = nullptr;
  void *library = nullptr;
};

/// Expects a failed Result of this code and text.
template <class R> void expectError(const R &result, ErrorCode code, const std::string &message) {
  ASSERT_FALSE(result);
  EXPECT_EQ(errorCodeName(result.error().code), std::string(errorCodeName(code)));
  EXPECT_EQ(result.error().message, message);
}

} // namespace torchere::runtime
