// Client: options, devices, the compile cache, and the order of destruction.
#include "fake.h"

#include <atomic>
#include <future>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace torchere::runtime {
namespace {

using ClientTest = FakeTest;

TEST_F(ClientTest, DescribesThePlatformAndItsDevices) {
  auto client = makeClient();
  EXPECT_EQ(client->platformName(), "fake");
  EXPECT_EQ(client->platformVersion(), "fake 1");
  ASSERT_EQ(client->devices().size(), 2u);
  EXPECT_EQ(client->devices()[1].id, 1);
  EXPECT_EQ(client->devices()[1].kind, "imaginary");
  EXPECT_EQ(client->devices()[1].description, "second");
  EXPECT_EQ(*client->device(1), &client->devices()[1]);
  expectError(client->device(7), ErrorCode::NotFound, "[fake] no such device: got 7, expected one of 0, 1");
}

TEST_F(ClientTest, HandsOptionsToThePlugin) {
  makeClient({{"name", std::string("x y")},
              {"count", int64_t{3}},
              {"ids", std::vector<int64_t>{4, 5}},
              {"share", 0.5f},
              {"quick", true}});
  std::map<std::string, std::string> expected = {
      {"name", "x y"}, {"count", "3"}, {"ids", "4;5;"}, {"share", "0.500000"}, {"quick", "true"}};
  EXPECT_EQ(control->options, expected);
}

TEST_F(ClientTest, ChecksTheCountOfDevices) {
  expectError(Client::create(plugin, {{"cpu_device_count", int64_t{-1}}}), ErrorCode::InvalidArgument,
              "[cpu_device_count] out of range: got -1, expected 1 to 1024");
  expectError(Client::create(plugin, {{"cpu_device_count", int64_t{1025}}}), ErrorCode::InvalidArgument,
              "[cpu_device_count] out of range: got 1025, expected 1 to 1024");
  expectError(Client::create(plugin, {{"cpu_device_count", true}}), ErrorCode::InvalidArgument,
              "[cpu_device_count] wrong type of option: expected an integer");
  EXPECT_EQ(callCount("PJRT_Client_Create"), 0);
}

TEST_F(ClientTest, PassesOnWhatThePluginAnswers) {
  const std::pair<const char *, const char *> cases[] = {
      {"PJRT_Client_Create", "cannot create a client"},
      {"PJRT_Client_PlatformName", "cannot get the platform's name"},
      {"PJRT_Client_PlatformVersion", "cannot get the platform's version"},
      {"PJRT_Client_AddressableDevices", "cannot list the devices"},
      {"PJRT_Device_GetDescription", "cannot describe a device"},
      {"PJRT_DeviceDescription_Id", "cannot get a device's id"},
      {"PJRT_DeviceDescription_Kind", "cannot get a device's kind"},
      {"PJRT_DeviceDescription_ToString", "cannot get a device's text"},
  };
  for (auto [function, action] : cases) {
    control->failing = function;
    control->errorCode = 14;
    auto result = Client::create(plugin);
    ASSERT_FALSE(result) << function;
    EXPECT_EQ(result.error().code, ErrorCode::Unavailable);
    EXPECT_NE(result.error().message.find(fmt::format("] {}: {} was told to fail", action, function)),
              std::string::npos)
        << result.error().message;
    EXPECT_EQ(control->live, 0) << function; // a client half made is destroyed
  }
}

TEST_F(ClientTest, TreatsACodeThatDoesNotExistAsUnknown) {
  control->failing = "PJRT_Client_Create";
  control->errorCode = 99;
  expectError(Client::create(plugin), ErrorCode::Unknown,
              "[" + plugin->path() + "] cannot create a client: PJRT_Client_Create was told to fail");
}

TEST_F(ClientTest, RefusesAPlatformWithoutDevices) {
  control->failingEvent = "no devices";
  expectError(Client::create(plugin), ErrorCode::Unavailable, "[fake] no device: got 0, expected at least 1");
}

TEST_F(ClientTest, TellsHowMuchMemoryIsInUse) {
  auto client = makeClient();
  auto first = client->memoryOf(client->devices()[0]), second = client->memoryOf(client->devices()[1]);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->inUse, 100);
  EXPECT_EQ(first->limit, std::nullopt); // a value without its flag
  EXPECT_EQ(second->inUse, 101);
  EXPECT_EQ(second->limit, 1000);
  control->failing = "PJRT_Device_MemoryStats";
  expectError(
      client->memoryOf(client->devices()[0]), ErrorCode::Internal,
      "[fake] cannot tell how much of a device's memory is in use: PJRT_Device_MemoryStats was told to "
      "fail");
  auto untold = Client::create(*Plugin::load(fakePath("fake_plugin_untold")));
  ASSERT_TRUE(untold) << untold.error().text();
  expectError((*untold)->memoryOf((*untold)->devices()[0]), ErrorCode::Unimplemented,
              "[fake] the plugin does not tell how much of a device's memory is in use: it has no "
              "PJRT_Device_MemoryStats");
}

