// Session on the CPU's plugins and the interpreter's: weights, constants, state, dynamic shapes, mutations,
// threads, errors.
#include "session/session.h"

#include "../runtime/cpu_plugin.h"
#include "function_builder.h"

#include <array>
#include <deque>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace torchere::session {
namespace {

using program::Constant;
using program::InputSource;
using program::OutputDestination;

/// y = relu(x @ w + b), with w read transposed from its storage.
artifact::Bundle makeLinear() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("forward")
                                 .input(InputSource::Parameter, "w", {"3", "2"})
                                 .input(InputSource::Constant, "b", {"2"})
                                 .input(InputSource::UserInput, "x", {"2", "3"})
                                 .output(OutputDestination::UserOutput, "", {"2", "2"})
                                 .build(R"(
module {
  func.func public @main(%w: tensor<3x2xf32>, %b: tensor<2xf32>, %x: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x2xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<2x2xf32>
    %4 = stablehlo.maximum %2, %3 : tensor<2x2xf32>
    return %4 : tensor<2x2xf32>
  }
})"));
  bundle.stateDict["w"] = makeWeight("w", {3, 2}, {1, 3}, makeStorage({1, 2, 3, 10, 20, 30}));
  bundle.constants.push_back(makeWeight("b", {2}, {1}, makeStorage({-100, 0.5})));
  return bundle;
}

/// count += x; returns the new count. A second function only reads it.
artifact::Bundle makeCounter() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("add")
                                 .input(InputSource::Buffer, "count", {"2"})
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::Buffer, "count", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %count, %x : tensor<2xf32>
    return %0, %0 : tensor<2xf32>, tensor<2xf32>
  }
})"));
  bundle.functions.push_back(FunctionBuilder("peek")
                                 .input(InputSource::Buffer, "count", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %count : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})"));
  bundle.stateDict["count"] = makeWeight("count", {2}, {1}, makeStorage({10, 20}));
  bundle.stateDict["other"] = makeWeight("other", {2, 2}, {1, 2}, makeStorage({1, 2, 3, 4}));
  return bundle;
}

/// y = x * w for x of [batch, 2]; batch from 1 to 8.
artifact::Bundle makeDynamic() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("forward")
                                 .input(InputSource::Parameter, "w", {"2"})
                                 .input(InputSource::UserInput, "x", {"batch", "2"})
                                 .output(OutputDestination::UserOutput, "", {"batch", "2"})
                                 .range("batch", 1, 8)
                                 .build(R"(
module {
  func.func public @main(%w: tensor<2xf32>, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.constant dense<2> : tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %w, %3, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %5 = stablehlo.multiply %x, %4 : tensor<?x2xf32>
    return %5 : tensor<?x2xf32>
  }
})"));
  bundle.stateDict["w"] = makeWeight("w", {2}, {1}, makeStorage({3, 5}));
  return bundle;
}

class SessionTest : public runtime::CpuPluginTest {
protected:
  std::shared_ptr<Session> open(artifact::Bundle contents) {
    bundle = std::make_shared<artifact::Bundle>(std::move(contents));
    auto session = Session::create(client, bundle);
    EXPECT_TRUE(session) << session.error().text();
    return *session;
  }
  /// A tensor in memory of this test.
  TensorView tensor(std::vector<int64_t> shape, std::vector<float> values) {
    shapes.push_back(std::move(shape));
    auto storage = makeStorage(std::move(values));
    return {storage->data, DType::F32, shapes.back(), {}, "cpu", storage->owner};
  }
  std::vector<float> call(Session &session, size_t function, std::vector<Input> inputs) {
    auto result = session.call(function, inputs);
    EXPECT_TRUE(result) << result.error().text();
    return result && !result->outputs.empty() ? read(result->outputs.front().array()) : std::vector<float>();
  }
  void expectError(Session &session, std::vector<Input> inputs, const std::string &message) {
    auto result = session.call(0, inputs);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, message);
  }
  void expectCreateError(artifact::Bundle contents, ErrorCode code, const std::string &message) {
    auto session = Session::create(client, std::make_shared<artifact::Bundle>(std::move(contents)));
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, code);
    EXPECT_EQ(session.error().message, message);
  }

  std::shared_ptr<artifact::Bundle> bundle;
  std::deque<std::vector<int64_t>> shapes;
};

