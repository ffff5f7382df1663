// Buffer and Executable against the fake plugin: ownership of host memory, results, errors.
#include "fake.h"

#include <cstring>

namespace torchere::runtime {
namespace {

class ExecutableTest : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    client = makeClient();
  }
  void TearDown() override {
    client.reset();
    FakeTest::TearDown();
  }
  Buffer makeBuffer(HostTransfer transfer = HostTransfer::Copy, std::shared_ptr<const void> owner = nullptr) {
    auto buffer = Buffer::fromHost(
        client, {values.data(), makeArrayType(DType::F32, {2, 2}), std::move(owner)}, transfer);
    EXPECT_TRUE(buffer) << buffer.error().text();
    return *std::move(buffer);
  }

  std::shared_ptr<Client> client;
  std::vector<float> values = {1, 2, 3, 4};
};

TEST_F(ExecutableTest, ReturnsResultsByPointer) {
  auto executable = *client->compile("module {}");
  Buffer argument = makeBuffer();
  const Buffer *arguments[] = {&argument};
  const int64_t kept[] = {0};
  for (int round = 0; round < 2; ++round) {
    auto results = executable->execute(arguments, kept);
    ASSERT_TRUE(results) << results.error().text();
    ASSERT_EQ(results->size(), 1u);
    auto result = std::make_shared<const Buffer>(std::move(results->front()));
    EXPECT_EQ(result->type(), (ArrayType{DType::F32, {2, 2}}));
    auto host = Buffer::toHost(result);
    ASSERT_TRUE(host) << host.error().text();
    EXPECT_EQ(host->owner, result);
    EXPECT_EQ(std::memcmp(host->data, values.data(), 16), 0);
  }
  EXPECT_EQ(control->kept, std::vector<int64_t>{0});
  EXPECT_EQ(callCount("PJRT_Buffer_ToHostBuffer"), 0);
  EXPECT_EQ(callCount("PJRT_Buffer_ElementType"), 1); // the types of results are asked for once
}

TEST_F(ExecutableTest, TellsWhatMemoryItTakes) {
  auto executable = *client->compile("module {}");
  auto statistics = executable->memoryStatistics();
  ASSERT_TRUE(statistics) << statistics.error().text();
  EXPECT_EQ(statistics->arguments, 1);
  EXPECT_EQ(statistics->results, 2);
  EXPECT_EQ(statistics->aliases, 3);
  EXPECT_EQ(statistics->temporaries, 4);
  EXPECT_EQ(statistics->code, 5);
  control->failing = "PJRT_Executable_GetCompiledMemoryStats";
  expectError(
      executable->memoryStatistics(), ErrorCode::Internal,
      "[fake] cannot tell what memory the executable takes: PJRT_Executable_GetCompiledMemoryStats was "
      "told to fail");
}

TEST_F(ExecutableTest, PluginsWithAnOlderTableDoNotTellWhatMemoryItTakes) {
  auto old = Plugin::load(fakePath("fake_plugin_old"));
  ASSERT_TRUE(old) << old.error().text();
  auto oldClient = Client::create(*old);
  ASSERT_TRUE(oldClient) << oldClient.error().text();
  auto executable = (*oldClient)->compile("module {}");
  ASSERT_TRUE(executable) << executable.error().text();
  expectError((*executable)->memoryStatistics(), ErrorCode::Unimplemented,
              "[fake] the plugin does not tell what memory executables take: it has no "
              "PJRT_Executable_GetCompiledMemoryStats");
}

TEST_F(ExecutableTest, CopiesResultsThatTheHostCannotRead) {
  for (bool onCpu : {false, true}) {
    control->onCpu = onCpu;
    control->columnMajor = onCpu;
    auto host = Buffer::toHost(std::make_shared<const Buffer>(makeBuffer()));
    ASSERT_TRUE(host) << host.error().text();
    EXPECT_EQ(std::memcmp(host->data, values.data(), 16), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(host->data) % 64, 0u);
  }
  EXPECT_EQ(callCount("PJRT_Buffer_ToHostBuffer"), 2);
}

TEST_F(ExecutableTest, KeepsHostMemoryUntilThePluginIsDone) {
  auto owner = std::make_shared<int>(0);
  std::weak_ptr<int> watch = owner;
  {
    Buffer buffer = makeBuffer(HostTransfer::ZeroCopy, std::move(owner));
    Buffer moved = std::move(buffer);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());

  control->holdsHostMemory = true;
  owner = std::make_shared<int>(0);
  watch = owner;
  {
    Buffer buffer = makeBuffer(HostTransfer::ZeroCopy, std::move(owner));
  }
  EXPECT_FALSE(watch.expired()); // the buffer is gone, but the plugin still reads
  release();
  EXPECT_TRUE(watch.expired());
}

