// Clients with a cache of executables where they say.
#include "capi_fixture.h"

namespace torchere::capi {
namespace {

class ClientTest : public CapiTest {
protected:
  /// A client of its own for each limit; `info` after a call of a program.
  torchere_client_info callWith(uint64_t limit, const std::string &folder) {
    auto options = sized<torchere_client_options>();
    options.plugin = plugin.c_str();
    options.cache = TORCHERE_CACHE_ON;
    options.cache_directory = folder.c_str();
    options.cache_limit = limit;
    torchere_client own = nullptr;
    EXPECT_EQ(torchere_client_create(&options, &own), TORCHERE_OK) << torchere_error_message();
    std::swap(client, own);
    torchere_program program = load("identity");
    torchere_result result = call(program, 0, {input({1, 2}, {2})});
    EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
    EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
    auto info = sized<torchere_client_info>();
    EXPECT_EQ(torchere_client_get_info(client, &info), TORCHERE_OK);
    std::swap(client, own);
    EXPECT_EQ(torchere_client_destroy(own), TORCHERE_OK);
    return info;
  }
};

TEST_F(ClientTest, ExecutablesAreKeptWhereTheClientSays) {
  std::string folder = savedPrograms().path("cache");
  torchere_client_info first = callWith(1 << 20, folder);
  EXPECT_EQ(first.compiled, 1);
  EXPECT_EQ(first.loaded, 0);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  torchere_client_info second = callWith(2 << 20, folder);
  EXPECT_EQ(second.compiled, 0);
  EXPECT_EQ(second.loaded, 1);
}

TEST_F(ClientTest, PluginsAreListed) {
  torchere_plugins plugins = nullptr;
  size_t count = 0;
  std::string known = "mine:" + plugin;
  ::setenv("PJRT_NAMES_AND_LIBRARY_PATHS", known.c_str(), 1);
  torchere_status status = torchere_plugins_create(&plugins);
  ::unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
  ASSERT_EQ(status, TORCHERE_OK) << torchere_error_message();
  ASSERT_EQ(torchere_plugins_count(plugins, &count), TORCHERE_OK);
  ASSERT_GE(count, 1u);
  auto info = sized<torchere_plugin_info>();
  ASSERT_EQ(torchere_plugins_get(plugins, 0, &info), TORCHERE_OK);
  EXPECT_STREQ(info.name, "mine");
  EXPECT_EQ(info.path, plugin);
  EXPECT_STREQ(info.origin, "PJRT_NAMES_AND_LIBRARY_PATHS");
  expectError(torchere_plugins_get(plugins, count, &info), TORCHERE_OUT_OF_RANGE,
              "[index] no such index: got " + std::to_string(count) + ", expected less than " +
                  std::to_string(count));
  EXPECT_EQ(torchere_plugins_destroy(plugins), TORCHERE_OK);
}

} // namespace
} // namespace torchere::capi
