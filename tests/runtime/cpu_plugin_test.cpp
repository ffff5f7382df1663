// The client against the CPU's plugins, the engine and XLA's: zero copy, donation, errors, threads, devices.
#include "cpu_plugin.h"

#include "fake.h"
#include "pjrt/element_type.h"

#include <cmath>
#include <cstring>
#include <thread>

namespace torchere::runtime {
namespace {

constexpr const char *addOne = R"(
module @add_one {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
)";
constexpr const char *addOneInPlace = R"(
module @add_one {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
)";

struct Floats {
  alignas(64) float values[4];
};

class Cpu : public CpuPluginTest {
protected:
  Buffer makeBuffer(const Floats &floats, HostTransfer transfer,
                    std::shared_ptr<const void> owner = nullptr) {
    auto buffer =
        Buffer::fromHost(client, {floats.values, makeArrayType(DType::F32, {4}), std::move(owner)}, transfer);
    EXPECT_TRUE(buffer) << buffer.error().text();
    return *std::move(buffer);
  }
  static std::vector<float> read(Buffer buffer) {
    auto host = Buffer::toHost(std::make_shared<const Buffer>(std::move(buffer)));
    EXPECT_TRUE(host) << host.error().text();
    const auto *data = static_cast<const float *>(host->data);
    return {data, data + 4};
  }
  static std::vector<float> run(const Executable &executable, const Buffer &argument) {
    const Buffer *arguments[] = {&argument};
    auto results = executable.execute(arguments);
    EXPECT_TRUE(results) << results.error().text();
    return read(std::move(results->front()));
  }
};

TEST_F(Cpu, SaysWhatItIs) {
  EXPECT_EQ(client->platformName(), pluginName);
  EXPECT_EQ(client->plugin().majorVersion(), 0);
  ASSERT_TRUE(client->plugin().stablehloVersion());
  EXPECT_GE((*client->plugin().stablehloVersion())[0], 1);
  EXPECT_EQ(client->devices().front().kind, pluginName);
}

TEST_F(Cpu, RunsAProgram) {
  auto executable = client->compile(addOne);
  ASSERT_TRUE(executable) << executable.error().text();
  Floats input = {{1, 2, 3, 4}};
  Buffer argument = makeBuffer(input, HostTransfer::ZeroCopy);
  EXPECT_EQ(run(**executable, argument), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(Cpu, MaximumKeepsNaN) {
  auto executable = client->compile(R"(
module @clamp {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
)");
  ASSERT_TRUE(executable) << executable.error().text();
  Floats input = {{std::nanf(""), 0, 2, std::nanf("")}};
  Buffer argument = makeBuffer(input, HostTransfer::ZeroCopy);
  std::vector<float> result = run(**executable, argument);
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 1);
  EXPECT_EQ(result[2], 2);
  EXPECT_TRUE(std::isnan(result[3]));
}

TEST_F(Cpu, ReadsAlignedHostMemoryInPlace) {
  auto executable = *client->compile(addOne);
  Floats input = {{1, 2, 3, 4}};
  Buffer zeroCopy = makeBuffer(input, HostTransfer::ZeroCopy);
  Buffer copy = makeBuffer(input, HostTransfer::Copy);
  EXPECT_EQ(run(*executable, zeroCopy)[0], 2);
  input.values[0] = 10; // seen by the one, not by the other
  EXPECT_EQ(run(*executable, zeroCopy)[0], 11);
  EXPECT_EQ(run(*executable, copy)[0], 2);
}

TEST_F(Cpu, KeepsHostMemoryWhileTheBufferLives) {
  auto input = std::make_shared<Floats>(Floats{{1, 2, 3, 4}});
  std::weak_ptr<Floats> watch = input;
  {
    const Floats &floats = *input;
    Buffer buffer = makeBuffer(floats, HostTransfer::ZeroCopy, std::move(input));
    EXPECT_EQ(run(**client->compile(addOne), buffer)[3], 5);
    EXPECT_FALSE(watch.expired());
  }
  for (int i = 0; i < 1000 && !watch.expired(); ++i) // the plugin may take a moment
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(watch.expired());
}

TEST_F(Cpu, ResultsAreReadByPointer) {
  Floats input = {{1, 2, 3, 4}};
  auto executable = *client->compile(addOne);
  Buffer argument = makeBuffer(input, HostTransfer::ZeroCopy);
  const Buffer *arguments[] = {&argument};
  auto result = std::make_shared<const Buffer>(std::move(executable->execute(arguments)->front()));
  auto host = *Buffer::toHost(result);
  EXPECT_EQ(host.owner, result); // a copy would own itself
  auto again = *Buffer::toHost(result);
  EXPECT_EQ(host.data, again.data);
}

TEST_F(Cpu, DonatesWhatTheProgramMarks) {
  auto executable = client->compile(addOneInPlace);
  ASSERT_TRUE(executable) << executable.error().text();
  Floats input = {{1, 2, 3, 4}};
  Buffer argument = makeBuffer(input, HostTransfer::Copy);
  const Buffer *arguments[] = {&argument};
  const int64_t kept[] = {0};
  EXPECT_EQ(read(std::move((*executable)->execute(arguments, kept)->front()))[0], 2);
  EXPECT_FALSE(argument.isDeleted());
  EXPECT_EQ(read(std::move((*executable)->execute(arguments)->front()))[0], 2);
  EXPECT_TRUE(argument.isDeleted());
  EXPECT_EQ(input.values[0], 1);
  auto again = (*executable)->execute(arguments);
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().message.starts_with(fmt::format("[{}] cannot execute the program: ", pluginName)))
      << again.error().message;
}

TEST_F(Cpu, TellsWhatMemoryAnExecutionTakes) {
  auto statistics = (*client->compile(addOneInPlace))->memoryStatistics();
  ASSERT_TRUE(statistics) << statistics.error().text();
  EXPECT_EQ(statistics->arguments, 16);
  EXPECT_EQ(statistics->results, 16);
  EXPECT_EQ(statistics->aliases, 16);
  EXPECT_EQ(statistics->temporaries, 0);
  EXPECT_EQ((*client->compile(addOne))->memoryStatistics()->aliases, 0);
}

TEST_F(Cpu, RefusesAModuleThatDoesNotParse) {
  auto result = client->compile("module { func.func @main() { nonsense } }");
  ASSERT_FALSE(result);
  EXPECT_TRUE(
      result.error().message.starts_with(fmt::format("[{}] cannot compile the program: ", pluginName)))
      << result.error().message;
}

TEST_F(Cpu, EveryElementTypeSurvivesTheTrip) {
  alignas(64) char bytes[32];
  for (int i = 0; i < 32; ++i)
    bytes[i] = static_cast<char>(i % 2); // a valid bool too
  for (int i = 0; i <= static_cast<int>(DType::F8E8M0FNU); ++i) {
    auto dtype = static_cast<DType>(i);
    if (!pjrt::bufferTypeOf(dtype))
      continue;
    auto buffer =
        Buffer::fromHost(client, {bytes, makeArrayType(dtype, {1, 2}), nullptr}, HostTransfer::Copy);
    ASSERT_TRUE(buffer) << dtypeInfo(dtype).torchName << ": " << buffer.error().text();
    auto host = Buffer::toHost(std::make_shared<const Buffer>(*std::move(buffer)));
    ASSERT_TRUE(host) << host.error().text();
    EXPECT_EQ(std::memcmp(host->data, bytes, 2 * byteSize(dtype)), 0) << dtypeInfo(dtype).torchName;
  }
}

TEST_F(Cpu, ArraysWithoutElementsNeedNoAddress) {
  for (HostTransfer transfer : {HostTransfer::Copy, HostTransfer::ZeroCopy}) {
    auto buffer = Buffer::fromHost(client, {nullptr, makeArrayType(DType::F32, {0, 3}), nullptr}, transfer);
    ASSERT_TRUE(buffer) << buffer.error().text();
    auto host = Buffer::toHost(std::make_shared<const Buffer>(*std::move(buffer)));
    ASSERT_TRUE(host) << host.error().text();
    EXPECT_EQ(host->type->shape, (std::vector<int64_t>{0, 3}));
  }
}

TEST_F(Cpu, FourThreadsExecuteAtOnce) {
  auto executable = *client->compile(addOne);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) {
        Floats input = {{static_cast<float>(t), static_cast<float>(round), 0, 0}};
        Buffer argument = makeBuffer(input, HostTransfer::ZeroCopy);
        std::vector<float> result = run(*executable, argument);
        wrong[t] += result[0] != t + 1 || result[1] != round + 1;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(Cpu, MakesAsManyDevicesAsAsked) {
  auto three = open(devices(3));
  ASSERT_TRUE(three) << three.error().text();
  ASSERT_EQ((*three)->devices().size(), 3u);
  const Device &last = (*three)->devices()[2];
  auto executable = (*three)->compile(addOne, {.device = last.id});
  ASSERT_TRUE(executable) << executable.error().text();
  Floats input = {{1, 2, 3, 4}};
  auto argument = Buffer::fromHost(*three, {input.values, makeArrayType(DType::F32, {4}), nullptr},
                                   HostTransfer::ZeroCopy, &last);
  ASSERT_TRUE(argument) << argument.error().text();
  EXPECT_EQ(run(**executable, *argument)[2], 4);
}

} // namespace
} // namespace torchere::runtime
