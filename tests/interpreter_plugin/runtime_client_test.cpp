// Our own client on the interpreter's plugin, which is linked in.
#include "interpreter_plugin/api.h"
#include "runtime/executable.h"

#include <gtest/gtest.h>

namespace torchere::runtime {
namespace {

class InterpreterClient : public testing::Test {
protected:
  void SetUp() override {
    auto plugin = Plugin::wrap(interpreter_plugin::api(), "interpreter");
    ASSERT_TRUE(plugin) << plugin.error().text();
    auto created = Client::create(*plugin, {{"device_count", int64_t{2}}});
    ASSERT_TRUE(created) << created.error().text();
    client = *created;
  }
  Buffer floats(const std::vector<float> &values, const Device *device = nullptr) {
    HostArray array{values.data(), makeArrayType(DType::F32, {static_cast<int64_t>(values.size())}), nullptr};
    auto buffer = Buffer::fromHost(client, array, HostTransfer::Copy, device);
    EXPECT_TRUE(buffer) << buffer.error().text();
    return *std::move(buffer);
  }
  std::shared_ptr<Client> client;
};

constexpr const char *addingInPlace = R"(
func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

TEST_F(InterpreterClient, RunsOnTheDeviceThatIsAskedFor) {
  EXPECT_EQ(client->platformName(), "interpreter");
  ASSERT_EQ(client->devices().size(), 2u);
  EXPECT_EQ(client->plugin().stablehloVersion(), (std::array<int64_t, 3>{1, 20, 0}));
  CompileOptions options;
  options.device = 1;
  auto executable = client->compile(addingInPlace, options);
  ASSERT_TRUE(executable) << executable.error().text();
  Buffer x = floats({1, 2}, &client->devices()[1]), y = floats({10, 20}, &client->devices()[1]);
  const Buffer *arguments[] = {&x, &y};
  auto results = (*executable)->execute(arguments);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_TRUE(x.isDeleted());
  EXPECT_FALSE(y.isDeleted());
  auto sum = Buffer::toHost(std::make_shared<Buffer>(std::move(results->front())));
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_EQ(
      std::vector<float>(static_cast<const float *>(sum->data), static_cast<const float *>(sum->data) + 2),
      (std::vector<float>{11, 22}));
  Buffer elsewhere = floats({1, 2}, &client->devices()[0]);
  const Buffer *wrong[] = {&elsewhere, &y};
  auto refused = (*executable)->execute(wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "[interpreter] cannot execute the program: [main] argument 0: got a buffer on "
            "device 0, expected one on device 1");
}

TEST_F(InterpreterClient, TellsWhatMemoryAProgramTakes) {
  auto executable = client->compile(addingInPlace);
  ASSERT_TRUE(executable) << executable.error().text();
  auto memory = (*executable)->memoryStatistics();
  ASSERT_TRUE(memory) << memory.error().text();
  EXPECT_EQ(memory->arguments, 16);
  EXPECT_EQ(memory->results, 8);
  EXPECT_EQ(memory->aliases, 8);
}

} // namespace
} // namespace torchere::runtime