TEST_F(ClientTest, CompilesWhatItHasNotCompiled) {
  auto client = makeClient();
  auto first = client->compile("module {}");
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(control->program, "module {}");
  EXPECT_EQ(control->format, "mlir");
  EXPECT_EQ(control->compileOptions, "\x1a\x04\x20\x01\x28\x01");
  EXPECT_EQ(*client->compile("module {}"), *first);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), 1);
  auto onSecond = client->compile("module {}", {.device = 1});
  EXPECT_NE(*onSecond, *first);
  EXPECT_EQ(control->compileOptions,
            std::string("\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x01", 17));
  EXPECT_NE(*client->compile("module @other {}"), *first);
  EXPECT_EQ(client->compileCounts().compiled, 3);
  EXPECT_EQ(client->compileCounts().reused, 1);
}

class XlaClientTest : public FakeTest {
protected:
  XlaClientTest() : FakeTest("fake_plugin_xla") {}
};

TEST_F(XlaClientTest, GetsTheSwitchThatKeepsNaN) {
  auto isSet = [&] {
    return control->compileOptions.find("xla_cpu_enable_fast_min_max") != std::string::npos;
  };
  control->platform = "cpu";
  auto client = makeClient();
  EXPECT_TRUE(client->traits().losesNaNInMinMax);
  ASSERT_TRUE(client->compile("module {}"));
  EXPECT_TRUE(isSet());
  control->platform = "cuda";
  client = makeClient();
  EXPECT_FALSE(client->traits().losesNaNInMinMax);
  ASSERT_TRUE(client->compile("module {}"));
  EXPECT_FALSE(isSet());
}

TEST_F(ClientTest, APluginIsNotXlasForBeingCalledCpu) {
  control->platform = "cpu";
  auto client = makeClient();
  EXPECT_EQ(client->traits(), PluginTraits());
  ASSERT_TRUE(client->compile("module {}"));
  EXPECT_EQ(control->compileOptions, "\x1a\x04\x20\x01\x28\x01");
}

TEST_F(ClientTest, ForgetsExecutablesThatNobodyUses) {
  auto client = makeClient();
  ASSERT_TRUE(client->compile("module {}"));
  EXPECT_EQ(callCount("PJRT_LoadedExecutable_Destroy"), 1);
  ASSERT_TRUE(client->compile("module {}"));
  EXPECT_EQ(client->compileCounts().compiled, 2);
}

TEST_F(ClientTest, CompilesTwoProgramsAtOnce) {
  auto client = makeClient();
  MeetingOfCompilations meeting(*control);
  auto first = std::async(std::launch::async, [&] { return client->compile("module @first {}"); });
  auto second = std::async(std::launch::async, [&] { return client->compile("module @second {}"); });
  EXPECT_NE(*first.get(), *second.get());
  EXPECT_EQ(meeting.met, 2) << "one compilation waited for the other's end";
}

