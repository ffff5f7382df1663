// Plugins' traits at work: what a plugin gets with and without them, and whether the installed one, XLA's for
// the CPU, still needs what is done for it. Where it does not, a test says which row and which pass can go.
#include "../runtime/cpu_plugin.h"
#include "../runtime/fake.h"

#include "passes/prepare/prepare.h"
#include "session/session.h"
#include "vhlo/portable_artifact.h"

#include <cmath>
#include <cstdlib>
#include <thread>

namespace torchere::session {
namespace {

/// state, x, i -> y, state: x is written into the state, which y is computed from.
std::shared_ptr<artifact::Bundle> makeWriter() {
  static const float zeros[4] = {};
  auto bundle = std::make_shared<artifact::Bundle>();
  artifact::Function function;
  function.entryPoint.name = "forward";
  function.entryPoint.userInputCount = 1;
  function.entryPoint.userOutputCount = 1;
  program::TensorSignature four{DType::F32, {program::SymInt(4)}}, one{DType::F32, {program::SymInt(1)}};
  function.entryPoint.inputs = {{program::InputSource::Buffer, "state", 0, four, false},
                                {program::InputSource::UserInput, "x", 0, one, false}};
  function.entryPoint.outputs = {{program::OutputDestination::Buffer, "", "state", 0, four, false},
                                 {program::OutputDestination::UserOutput, "", "", 0, four, false}};
  function.text = R"(
module {
  func.func public @main(%state: tensor<4xf32>, %x: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<2> : tensor<i64>
    %0 = stablehlo.dynamic_update_slice %state, %x, %c : (tensor<4xf32>, tensor<1xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = stablehlo.atan2 %0, %0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
})";
  bundle->functions.push_back(std::move(function));
  auto storage = std::make_shared<program::Storage>();
  storage->data = reinterpret_cast<const std::byte *>(zeros);
  storage->byteSize = sizeof(zeros);
  bundle->stateDict["state"] = {"state", DType::F32, {4}, {1}, 0, storage};
  return bundle;
}

class XlaFake : public runtime::FakeTest {
protected:
  XlaFake() : FakeTest("fake_plugin_xla") {}
  /// What the plugin of this platform gets.
  std::string programFor(const std::string &platform) {
    control->platform = platform;
    control->outputCount = 2;
    alignas(64) static const float x[] = {1};
    const int64_t shape[] = {1};
    auto session = *Session::create(makeClient(), makeWriter());
    (void)session->memoryStatistics(0,
                                    std::vector<Input>{TensorView{x, DType::F32, shape, {}, "cpu", nullptr}});
    auto module = vhlo::deserialize(control->program);
    EXPECT_TRUE(module) << module.error().text();
    return module->text();
  }
};

TEST_F(XlaFake, XlasCpuPluginGetsWhatItNeeds) {
  std::string text = programFor("cpu");
  EXPECT_NE(text.find("tf.aliasing_output = 0 : i32"), std::string::npos) << text;
  EXPECT_NE(text.find("optimization_barrier"), std::string::npos) << text;
  EXPECT_EQ(text.find("atan2"), std::string::npos) << text;
}

TEST_F(XlaFake, OthersGetTheProgramAsItIs) {
  std::string text = programFor("vendor");
  EXPECT_NE(text.find("tf.aliasing_output = 0 : i32"), std::string::npos) << text; // donation is for all
  EXPECT_EQ(text.find("optimization_barrier"), std::string::npos) << text;
  EXPECT_NE(text.find("atan2"), std::string::npos) << text;
}

/// XLA's plugin, given programs as they are and as prepareFor leaves them.
class Needs : public runtime::CpuPluginTest {
protected:
  /// The same code on every processor. XLA reads this once, when the first client is made.
  Needs() : CpuPluginTest("cpu") { setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX", 1); }

  static std::string prepared(const std::string &text, const PluginTraits &traits) {
    auto module = stablehlo::Module::parse(text);
    EXPECT_TRUE(module) << module.error().text();
    EXPECT_TRUE(passes::prepareFor(*module, {.traits = traits}));
    return module->text();
  }
  std::shared_ptr<const runtime::Executable> compile(const std::string &text) {
    auto executable = client->compile(text);
    EXPECT_TRUE(executable) << executable.error().text();
    return *executable;
  }
  /// The first result of a program of one argument.
  std::vector<float> run(const runtime::Executable &executable, const std::vector<float> &argument) {
    runtime::HostArray array{argument.data(),
                             runtime::makeArrayType(DType::F32, {static_cast<int64_t>(argument.size())}),
                             nullptr};
    auto buffer = runtime::Buffer::fromHost(client, array, runtime::HostTransfer::Copy);
    EXPECT_TRUE(buffer) << buffer.error().text();
    const runtime::Buffer *arguments[] = {&*buffer};
    auto results = executable.execute(arguments);
    EXPECT_TRUE(results) << results.error().text();
    auto host = runtime::Buffer::toHost(std::make_shared<runtime::Buffer>(std::move(results->front())));
    EXPECT_TRUE(host) << host.error().text();
    const auto *data = static_cast<const float *>(host->data);
    return {data, data + argument.size()};
  }
};

TEST_F(Needs, ArcTangentsAsAFormula) {
  const std::string program = R"(
module {
  func.func public @main(%y: tensor<64xf32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<64xf32>
    %0 = stablehlo.atan2 %y, %c : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
})";
  ASSERT_TRUE(client->traits().miscomputesAtan2);
  std::vector<float> y(64);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<float>(i) / 8 - 4;
  auto wrongResults = [&](const std::string &text) {
    std::vector<float> results = run(*compile(text), y);
    int count = 0;
    for (size_t i = 0; i < y.size(); ++i)
      count += std::abs(results[i] - std::atan(y[i])) > 1e-5f;
    return count;
  };
  EXPECT_GT(wrongResults(program), 0)
      << "atan2(y, 1) is right: the trait miscomputesAtan2 and its pass can go";
  EXPECT_EQ(wrongResults(prepared(program, client->traits())), 0);
}

TEST_F(Needs, BarriersBehindDonatedWrites) {
  // A key is written into a cache, whose keys, changed, a query is then multiplied with.
  const std::string program = R"(
module {
  func.func public @main(%cache: tensor<4x512x32xf32> {tf.aliasing_output = 0 : i32}, %key: tensor<4x1x32xf32>, %query: tensor<4x1x32xf32>, %i: tensor<1x1xi64>)
      -> (tensor<4x512x32xf32>, tensor<4x1x512xf32>) {
    %0 = "stablehlo.scatter"(%cache, %i, %key) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2],
        inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      stablehlo.return %new : tensor<f32>
    }) : (tensor<4x512x32xf32>, tensor<1x1xi64>, tensor<4x1x32xf32>) -> tensor<4x512x32xf32>
    %1 = stablehlo.negate %0 : tensor<4x512x32xf32>
    %2 = stablehlo.dot_general %query, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x32xf32>, tensor<4x512x32xf32>) -> tensor<4x1x512xf32>
    return %0, %2 : tensor<4x512x32xf32>, tensor<4x1x512xf32>
  }
})";
  ASSERT_TRUE(client->traits().repeatsFusedWrites);
  const int64_t cache = 4 * 512 * 32 * 4;
  int64_t asItIs = compile(program)->memoryStatistics()->temporaries;
  int64_t withBarrier = compile(prepared(program, client->traits()))->memoryStatistics()->temporaries;
  EXPECT_GE(asItIs - withBarrier, cache)
      << "the cache is not copied: the trait repeatsFusedWrites and its pass can go";
}

TEST_F(Needs, OptionsForOneDevice) {
  ASSERT_EQ(client->traits().deviceCountOption, "cpu_device_count");
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor is one device";
  auto plain = runtime::Client::create(*runtime::Plugin::load(client->plugin().path()));
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_GT((*plain)->devices().size(), 1u)
      << "it makes one device of a processor: the option cpu_device_count can go";
  EXPECT_EQ(client->devices().size(), 1u);
}

} // namespace
} // namespace torchere::session