TEST_F(SessionTest, CallsAProgramWithWeightsAndConstants) {
  auto session = open(makeLinear());
  EXPECT_EQ(session->functionCount(), 1u);
  auto result = session->call(0, std::vector<Input>{tensor({2, 3}, {1, 1, 1, 0, 2, 40})});
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->outputs.size(), 1u);
  EXPECT_EQ(result->outputs[0].position, 0);
  EXPECT_EQ(*result->outputs[0].array().type, (runtime::ArrayType{DType::F32, {2, 2}}));
  EXPECT_EQ(read(result->outputs[0].array()), (std::vector<float>{0, 60.5, 24, 1240.5}));
  EXPECT_TRUE(result->mutations.empty());
  EXPECT_TRUE(session->stateNames().empty());
}

TEST_F(SessionTest, StridedInputsAreMadeDense) {
  auto session = open(makeLinear());
  TensorView transposed = tensor({2, 3}, {1, 0, 1, 2, 1, 40});
  const int64_t strides[] = {1, 2};
  transposed.strides = strides;
  EXPECT_EQ(call(*session, 0, {transposed}), (std::vector<float>{0, 60.5, 24, 1240.5}));
}

TEST_F(SessionTest, WeightsAreReadWhereTheyLie) {
  artifact::Bundle contents = makeLinear();
  contents.stateDict["w"] = makeWeight("w", {3, 2}, {2, 1}, makeStorage({1, 10, 2, 20, 3, 30}));
  auto session = open(std::move(contents));
  TensorView x = tensor({2, 3}, {1, 1, 1, 0, 2, 40});
  EXPECT_EQ(call(*session, 0, {x})[1], 60.5);
  // No copy was made of the constant, and none of the weight but for what the engine packs for its products.
  valuesOf(bundle->constants[0])[1] = 1000.5;
  EXPECT_EQ(call(*session, 0, {x})[1], 1060.5);
  if (pluginName == "torchere_cpu")
    return;
  valuesOf(bundle->stateDict["w"])[1] = 1010;
  EXPECT_EQ(call(*session, 0, {x})[1], 2060.5);
}

TEST_F(SessionTest, ResultsOutliveTheSession) {
  auto session = open(makeLinear());
  auto result = session->call(0, std::vector<Input>{tensor({2, 3}, {1, 1, 1, 0, 2, 40})});
  session.reset();
  bundle.reset();
  EXPECT_EQ(read(result->outputs[0].array())[1], 60.5);
}

TEST_F(SessionTest, ChecksBeforeThePluginSees) {
  auto session = open(makeLinear());
  expectError(*session, {}, "[forward] wrong number of inputs: got 0, expected 1 (x)");
  expectError(*session, {tensor({2, 2}, {1, 2, 3, 4})}, "[x] wrong size of dimension 1: got 2, expected 3");
  TensorView x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  x.dtype = DType::I32; // of equal size: a plugin would take it
  expectError(*session, {x}, "[x] wrong dtype: got int32, expected float32");
  EXPECT_EQ(session->counts(0).calls, 0);
}

TEST_F(SessionTest, FindsFunctionsByName) {
  auto session = open(makeCounter());
  EXPECT_EQ(*session->findFunction("peek"), 1u);
  EXPECT_EQ(session->entryPoint(1).name, "peek");
  auto missing = session->findFunction("forward");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_EQ(missing.error().message, "[forward] no such function in the program: expected one of add, peek");
}

TEST_F(SessionTest, CarriesStateFromCallToCall) {
  auto session = open(makeCounter());
  EXPECT_EQ(session->stateNames(), std::vector<std::string>{"count"});
  TensorView x = tensor({2}, {1, 2});
  EXPECT_EQ(call(*session, 1, {}), (std::vector<float>{-10, -20}));
  EXPECT_EQ(call(*session, 0, {x}), (std::vector<float>{11, 22}));
  EXPECT_EQ(call(*session, 0, {x}), (std::vector<float>{12, 24}));
  EXPECT_EQ(call(*session, 1, {}), (std::vector<float>{-12, -24})); // seen by the other entry point
  EXPECT_EQ(valuesOf(bundle->stateDict["count"])[0], 10);           // the user's tensor is not written
}