TEST_F(ClientTest, CountsWhileItCompiles) {
  auto client = makeClient();
  std::promise<void> isCompiling;
  std::latch release(1);
  control->onCompile = [&] {
    isCompiling.set_value();
    release.wait();
  };
  auto compiled = std::async(std::launch::async, [&] { return client->compile("module {}"); });
  isCompiling.get_future().wait();
  auto counts = std::async(std::launch::async, [&] { return client->compileCounts(); });
  EXPECT_EQ(counts.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  release.count_down();
  EXPECT_EQ(counts.get().compiled, 0);
  EXPECT_TRUE(compiled.get());
  EXPECT_EQ(client->compileCounts().compiled, 1);
  control->onCompile = nullptr;
}

TEST_F(ClientTest, CompilesOnceForAllWhoAsk) {
  auto client = makeClient();
  std::latch asked(4);
  control->onCompile = [&] { asked.wait(); };
  std::vector<std::shared_ptr<const Executable>> executables(4);
  std::vector<std::thread> threads;
  for (auto &executable : executables)
    threads.emplace_back([&] {
      asked.count_down();
      if (auto compiled = client->compile("module {}"))
        executable = *compiled;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(callCount("PJRT_Client_Compile"), 1);
  EXPECT_NE(executables[0], nullptr);
  for (const auto &executable : executables)
    EXPECT_EQ(executable, executables[0]);
  EXPECT_EQ(client->compileCounts().compiled, 1);
  EXPECT_EQ(client->compileCounts().reused, 3);
  control->onCompile = nullptr;
}

TEST_F(ClientTest, CompileErrors) {
  auto client = makeClient();
  expectError(client->compile("module {}", {.device = 9}), ErrorCode::NotFound,
              "[fake] no such device: got 9, expected one of 0, 1");
  const std::pair<const char *, const char *> cases[] = {
      {"PJRT_Client_Compile", "cannot compile the program"},
      {"PJRT_LoadedExecutable_GetExecutable", "cannot inspect the executable"},
      {"PJRT_Executable_NumOutputs", "cannot count the executable's results"},
  };
  for (auto [function, action] : cases) {
    control->failing = function;
    control->errorCode = 3;
    expectError(client->compile("module {}"), ErrorCode::InvalidArgument,
                fmt::format("[fake] {}: {} was told to fail", action, function));
    EXPECT_EQ(control->live, 1) << function; // the client
  }
}

TEST_F(ClientTest, LivesAsLongAsWhatItMade) {
  auto client = makeClient();
  std::vector<float> values = {1, 2};
  auto executable = *client->compile("module {}");
  auto buffer = std::make_unique<Buffer>(*Buffer::fromHost(
      client, {values.data(), makeArrayType(DType::F32, {2}), nullptr}, HostTransfer::Copy));
  client.reset();
  EXPECT_EQ(callCount("PJRT_Client_Destroy"), 0);
  executable.reset();
  EXPECT_EQ(callCount("PJRT_Client_Destroy"), 0);
  buffer.reset();
  EXPECT_EQ(callCount("PJRT_Client_Destroy"), 1);
  EXPECT_EQ(control->calls.back(), "PJRT_Client_Destroy");
}

/// Runs `check` in a forked child, which tells by its exit status whether it held.
template <class Check> bool holdsInChild(Check check) {
  pid_t child = fork();
  if (child == 0)
    _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(ClientTest, RefusesToWorkAfterFork) {
  auto client = makeClient();
  auto executable = *client->compile("module {}");
  std::vector<float> values = {1, 2};
  HostArray array{values.data(), makeArrayType(DType::F32, {2}), nullptr};
  auto buffer = std::make_shared<Buffer>(*Buffer::fromHost(client, array, HostTransfer::Copy));
  pid_t parent = getpid();
  EXPECT_TRUE(holdsInChild([&] {
    auto isRefused = [&](const auto &result, const std::string &subject) {
      std::string expected = fmt::format(
          "[{}] made before fork() and unusable after it, because a fork has not the plugin's threads: "
          "got process {}, expected process {}; start processes with the method 'spawn' instead",
          subject, getpid(), parent);
      return !result && result.error().code == ErrorCode::FailedPrecondition &&
             result.error().message == expected;
    };
    const Buffer *arguments[] = {buffer.get()};
    bool refused =
        isRefused(client->compile("module {}"), "fake") &&
        isRefused(Buffer::fromHost(client, array, HostTransfer::Copy), "fake") &&
        isRefused(executable->execute(arguments), "fake") && isRefused(Buffer::toHost(buffer), "fake") &&
        isRefused(Plugin::load(fakePath()), fakePath()) && isRefused(Client::create(plugin), plugin->path());
    int live = control->live;
    buffer.reset();
    executable.reset();
    client.reset(); // the plugin is left alone: nothing is destroyed
    return refused && control->live == live;
  }));
  EXPECT_TRUE(client->compile("module {}")); // the parent goes on
}

} // namespace
} // namespace torchere::runtime
