// Discovery: environment variables, installed plugins, names and paths.
#include "fake.h"

#include "base/log.h"
#include "runtime/discovery.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace torchere::runtime {
namespace {

namespace fs = std::filesystem;

/// Sets a variable of the environment, and sets it back.
class Variable {
public:
  Variable(const char *name, const std::optional<std::string> &value) : name(name) {
    if (const char *old = std::getenv(name))
      previous = old;
    set(value);
  }
  ~Variable() { set(previous); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;
  void set(const std::optional<std::string> &value) const {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> previous;
};

class Discovery : public testing::Test {
protected:
  Discovery() { fs::create_directories(root); }
  ~Discovery() override { fs::remove_all(root); }

  /// A file at data/torchere/plugins/NAME/VERSION/plugin.so; its path.
  std::string install(const std::string &name, const std::string &version) {
    fs::path folder = root / "torchere" / "plugins" / name / version;
    fs::create_directories(folder);
    std::ofstream(folder / "NOTICE") << "not a library";
    std::ofstream(folder / "plugin.so") << "";
    return (folder / "plugin.so").string();
  }

  int searches = 0;
  fs::path root = fs::temp_directory_path() / fmt::format("torchere_discovery_{}", getpid());
  Variable data{"XDG_DATA_HOME", root.string()};
  Variable paths{"PJRT_NAMES_AND_LIBRARY_PATHS", std::nullopt};
  Variable device{"PJRT_DEVICE", std::nullopt};
};

TEST_F(Discovery, FolderFollowsTheDataHome) {
  EXPECT_EQ(pluginDirectory(), root / "torchere" / "plugins");
  data.set(std::nullopt);
  Variable home{"HOME", "/home/somebody"};
  EXPECT_EQ(pluginDirectory(), "/home/somebody/.local/share/torchere/plugins");
  home.set(std::nullopt);
  EXPECT_EQ(pluginDirectory(), "");
  EXPECT_TRUE(knownPlugins()->empty());
}

TEST_F(Discovery, ReadsJaxsVariable) {
  auto plugins = parsePluginPaths("CUDA:/opt/cuda.so,,tpu:/opt/a:b.so,", "PJRT_NAMES_AND_LIBRARY_PATHS");
  ASSERT_TRUE(plugins) << plugins.error().text();
  ASSERT_EQ(plugins->size(), 2u);
  EXPECT_EQ((*plugins)[0].name, "cuda");
  EXPECT_EQ((*plugins)[0].path, "/opt/cuda.so");
  EXPECT_EQ((*plugins)[1].path, "/opt/a:b.so");
  for (const char *entry : {"cuda", ":/opt/cuda.so", "cuda:"})
    expectError(parsePluginPaths(entry, "PJRT_NAMES_AND_LIBRARY_PATHS"), ErrorCode::InvalidArgument,
                fmt::format("[PJRT_NAMES_AND_LIBRARY_PATHS] malformed entry: got '{}', expected "
                            "'name:/path/to/plugin.so'",
                            entry));
}

TEST_F(Discovery, ReadsThePluginsOptions) {
  auto options = parsePluginOptions("device_count=4,,asynchronous=true,a=1.5,b=-2,c=x=y,");
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(*options, (ClientOptions{{"device_count", int64_t{4}},
                                     {"asynchronous", true},
                                     {"a", 1.5f},
                                     {"b", int64_t{-2}},
                                     {"c", std::string("x=y")}}));
  for (const char *entry : {"a", "=1", "a="})
    expectError(
        parsePluginOptions(entry), ErrorCode::InvalidArgument,
        fmt::format("[TORCHERE_PLUGIN_OPTIONS] malformed entry: got '{}', expected 'name=value'", entry));
}

TEST_F(Discovery, OurOwnVariableComesBeforePjrtDevice) {
  Variable plugin("TORCHERE_PLUGIN", std::nullopt);
  device.set("/opt/a.so");
  EXPECT_EQ(findPlugin("")->path, "/opt/a.so");
  plugin.set("/opt/b.so");
  EXPECT_EQ(findPlugin("")->path, "/opt/b.so");
  EXPECT_EQ(findPlugin("/opt/c.so")->path, "/opt/c.so");
}

TEST_F(Discovery, TakesTheNewestInstalledVersion) {
  install("cpu", "0.9.2");
  std::string newest = install("cpu", "0.11.2");
  install("cpu", "0.11.1");
  fs::create_directories(root / "torchere" / "plugins" / "cpu" / "0.12.0"); // interrupted: no library
  auto found = findPlugin("cpu");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->path, newest);
  EXPECT_EQ(found->origin, "installed");
}

TEST_F(Discovery, PrefersTheVariableThenTheInstalledThenTheOthers) {
  std::vector<PluginLocation> packages = {{"cpu", "/site/cpu.so", "site-packages"},
                                          {"cuda", "/site/cuda.so", "jax_plugins"}};
  auto others = [&] { return packages; };
  EXPECT_EQ(findPlugin("cpu", others)->path, "/site/cpu.so");
  std::string installed = install("cpu", "1");
  EXPECT_EQ(findPlugin("cpu", others)->path, installed);
  paths.set("cpu:/env/cpu.so");
  EXPECT_EQ(findPlugin("cpu", others)->path, "/env/cpu.so");
  EXPECT_EQ(findPlugin("CUDA", others)->path, "/site/cuda.so");
  EXPECT_EQ(knownPlugins(packages)->size(), 4u);
  device.set("CUDA");
  EXPECT_EQ(findPlugin("", others)->origin, "jax_plugins");
  EXPECT_EQ(findPlugin("cpu", others)->path, "/env/cpu.so"); // what is asked for beats PJRT_DEVICE
}

TEST_F(Discovery, TakesPathsAsTheyAre) {
  EXPECT_EQ(findPlugin("/opt/vendor.so")->path, "/opt/vendor.so");
  EXPECT_EQ(findPlugin("vendor.so")->path, "vendor.so");
  EXPECT_EQ(findPlugin("./vendor")->origin, "path");
  device.set("/opt/vendor.so");
  EXPECT_EQ(findPlugin("")->path, "/opt/vendor.so");
}

TEST_F(Discovery, TheEngineIsTheDefault) {
  install("cpu", "1");
  paths.set("torchere_cpu:/lib/engine.so");
  auto search = [this]() -> std::vector<PluginLocation> {
    searches++;
    return {};
  };
  EXPECT_EQ(findPlugin("", search)->path, "/lib/engine.so");
  EXPECT_EQ(searches, 0);
}

TEST_F(Discovery, CpuIsXlasPluginWhereThereIsOneElseTheEngine) {
  paths.set("torchere_cpu:/lib/engine.so");
  auto none = [] { return std::vector<PluginLocation>(); };
  for (const char *name : {"cpu", "CPU"}) {
    EXPECT_EQ(findPlugin(name)->name, "torchere_cpu");
    device.set(name);
    EXPECT_EQ(findPlugin("", none)->path, "/lib/engine.so");
  }
  auto packages = [] { return std::vector<PluginLocation>{{"cpu", "/site/cpu.so", "site-packages"}}; };
  EXPECT_EQ(findPlugin("", packages)->path, "/site/cpu.so");
  std::string installed = install("cpu", "1");
  EXPECT_EQ(findPlugin("", packages)->path, installed);
}

TEST_F(Discovery, PackagesAreLookedForOnlyWhereNoOtherHasTheName) {
  install("vendor", "1");
  auto search = [this]() -> std::vector<PluginLocation> {
    searches++;
    return {{"tpu", "/site/tpu.so", "site-packages"}};
  };
  EXPECT_EQ(findPlugin("vendor", search)->origin, "installed");
  EXPECT_EQ(findPlugin("/opt/cpu.so", search)->origin, "path");
  EXPECT_EQ(searches, 0);
  EXPECT_EQ(findPlugin("tpu", search)->origin, "site-packages");
  EXPECT_EQ(searches, 1);
}

TEST_F(Discovery, AMissingPluginIsAnErrorThatNamesTheOthers) {
  expectError(findPlugin(""), ErrorCode::NotFound,
              "[torchere_cpu] no such PJRT plugin: known are none; it ships with the package, beside "
              "libtorchere.so");
  expectError(findPlugin("cpu"), ErrorCode::NotFound,
              "[cpu] no such PJRT plugin: known are none; install it with `torchere plugins install cpu`");
  install("cpu", "1");
  auto others = []() -> std::vector<PluginLocation> {
    return {{"cuda", "/site/cuda.so", "jax_plugins"}, {"cuda", "/b.so", "other"}};
  };
  expectError(findPlugin("tpu", others), ErrorCode::NotFound,
              "[tpu] no such PJRT plugin: known are cpu, cuda; name one by its path, or in "
              "PJRT_NAMES_AND_LIBRARY_PATHS");
  paths.set("broken");
  EXPECT_EQ(findPlugin("cpu").error().code, ErrorCode::InvalidArgument);
}

TEST_F(Discovery, PluginsOfTheProcessorHaveOneDeviceAndXlasExecutesInTheCallersThread) {
  std::string path = fakePath("fake_plugin_xla");
  void *library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  auto *control = reinterpret_cast<FakeControl *(*)()>(dlsym(library, "fakeControl"))();
  using Options = std::map<std::string, std::string>;
  paths.set("cpu:" + path + ",other:" + path);
  ASSERT_TRUE(sharedClient("cpu", {{"b", int64_t{1}}}));
  EXPECT_EQ(control->options, (Options{{"asynchronous", "false"}, {"b", "1"}, {"cpu_device_count", "1"}}));
  ASSERT_TRUE(sharedClient("cpu", {{"asynchronous", true}, {"cpu_device_count", int64_t{2}}}));
  EXPECT_EQ(control->options, (Options{{"asynchronous", "true"}, {"cpu_device_count", "2"}}));
  ASSERT_TRUE(sharedClient("other", {{"b", int64_t{2}}}));
  EXPECT_EQ(control->options, (Options{{"b", "2"}}));
  Variable count("CPU_NUM_DEVICES", "3"), options("TORCHERE_PLUGIN_OPTIONS", "b=7,asynchronous=true");
  ASSERT_TRUE(sharedClient("cpu", {{"b", int64_t{4}}})); // the options are for what the environment chooses
  EXPECT_EQ(control->options, (Options{{"asynchronous", "false"}, {"b", "4"}, {"cpu_device_count", "3"}}));
  device.set("cpu");
  ASSERT_TRUE(sharedClient());
  EXPECT_EQ(control->options, (Options{{"asynchronous", "true"}, {"b", "7"}, {"cpu_device_count", "3"}}));
  ASSERT_TRUE(sharedClient("", {{"b", int64_t{8}}, {"cpu_device_count", int64_t{2}}}));
  EXPECT_EQ(control->options, (Options{{"asynchronous", "true"}, {"b", "8"}, {"cpu_device_count", "2"}}));
  count.set("many");
  expectError(sharedClient(), ErrorCode::InvalidArgument,
              "[CPU_NUM_DEVICES] not a number: got 'many', expected how many devices the CPU has");
  count.set(std::nullopt);
  options.set(std::nullopt);
  dlclose(library);
  paths.set("cpu:" + fakePath()); // not XLA's
  ASSERT_TRUE(sharedClient("cpu", {{"b", int64_t{3}}}));
  library = dlopen(fakePath().c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  control = reinterpret_cast<FakeControl *(*)()>(dlsym(library, "fakeControl"))();
  EXPECT_EQ(control->options, (Options{{"b", "3"}}));
  paths.set("torchere_cpu:" + fakePath()); // as the engine, which is not XLA's either
  ASSERT_TRUE(sharedClient("torchere_cpu", {{"b", int64_t{5}}}));
  EXPECT_EQ(control->options, (Options{{"b", "5"}, {"device_count", "1"}}));
  count.set("2");
  device.set(std::nullopt);
  ASSERT_TRUE(sharedClient("", {{"b", int64_t{6}}}));
  EXPECT_EQ(control->options, (Options{{"b", "6"}, {"device_count", "2"}}));
  dlclose(library);
}

TEST_F(Discovery, TheLogTellsWhichPluginWasTaken) {
  paths.set("torchere_cpu:" + fakePath());
  device.set("CPU");
  setLogLevel(LogLevel::Info);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(sharedClient({}, {{"a", int64_t{9}}}));
  std::string log = testing::internal::GetCapturedStderr();
  setLogLevel(LogLevel::Warning);
  std::string expected = "torchere info [plugin] CPU is torchere_cpu, PJRT_NAMES_AND_LIBRARY_PATHS: ";
  EXPECT_NE(log.find(expected + fakePath()), std::string::npos) << log;
}

TEST_F(Discovery, OneClientServesAllWithEqualOptions) {
  auto first = sharedClient(fakePath());
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(*sharedClient(fakePath()), *first);
  EXPECT_NE(*sharedClient(fakePath(), {{"a", int64_t{1}}}), *first);
  EXPECT_NE(*sharedClient(fakePath(), {}, {}, {.use = CacheChoice::Use::Off}), *first);
  expectError(sharedClient("/nonexistent.so"), ErrorCode::NotFound,
              "[/nonexistent.so] cannot load the plugin: No such file or directory");
}

} // namespace
} // namespace torchere::runtime