TEST_F(ExecutableTest, CopiedMemoryIsNotKept) {
  auto owner = std::make_shared<int>(0);
  std::weak_ptr<int> watch = owner;
  Buffer buffer = makeBuffer(HostTransfer::Copy, std::move(owner));
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(buffer.isDeleted());
}

TEST_F(ExecutableTest, PassesOnErrorsOfExecution) {
  auto executable = *client->compile("module {}");
  Buffer argument = makeBuffer();
  const Buffer *arguments[] = {&argument};
  control->failing = "PJRT_LoadedExecutable_Execute";
  expectError(executable->execute(arguments), ErrorCode::Internal,
              "[fake] cannot execute the program: PJRT_LoadedExecutable_Execute was told to fail");
  control->failing.clear();
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  expectError(executable->execute(arguments), ErrorCode::ResourceExhausted,
              "[fake] executing the program failed: PJRT_LoadedExecutable_Execute went wrong");
  control->failingEvent.clear();
  control->resultType = 21; // a 4-bit integer
  expectError(executable->execute(arguments), ErrorCode::Unimplemented,
              "[fake] a result of an element type that torch has not: got PJRT type 21");
}

TEST_F(ExecutableTest, PassesOnErrorsOfResultTypes) {
  const std::pair<const char *, const char *> cases[] = {
      {"PJRT_Buffer_ElementType", "cannot get a buffer's element type"},
      {"PJRT_Buffer_Dimensions", "cannot get a buffer's dimensions"},
  };
  Buffer argument = makeBuffer();
  const Buffer *arguments[] = {&argument};
  for (auto [function, action] : cases) {
    auto executable = *client->compile("module {}");
    control->failing = function;
    expectError(executable->execute(arguments), ErrorCode::Internal,
                fmt::format("[fake] {}: {} was told to fail", action, function));
    control->failing.clear();
  }
}

TEST_F(ExecutableTest, PassesOnErrorsOfBuffers) {
  control->failing = "PJRT_Client_BufferFromHostBuffer";
  expectError(
      Buffer::fromHost(client, {values.data(), makeArrayType(DType::F32, {2}), nullptr}, HostTransfer::Copy),
      ErrorCode::Internal,
      "[fake] cannot make a buffer from host memory: PJRT_Client_BufferFromHostBuffer was told to fail");
  control->failing.clear();
  auto buffer = std::make_shared<const Buffer>(makeBuffer());
  control->failing = "PJRT_Buffer_ReadyEvent";
  expectError(Buffer::toHost(buffer), ErrorCode::Internal,
              "[fake] cannot wait for a buffer: PJRT_Buffer_ReadyEvent was told to fail");
  control->failing = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer";
  expectError(
      Buffer::toHost(buffer), ErrorCode::Internal,
      "[fake] cannot get a buffer's address: PJRT_Buffer_OpaqueDeviceMemoryDataPointer was told to fail");
  control->failing = "PJRT_Buffer_ToHostBuffer";
  control->onCpu = false;
  expectError(Buffer::toHost(buffer), ErrorCode::Internal,
              "[fake] cannot copy a buffer to the host: PJRT_Buffer_ToHostBuffer was told to fail");
  control->failing.clear();
  control->failingEvent = "PJRT_Buffer_ReadyEvent";
  expectError(Buffer::toHost(buffer), ErrorCode::ResourceExhausted,
              "[fake] computing a buffer failed: PJRT_Buffer_ReadyEvent went wrong");
  control->failingEvent = "PJRT_Buffer_ToHostBuffer";
  expectError(Buffer::toHost(buffer), ErrorCode::ResourceExhausted,
              "[fake] copying a buffer to the host failed: PJRT_Buffer_ToHostBuffer went wrong");
}

TEST_F(ExecutableTest, ChecksArraysBeforeThePluginSeesThem) {
  auto refuse = [&](ArrayType type) {
    return Buffer::fromHost(client, {values.data(), std::make_shared<ArrayType>(type), nullptr},
                            HostTransfer::Copy);
  };
  expectError(refuse({DType::C32, {2}}), ErrorCode::Unimplemented,
              "[fake] no such element type in PJRT: got complex32");
  expectError(refuse({DType::F32, {2, -1}}), ErrorCode::InvalidArgument,
              "[array] negative dimension: got -1");
  expectError(refuse({DType::F32, {int64_t{1} << 40, int64_t{1} << 40}}), ErrorCode::InvalidArgument,
              "[array] too large: its size in bytes does not fit 63 bits");
  EXPECT_EQ(callCount("PJRT_Client_BufferFromHostBuffer"), 0);
}

} // namespace
} // namespace torchere::runtime
