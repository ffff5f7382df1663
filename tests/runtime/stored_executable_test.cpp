// Client and the cache on disk: what a second client finds, what its key depends on, and plugins that cannot
// store.
#include "../base/temporary_directory.h"
#include "base/library_identity.h"
#include "cpu_plugin.h"
#include "fake.h"
#include "runtime/compile_cache.h"
#include "runtime/machine_identity.h"

#include <fstream>

namespace torchere::runtime {
namespace {

class StoredExecutable : public FakeTest {
protected:
  std::shared_ptr<Client> open(const ClientOptions &options = {}) {
    auto client = Client::create(plugin, options, std::make_shared<CompileCache>(directory.path));
    EXPECT_TRUE(client) << client.error().text();
    return *client;
  }
  /// Whether a new client, as another process has one, finds the executable on disk.
  bool finds(std::string_view program, const CompileOptions &options = {},
             const ClientOptions &clientOptions = {}) {
    auto client = open(clientOptions);
    EXPECT_TRUE(client->compile(program, options));
    return client->compileCounts().loaded == 1;
  }
  uint64_t entryCount() const { return CompileCache(directory.path).contents()->entryCount; }

  TemporaryDirectory directory;
};

TEST_F(StoredExecutable, AnotherClientLoadsIt) {
  control->stored = std::string("bytes \0 of it", 13);
  auto first = open();
  auto executable = first->compile("module {}");
  ASSERT_TRUE(executable) << executable.error().text();
  EXPECT_EQ(callCount("PJRT_Executable_Serialize"), 1);
  auto second = open();
  auto loaded = second->compile("module {}");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(control->loaded, control->stored);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), 1);
  EXPECT_EQ(second->compileCounts().compiled, 0);
  EXPECT_EQ(second->compileCounts().loaded, 1);
  EXPECT_EQ(*second->compile("module {}"), *loaded); // from memory
  EXPECT_EQ(second->compileCounts().reused, 1);
}

TEST_F(StoredExecutable, IsFoundByAllThatItDependsOn) {
  EXPECT_FALSE(finds("module {}"));
  EXPECT_TRUE(finds("module {}"));
  EXPECT_FALSE(finds("module { }"));
  EXPECT_FALSE(finds("module {}", {.device = 1}));
  EXPECT_TRUE(finds("module {}", {.device = 1}));
  EXPECT_FALSE(finds("module {}", {.device = {}, .switches = {{"fast", true}}}));
  EXPECT_FALSE(finds("module {}", {.device = {}, .switches = {{"fast", false}}}));
  EXPECT_FALSE(finds("module {}", {}, {{"threads", int64_t{1}}}));
  EXPECT_FALSE(finds("module {}", {}, {{"threads", int64_t{2}}}));
  EXPECT_FALSE(finds("module {}", {}, {{"threads", true}}));
  const char *flags = std::getenv("XLA_FLAGS");
  std::string old = flags ? flags : "";
  ::setenv("XLA_FLAGS", "--some=1", 1);
  EXPECT_FALSE(finds("module {}"));
  EXPECT_TRUE(finds("module {}"));
  flags ? ::setenv("XLA_FLAGS", old.c_str(), 1) : ::unsetenv("XLA_FLAGS");
  EXPECT_TRUE(finds("module {}"));
}

TEST_F(StoredExecutable, TheProgramIsMadeOnlyWhenItIsNeeded) {
  int made = 0;
  auto compile = [&](const std::string &identity) {
    auto executable = open()->compile(ProgramSource{identity, [&]() -> Result<std::string> {
                                                      ++made;
                                                      return "module @" + identity + " {}";
                                                    }});
    EXPECT_TRUE(executable) << executable.error().text();
  };
  compile("a");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(control->program, "module @a {}");
  compile("a");
  EXPECT_EQ(made, 1);
  compile("b");
  EXPECT_EQ(made, 2);
  auto failing = open()->compile(ProgramSource{"c", [] { return invalidArgument("[c] no program"); }});
  expectError(failing, ErrorCode::InvalidArgument, "[c] no program");
  EXPECT_EQ(entryCount(), 2u);
}

TEST_F(StoredExecutable, WhatThePluginRefusesIsCompiledAgain) {
  EXPECT_FALSE(finds("module {}"));
  control->failing = "PJRT_Executable_DeserializeAndLoad";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(finds("module {}"));
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "torchere warning [cache] removed an entry that the plugin refuses: [fake] cannot load the executable: "
      "PJRT_Executable_DeserializeAndLoad was told to fail\n");
  control->failing.clear();
  EXPECT_EQ(callCount("PJRT_Client_Compile"), 2);
  EXPECT_TRUE(finds("module {}")); // stored again
}

TEST_F(StoredExecutable, PluginsThatCannotStore) {
  control->failing = "PJRT_Executable_Serialize";
  EXPECT_FALSE(finds("module {}"));
  EXPECT_EQ(entryCount(), 0u);
  expectError((*open()->compile("module {}"))->serialize(), ErrorCode::Internal,
              "[fake] cannot store the executable: PJRT_Executable_Serialize was told to fail");
  auto unable = Plugin::load(fakePath("fake_plugin_unstored"));
  ASSERT_TRUE(unable) << unable.error().text();
  auto client = Client::create(*unable, {}, std::make_shared<CompileCache>(directory.path));
  auto executable = (*client)->compile("module {}");
  ASSERT_TRUE(executable) << executable.error().text();
  expectError((*executable)->serialize(), ErrorCode::Unimplemented,
              "[fake] the plugin cannot store executables: it has no PJRT_Executable_Serialize");
  EXPECT_EQ(entryCount(), 0u);
}