TEST_F(SessionTest, StateIsDonated) {
  auto session = open(makeCounter());
  TensorView x = tensor({2}, {1, 2});
  call(*session, 0, {x});
  const void *first = session->readWeight("count")->data;
  call(*session, 0, {x});
  EXPECT_EQ(session->readWeight("count")->data, first); // computed in place
}

TEST_F(SessionTest, StateThatIsReadIsNotOverwritten) {
  auto session = open(makeCounter());
  TensorView x = tensor({2}, {1, 2});
  EXPECT_EQ(read(*session->readWeight("count")), (std::vector<float>{10, 20}));
  call(*session, 0, {x});
  auto held = session->readWeight("count");
  call(*session, 0, {x});
  EXPECT_EQ(read(*held), (std::vector<float>{11, 22}));
  EXPECT_EQ(read(*session->readWeight("count")), (std::vector<float>{12, 24}));
  EXPECT_EQ(read(*session->readWeight("other")), (std::vector<float>{1, 3, 2, 4})); // strided in its storage
  auto missing = session->readWeight("nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "[nothing] no such weight in the program");
}

TEST_F(SessionTest, StateCanBeSet) {
  auto session = open(makeCounter());
  auto writeState = [&](std::string_view name, const TensorView &to) {
    return session->writeStates(std::array{NamedView{name, to}});
  };
  TensorView x = tensor({2}, {1, 2}), value = tensor({2}, {100, 200});
  ASSERT_TRUE(writeState("count", value));
  EXPECT_EQ(call(*session, 0, {x}), (std::vector<float>{101, 202}));
  EXPECT_EQ(static_cast<const float *>(value.data)[0], 100);
  EXPECT_EQ(writeState("other", value).error().message,
            "[other] no such state in the program: expected one of count");
  EXPECT_EQ(writeState("count", tensor({3}, {1, 2, 3})).error().message,
            "[count] wrong shape: got (3), expected (2)");
  value.dtype = DType::I32;
  EXPECT_EQ(writeState("count", value).error().message, "[count] wrong dtype: got int32, expected float32");
  value.device = "cuda:0";
  EXPECT_EQ(writeState("count", value).error().message, "[count] wrong device: got cuda:0, expected cpu");
}

/// Adds x to count, and to a second state of its own.
artifact::Bundle makeTwoCounters() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("add")
                                 .input(InputSource::Buffer, "count", {"2"})
                                 .input(InputSource::Buffer, "total", {"2"})
                                 .input(InputSource::Parameter, "w", {"2"})
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::Buffer, "count", {"2"})
                                 .output(OutputDestination::Buffer, "total", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>, %total: tensor<2xf32>, %w: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %count, %x : tensor<2xf32>
    %1 = stablehlo.add %total, %x : tensor<2xf32>
    %2 = stablehlo.multiply %0, %w : tensor<2xf32>
    return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
})"));
  for (const char *name : {"count", "total"})
    bundle.stateDict[name] = makeWeight(name, {2}, {1}, makeStorage({10, 20}));
  bundle.stateDict["w"] = makeWeight("w", {2}, {1}, makeStorage({1, 1}));
  return bundle;
}

TEST_F(SessionTest, StatesAreSetTogetherOrNotAtAll) {
  auto session = open(makeTwoCounters());
  auto values = [&] {
    std::vector<NamedArray> states = *session->readStates();
    std::vector<std::vector<float>> all;
    for (const NamedArray &state : states)
      all.push_back(read(state.value));
    return all;
  };
  std::vector<std::vector<float>> initial = {{10, 20}, {10, 20}};
  EXPECT_EQ(values(), initial); // before any call
  call(*session, 0, {tensor({2}, {1, 2})});
  std::vector<std::vector<float>> after = {{11, 22}, {11, 22}};
  EXPECT_EQ(values(), after);
  NamedView right{"count", tensor({2}, {5, 6})}, wrong{"total", tensor({1}, {7})};
  EXPECT_EQ(session->writeStates(std::array{right, wrong}).error().message,
            "[total] wrong shape: got (1), expected (2)");
  EXPECT_EQ(values(), after);
  ASSERT_TRUE(session->resetStates());
  EXPECT_EQ(values(), initial);
  EXPECT_EQ(call(*session, 0, {tensor({2}, {1, 2})}), (std::vector<float>{11, 22}));
}

/// count += x, which checks that x is at least 0: one check, and a second one of a factorization.
artifact::Bundle makeChecked() {
  artifact::Bundle bundle;
  artifact::Function function = FunctionBuilder("add")
                                    .input(InputSource::Buffer, "count", {"2"})
                                    .input(InputSource::UserInput, "x", {"2"})
                                    .output(OutputDestination::Buffer, "count", {"2"})
                                    .output(OutputDestination::UserOutput, "", {"2"})
                                    .output(OutputDestination::Check, "", {"3"})
                                    .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3xi32>) {
    %0 = stablehlo.add %count, %x : tensor<2xf32>
    %1 = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    %3 = stablehlo.convert %2 : (tensor<f32>) -> tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %5 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %6 = stablehlo.multiply %4, %5 : tensor<3xi32>
    return %0, %0, %6 : tensor<2xf32>, tensor<2xf32>, tensor<3xi32>
  }
})");
  function.entryPoint.outputs.back().type.dtype = DType::I32;
  function.entryPoint.checks = {{"aten.a", "a{code}", "model.py:3", false},
                                {"aten.b", "b{batch}: {code} and {code}", "", true}};
  bundle.functions.push_back(std::move(function));
  bundle.stateDict["count"] = makeWeight("count", {2}, {1}, makeStorage({10, 20}));
  return bundle;
}

TEST_F(SessionTest, AFailedCheckIsAnErrorAndNothingIsWritten) {
  auto session = open(makeChecked());
  EXPECT_EQ(call(*session, 0, {tensor({2}, {0, 5})}), (std::vector<float>{10, 25}));
  auto error = [&](float status) {
    auto result = session->call(0, std::vector<Input>{tensor({2}, {status, 5})});
    return result ? Error{} : result.error();
  };
  EXPECT_EQ(error(1).text(), "[aten.a] a{code}; at model.py:3");
  EXPECT_EQ(error(1).code, ErrorCode::FailedPrecondition);
  EXPECT_EQ(error(2).text(), "[aten.b] b: (Batch element 3): 6 and 6");
  EXPECT_EQ(error(2).code, ErrorCode::Aborted);
  EXPECT_EQ(error(3).text(), "[add] wrong status of the program's checks: got 3, expected 0 to 2");
  EXPECT_EQ(error(-1).text(), "[add] wrong status of the program's checks: got -1, expected 0 to 2");
  EXPECT_EQ(read(*session->readWeight("count")), (std::vector<float>{10, 25}));
  EXPECT_EQ(call(*session, 0, {tensor({2}, {0, 1})}), (std::vector<float>{10, 26}));
}

TEST_F(SessionTest, ASuccessorHasOtherWeightsAndTheState) {
  auto session = open(makeTwoCounters());
  TensorView x = tensor({2}, {1, 2});
  call(*session, 0, {x});
  auto other = std::make_shared<artifact::Bundle>(*bundle);
  other->stateDict["w"] = makeWeight("w", {2}, {1}, makeStorage({100, 100}));
  NamedView unfit{"total", tensor({1}, {7})}, total{"total", tensor({2}, {0, 0})};
  EXPECT_FALSE(session->succeed(other, std::array{unfit}));
  EXPECT_EQ(call(*session, 0, {x}), (std::vector<float>{12, 24})); // it was not given up
  auto successor = session->succeed(other, std::array{total});
  ASSERT_TRUE(successor) << successor.error().text();
  EXPECT_EQ(call(**successor, 0, {x}), (std::vector<float>{1300, 2600}));
  EXPECT_EQ(read(*(*successor)->readWeight("total")), (std::vector<float>{1, 2}));
  std::string message = "[session] another session of the program has taken its state";
  expectError(*session, {x}, message);
  EXPECT_EQ(session->readStates().error().message, message);
  EXPECT_EQ(session->readWeight("count").error().message, message);
  EXPECT_EQ(session->resetStates().error().message, message);
  EXPECT_EQ(read(*session->readWeight("w")), (std::vector<float>{1, 1}));
}