TEST_F(StoredExecutable, BuildsOfAPluginAreToldApart) {
  std::string identity = plugin->identity();
  EXPECT_FALSE(identity.empty());
  EXPECT_NE(identity, (*Plugin::load(fakePath("fake_plugin_unstored")))->identity());
  EXPECT_EQ(identity, (*Plugin::load(fakePath()))->identity());
  int onTheStack = 0;
  EXPECT_EQ(libraryIdentity(&onTheStack), "");
  static const int inThisProgram = 0;
  EXPECT_NE(libraryIdentity(&inThisProgram), "");
  EXPECT_EQ(processorIdentity(), processorIdentity());
  EXPECT_NE(processorIdentity().find(" processors\n"), std::string::npos);
}

constexpr const char *convolution = R"(
module @net {
  func.func public @main(%state: tensor<4x8x16x16xf32> {tf.aliasing_output = 0 : i32}, %w: tensor<8x8x3x3xf32>) -> tensor<4x8x16x16xf32> {
    %0 = stablehlo.convolution(%state, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<4x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x16x16xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8x16x16xf32>
    return %1 : tensor<4x8x16x16xf32>
  }
}
)";

class CpuStoredExecutable : public CpuPluginTest {
protected:
  /// Of so many devices.
  std::shared_ptr<Client> open(int64_t count) {
    ClientOptions options = devices(count);
    options.emplace("asynchronous", false);
    auto opened = CpuPluginTest::open(std::move(options), std::make_shared<CompileCache>(directory.path));
    EXPECT_TRUE(opened) << opened.error().text();
    return *opened;
  }
  static std::shared_ptr<Buffer> fill(const std::shared_ptr<Client> &client, std::vector<int64_t> shape,
                                      const Device *device = nullptr) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<size_t>(size);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % 17) / 50;
    auto buffer =
        Buffer::fromHost(client, {values.data(), makeArrayType(DType::F32, std::move(shape)), nullptr},
                         HostTransfer::Copy, device);
    EXPECT_TRUE(buffer) << buffer.error().text();
    return std::make_shared<Buffer>(*std::move(buffer));
  }
  static HostArray hostOf(const std::shared_ptr<Buffer> &buffer) {
    auto array = Buffer::toHost(buffer);
    EXPECT_TRUE(array) << array.error().text();
    return *array;
  }

  TemporaryDirectory directory;
};

TEST_F(CpuStoredExecutable, ComputesTheSameAndStillDonates) {
  std::vector<float> results[2];
  for (int round = 0; round < 2; ++round) {
    auto opened = open(1);
    auto executable = opened->compile(convolution);
    ASSERT_TRUE(executable) << executable.error().text();
    EXPECT_EQ(opened->compileCounts().loaded, round);
    auto state = fill(opened, {4, 8, 16, 16}), w = fill(opened, {8, 8, 3, 3});
    const void *before = hostOf(state).data;
    const Buffer *arguments[] = {state.get(), w.get()};
    auto outputs = (*executable)->execute(arguments);
    ASSERT_TRUE(outputs) << outputs.error().text();
    EXPECT_TRUE(state->isDeleted());
    HostArray result = hostOf(std::make_shared<Buffer>(std::move(outputs->front())));
    EXPECT_EQ(result.data, before); // in place
    const auto *values = static_cast<const float *>(result.data);
    results[round].assign(values, values + 4 * 8 * 16 * 16);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(CpuStoredExecutable, IsLoadedOnItsDevice) {
  for (int round = 0; round < 2; ++round) {
    auto opened = open(3);
    const Device &last = opened->devices()[2];
    auto executable = opened->compile(convolution, {.device = last.id});
    ASSERT_TRUE(executable) << executable.error().text();
    EXPECT_EQ(opened->compileCounts().loaded, round);
    auto state = fill(opened, {4, 8, 16, 16}, &last), w = fill(opened, {8, 8, 3, 3}, &last);
    const Buffer *arguments[] = {state.get(), w.get()};
    auto outputs = (*executable)->execute(arguments);
    ASSERT_TRUE(outputs) << outputs.error().text();
  }
}

TEST_F(CpuStoredExecutable, BytesThatAreNoExecutableAreRefused) {
  ASSERT_TRUE(open(1)->compile(convolution));
  // A whole entry, with a digest that fits, whose executable the plugin cannot read.
  for (const auto &file : std::filesystem::directory_iterator(directory.path)) {
    std::string name = file.path().filename().string();
    CacheKey key;
    for (size_t i = 0; i < key.size(); ++i)
      key[i] = static_cast<uint8_t>(std::stoi(name.substr(2 * i, 2), nullptr, 16));
    directory.put(name, makeCacheEntry(key, "no executable"));
  }
  testing::internal::CaptureStderr();
  auto opened = open(1);
  auto executable = opened->compile(convolution);
  std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(executable) << executable.error().text();
  EXPECT_EQ(opened->compileCounts().compiled, 1);
  EXPECT_NE(log.find(fmt::format(
                "removed an entry that the plugin refuses: [{}] cannot load the executable: ", pluginName)),
            std::string::npos)
      << log;
}

} // namespace
} // namespace torchere::runtime