TEST_F(SessionTest, TiedStateIsOneState) {
  artifact::Bundle contents = makeCounter();
  contents.stateDict["alias"] = contents.stateDict["count"];
  contents.functions[1].entryPoint.inputs[0].name = "alias";
  auto session = open(std::move(contents));
  call(*session, 0, {tensor({2}, {1, 2})});
  EXPECT_EQ(call(*session, 1, {}), (std::vector<float>{-11, -22}));
}

TEST_F(SessionTest, ABufferThatIsTwoArgumentsIsNotDonated) {
  artifact::Bundle contents;
  contents.functions.push_back(FunctionBuilder("forward")
                                   .input(InputSource::Buffer, "a", {"2"})
                                   .input(InputSource::Buffer, "b", {"2"})
                                   .output(OutputDestination::Buffer, "a", {"2"})
                                   .build(R"(
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %a, %b : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})"));
  contents.stateDict["a"] = contents.stateDict["b"] = makeWeight("a", {2}, {1}, makeStorage({1, 2}));
  auto session = open(std::move(contents));
  call(*session, 0, {});
  call(*session, 0, {});
  EXPECT_EQ(read(*session->readWeight("b")), (std::vector<float>{4, 8}));
}

TEST_F(SessionTest, MutatedInputsComeBackForTheCallerToWrite) {
  artifact::Bundle contents;
  contents.functions.push_back(FunctionBuilder("forward")
                                   .input(InputSource::UserInput, "x", {"2"})
                                   .output(OutputDestination::UserInput, "x", {"2"})
                                   .build(R"(
module {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})"));
  auto session = open(std::move(contents));
  TensorView x = tensor({2}, {1, 2});
  auto result = session->call(0, std::vector<Input>{x});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->outputs.empty());
  ASSERT_EQ(result->mutations.size(), 1u);
  EXPECT_EQ(result->mutations[0].position, 0);
  EXPECT_EQ(read(result->mutations[0].array()), (std::vector<float>{2, 4}));
  EXPECT_EQ(static_cast<const float *>(x.data)[0], 1);
}

TEST_F(SessionTest, IntegersGoInAndOut) {
  artifact::Bundle contents;
  FunctionBuilder builder("forward");
  builder.input(InputSource::UserInput, "n", {}).output(OutputDestination::UserOutput, "", {});
  artifact::Function function = builder.build(R"(
module {
  func.func public @main(%n: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.add %n, %n : tensor<i64>
    return %0 : tensor<i64>
  }
})");
  function.entryPoint.inputs[0].isSymInt = function.entryPoint.outputs[0].isNumber = true;
  function.entryPoint.inputs[0].type.dtype = function.entryPoint.outputs[0].type.dtype = DType::I64;
  contents.functions.push_back(std::move(function));
  auto session = open(std::move(contents));
  auto result = session->call(0, std::vector<Input>{Constant{int64_t{21}}});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->outputs[0].isNumber);
  EXPECT_EQ(*static_cast<const int64_t *>(result->outputs[0].array().data), 42);
}

TEST_F(SessionTest, RefinesOnceForEachSize) {
  auto session = open(makeDynamic());
  for (int round = 0; round < 2; ++round)
    for (int64_t batch : {1, 2, 3, 5, 8}) {
      std::vector<float> expected, values(static_cast<size_t>(2 * batch), 1);
      for (int64_t i = 0; i < batch; ++i)
        expected.insert(expected.end(), {3, 5});
      EXPECT_EQ(call(*session, 0, {tensor({batch, 2}, values)}), expected);
    }
  CallCounts counts = session->counts(0);
  EXPECT_EQ(counts.refinements, refinementsOf(5));
  EXPECT_EQ(counts.preparations, 5);
  EXPECT_EQ(counts.calls, 10);
  expectError(*session, {tensor({9, 2}, std::vector<float>(18))},
              "[x] size of dimension 0 (batch) out of range: got 9, expected 1 to 8");
  expectError(*session, {tensor({0, 2}, {})},
              "[x] size of dimension 0 (batch) out of range: got 0, expected 1 to 8");
  EXPECT_EQ(session->counts(0).refinements, refinementsOf(5));
}

TEST_F(SessionTest, FourThreadsShareRefinements) {
  auto session = open(makeDynamic());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        const int64_t shape[] = {round % 3 + 1, 2};
        auto storage =
            makeStorage(std::vector<float>(static_cast<size_t>(2 * shape[0]), static_cast<float>(t)));
        TensorView x{storage->data, DType::F32, shape, {}, "cpu", storage->owner};
        auto result = session->call(0, std::vector<Input>{x});
        wrong[t] += !result || read(result->outputs[0].array())[1] != 5 * static_cast<float>(t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_EQ(session->counts(0).refinements, refinementsOf(3));
  EXPECT_EQ(session->counts(0).calls, 400);
}

TEST_F(SessionTest, CallsThatWriteStateAreSerialised) {
  auto session = open(makeCounter());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto storage = makeStorage({1, 2});
      const int64_t shape[] = {2};
      TensorView x{storage->data, DType::F32, shape, {}, "cpu", storage->owner};
      for (int round = 0; round < 100; ++round) {
        wrong[t] += !session->call(0, std::vector<Input>{x});
        auto peeked = session->call(1, {});
        // Both elements belong to one moment.
        wrong[t] += !peeked || read(peeked->outputs[0].array())[1] != 2 * read(peeked->outputs[0].array())[0];
        auto state = session->readWeight("count");
        wrong[t] += !state || read(*state)[1] != 2 * read(*state)[0];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_EQ(read(*session->readWeight("count")), (std::vector<float>{410, 820}));
}

TEST_F(SessionTest, RefusesToRunAfterFork) {
  auto session = open(makeCounter());
  call(*session, 1, {});
  pid_t child = fork();
  if (child == 0) {
    auto result = session->call(1, {});
    bool refused = !result && result.error().code == ErrorCode::FailedPrecondition &&
                   result.error().message.starts_with("[" + pluginName +
                                                      "] made before fork() and unusable "
                                                      "after it") &&
                   !session->readWeight("count") && !Session::create(client, bundle);
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(call(*session, 1, {}), (std::vector<float>{-10, -20}));
}

TEST_F(SessionTest, RefusesWeightsThatDoNotFit) {
  artifact::Bundle contents = makeLinear();
  contents.stateDict["w"].dtype = DType::I32;
  expectCreateError(contents, ErrorCode::InvalidArgument,
                    "[w] wrong dtype of the weight: got int32, expected float32 by function \"forward\"");
  contents = makeLinear();
  contents.stateDict["w"] = makeWeight("w", {2, 3}, {3, 1}, makeStorage({1, 2, 3, 4, 5, 6}));
  expectCreateError(contents, ErrorCode::InvalidArgument,
                    "[w] wrong shape of the weight: got (2, 3), expected (3, 2) by function \"forward\"");
  contents = makeLinear();
  contents.stateDict.clear();
  expectCreateError(contents, ErrorCode::NotFound, "[w] no such weight in the program");
  contents = makeLinear();
  contents.constants.clear();
  expectCreateError(contents, ErrorCode::NotFound,
                    "[b] no such constant in the program: got index 0, expected less than 0");
  contents = makeLinear();
  contents.functions[0].entryPoint.inputs[2].position = 1;
  expectCreateError(contents, ErrorCode::InvalidArgument,
                    "[x] position out of range: got 1, expected less than 1");
  contents = makeLinear();
  contents.hasWeights = false;
  expectCreateError(contents, ErrorCode::FailedPrecondition,
                    "[session] the program was saved without its weights: it cannot be called before "
                    "program.with_weights(...)");
  contents = makeCounter();
  contents.functions[0].entryPoint.outputs[0].target = "nothing";
  expectCreateError(contents, ErrorCode::NotFound, "[nothing] no such weight in the program");
  contents = makeCounter();
  contents.functions[0].entryPoint.outputs[0].type.shape = {3};
  expectCreateError(contents, ErrorCode::InvalidArgument,
                    "[count] its new value has another type: got float32 (3,), expected float32 (2,)");
}

TEST_F(SessionTest, PassesOnWhatCompilersSay) {
  artifact::Bundle contents = makeLinear();
  contents.functions[0].text = "module {}"; // valid, but without a function to be called
  auto result = open(contents)->call(0, std::vector<Input>{tensor({2, 3}, std::vector<float>(6))});
  ASSERT_FALSE(result);
  std::string expected = "[" + pluginName + "] cannot compile the program: ";
  if (pluginName == "torchere_cpu") // its messages name what is wrong themselves
    expected = "[module] no function to be called: expected @main";
  EXPECT_TRUE(result.error().message.starts_with(expected)) << result.error().message;
  contents = makeCounter();
  contents.functions[0].text = "module { nonsense }";
  result = open(contents)->call(0, std::vector<Input>{tensor({2}, {1, 2})});
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with("[add] not a valid StableHLO module: "))
      << result.error().message;
  contents = makeLinear();
  contents.functions[0].entryPoint.outputs.clear();
  result = open(contents)->call(0, std::vector<Input>{tensor({2, 3}, std::vector<float>(6))});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "[forward] wrong number of results of the compiled program: got 1, expected 0");
}

/// The functions as an export in this process leaves them: what could be parsed is no module.
artifact::Bundle inMemory(artifact::Bundle bundle) {
  for (artifact::Function &function : bundle.functions) {
    function.module =
        std::make_shared<const stablehlo::SharedModule>(*stablehlo::Module::parse(function.text));
    function.text = "module { nonsense }";
  }
  return bundle;
}

TEST_F(SessionTest, WhatIsInMemoryIsNotParsed) {
  auto linear = open(inMemory(makeLinear()));
  EXPECT_EQ(call(*linear, 0, {tensor({2, 3}, {1, 1, 1, 0, 2, 40})}),
            (std::vector<float>{0, 60.5, 24, 1240.5}));
  auto counter = open(inMemory(makeCounter()));
  auto module = bundle->functions[0].module;
  std::string before = module->read([](const stablehlo::Module &read) { return read.text(); });
  EXPECT_EQ(call(*counter, 0, {tensor({2}, {1, 2})}), (std::vector<float>{11, 22}));
  // The marks of donation are the compiler's, not the program's.
  EXPECT_EQ(module->read([](const stablehlo::Module &read) { return read.text(); }), before);
  auto dynamic = open(inMemory(makeDynamic()));
  EXPECT_EQ(call(*dynamic, 0, {tensor({1, 2}, {1, 1})}), (std::vector<float>{3, 5}));
  EXPECT_EQ(call(*dynamic, 0, {tensor({2, 2}, {1, 1, 2, 2})}), (std::vector<float>{3, 5, 6, 10}));
  EXPECT_EQ(dynamic->counts(0).refinements, refinementsOf(2));
}

TEST_F(SessionTest, RunsOnTheDeviceThatIsAskedFor) {
  auto two = CpuPluginTest::open(devices(2));
  ASSERT_TRUE(two) << two.error().text();
  int last = (*two)->devices()[1].id;
  auto session = Session::create(*two, std::make_shared<artifact::Bundle>(makeCounter()), last);
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_EQ(call(**session, 0, {tensor({2}, {1, 2})}), (std::vector<float>{11, 22}));
  auto missing = Session::create(*two, std::make_shared<artifact::Bundle>(makeCounter()), 99);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            fmt::format("[{}] no such device: got 99, expected one of 0, {}", pluginName, last));
}

} // namespace
} // namespace torchere::session
