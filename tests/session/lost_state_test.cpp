// Session on the fake plugin: what becomes of the state when a call fails.
#include "../runtime/fake.h"

#include "session/session.h"
#include "vhlo/portable_artifact.h"

#include <array>
#include <future>
#include <thread>

namespace torchere::session {
namespace {

using runtime::FakeTest;

/// A function and the state that it has. The fake plugin's programs are the identity, result by result.
struct Bundles {
  const float values[2] = {3, 4};
  const program::TensorSignature type{DType::F32, {program::SymInt(2)}};

  program::EntryInput input(program::InputSource source, const std::string &name) const {
    return {source, name, 0, type, false};
  }
  program::EntryOutput output(program::OutputDestination destination, const std::string &target) const {
    return {destination, "", target, 0, type, false};
  }
  std::shared_ptr<artifact::Bundle> bundle(artifact::Function function) const {
    auto storage = std::make_shared<program::Storage>();
    storage->data = reinterpret_cast<const std::byte *>(values);
    storage->byteSize = sizeof(values);
    auto result = std::make_shared<artifact::Bundle>();
    result->functions.push_back(std::move(function));
    result->stateDict["state"] = {"state", DType::F32, {2}, {1}, 0, storage};
    return result;
  }
  /// state -> state
  std::shared_ptr<artifact::Bundle> identity() const {
    artifact::Function function;
    function.entryPoint.inputs = {input(program::InputSource::Buffer, "state")};
    function.entryPoint.outputs = {output(program::OutputDestination::Buffer, "state")};
    function.text = R"(
module {
  func.func public @main(%state: tensor<2xf32>) -> tensor<2xf32> {
    return %state : tensor<2xf32>
  }
})";
    return bundle(std::move(function));
  }
  /// state, x -> y, state: y is the state, and x the next.
  std::shared_ptr<artifact::Bundle> exchange() const {
    artifact::Function function;
    function.entryPoint.userInputCount = function.entryPoint.userOutputCount = 1;
    function.entryPoint.inputs = {input(program::InputSource::Buffer, "state"),
                                  input(program::InputSource::UserInput, "x")};
    function.entryPoint.outputs = {output(program::OutputDestination::UserOutput, ""),
                                   output(program::OutputDestination::Buffer, "state")};
    function.text = R"(
module {
  func.func public @main(%state: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    return %state, %x : tensor<2xf32>, tensor<2xf32>
  }
})";
    return bundle(std::move(function));
  }
};

class LostState : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    open(bundles.identity());
  }
  void TearDown() override {
    session.reset();
    FakeTest::TearDown();
  }
  void open(std::shared_ptr<artifact::Bundle> bundle) {
    auto opened = Session::create(makeClient(), std::move(bundle));
    ASSERT_TRUE(opened) << opened.error().text();
    session = *opened;
  }
  float firstValue() { return static_cast<const float *>(session->readWeight("state")->data)[0]; }
  Status setState(float value) {
    const float newValues[] = {value, value};
    const int64_t shape[] = {2};
    return session->writeStates(
        std::array{NamedView{"state", {newValues, DType::F32, shape, {}, "cpu", nullptr}}});
  }

  const Bundles bundles;
  std::shared_ptr<Session> session;
};

const std::string lostMessage =
    "[state] its value was lost in a call that failed: load the program again, or set it";

TEST_F(LostState, TheProgramIsToldWhatItMayDonate) {
  ASSERT_TRUE(session->call(0, {}));
  EXPECT_EQ(vhlo::artifactVersion(control->program)->text(), "1.7.0"); // the fake's own
  auto program = vhlo::deserialize(control->program);
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_NE(program->text().find("tf.aliasing_output = 0 : i32"), std::string::npos) << program->text();
  EXPECT_TRUE(control->kept.empty());
  auto held = session->readWeight("state");
  ASSERT_TRUE(session->call(0, {}));
  EXPECT_EQ(control->kept, std::vector<int64_t>{0}); // somebody reads it
}

TEST_F(LostState, ACallThatFailsBeforeDonatingLeavesTheState) {
  ASSERT_TRUE(session->call(0, {}));
  control->failing = "PJRT_LoadedExecutable_Execute";
  runtime::expectError(session->call(0, {}), ErrorCode::Internal,
                       "[fake] cannot execute the program: PJRT_LoadedExecutable_Execute was told to fail");
  control->failing.clear();
  EXPECT_EQ(firstValue(), 3);
  EXPECT_TRUE(session->call(0, {}));
}

TEST_F(LostState, ACallThatFailsAfterDonatingLosesTheState) {
  ASSERT_TRUE(session->call(0, {}));
  control->donates = true;
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  EXPECT_FALSE(session->call(0, {}));
  control->failingEvent.clear();
  runtime::expectError(session->call(0, {}), ErrorCode::FailedPrecondition, lostMessage);
  runtime::expectError(session->readWeight("state"), ErrorCode::FailedPrecondition, lostMessage);
  ASSERT_TRUE(setState(5));
  EXPECT_TRUE(session->call(0, {}));
  EXPECT_EQ(firstValue(), 5);
}

/// Calls whose state advances before its result is on the host.
class DeliveredState : public LostState {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    control->outputCount = 2;
    open(bundles.exchange());
  }
  /// Makes `value` the next state.
  Result<CallResult> call(float value, const CallOptions &options = {}) {
    alignas(64) const float x[] = {value, value};
    const int64_t shape[] = {2};
    return session->call(0, std::vector<Input>{TensorView{x, DType::F32, shape, {}, "cpu", nullptr}},
                         options);
  }
  /// The same without waiting; the result, which is the state before.
  DeviceTensor start(float value, const std::string &place = "") {
    auto result = call(value, {.onDevice = true, .place = place});
    EXPECT_TRUE(result) << result.error().text();
    return result->outputs[0].onDevice();
  }
};

TEST_F(DeliveredState, AResultThatCannotBeReadLeavesTheState) {
  ASSERT_TRUE(call(5));
  control->failing = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer";
  runtime::expectError(call(7), ErrorCode::Internal,
                       "[fake] cannot get a buffer's address: " + control->failing + " was told to fail");
  control->failing.clear();
  EXPECT_EQ(firstValue(), 5);
  auto result = call(9);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(static_cast<const float *>(result->outputs[0].array().data)[0], 5);
  EXPECT_EQ(firstValue(), 9);
}

TEST_F(DeliveredState, AResultThatCannotBeCopiedLeavesTheState) {
  control->onCpu = false;
  ASSERT_TRUE(call(5));
  control->failingEvent = "PJRT_Buffer_ToHostBuffer";
  runtime::expectError(call(7), ErrorCode::ResourceExhausted,
                       "[fake] copying a buffer to the host failed: PJRT_Buffer_ToHostBuffer went wrong");
  control->failingEvent.clear();
  EXPECT_EQ(firstValue(), 5);
}

TEST_F(DeliveredState, AStateThatSomebodyReadIsNotLost) {
  ASSERT_TRUE(call(5));
  auto held = session->readWeight("state");
  control->donates = true;
  control->failing = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer";
  EXPECT_FALSE(call(7));
  control->failing.clear();
  EXPECT_EQ(firstValue(), 5);
  EXPECT_EQ(static_cast<const float *>(held->data)[0], 5);
}

TEST_F(DeliveredState, AStateThatWasDonatedIsLost) {
  ASSERT_TRUE(call(5));
  control->donates = true;
  control->failing = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer";
  EXPECT_FALSE(call(7));
  control->failing.clear();
  runtime::expectError(call(9), ErrorCode::FailedPrecondition, lostMessage); // nor does it count twice
  runtime::expectError(session->readWeight("state"), ErrorCode::FailedPrecondition, lostMessage);
  ASSERT_TRUE(setState(11));
  auto result = call(13);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(static_cast<const float *>(result->outputs[0].array().data)[0], 11);
}

TEST_F(DeliveredState, CallsThatAreNotWaitedForPassTheStateOn) {
  control->holdsExecutions = control->donates = true;
  std::vector<DeviceTensor> results;
  for (float value : {5.0f, 7.0f, 9.0f})
    results.push_back(start(value));
  EXPECT_EQ(callCount("PJRT_Event_Await"), 0);
  release();
  control->holdsExecutions = false;
  for (float before : {3.0f, 5.0f, 7.0f}) {
    EXPECT_EQ(static_cast<const float *>(runtime::Buffer::toHost(results.front())->data)[0], before);
    results.erase(results.begin());
  }
  EXPECT_EQ(firstValue(), 9);
}

/// The message of a state that a call was to compute which nobody waited for.
std::string lostIn(const std::string &call) {
  return "[state] its value was lost in a call that failed ([forward] executing the program failed: " + call +
         "): load the program again, or set it";
}

TEST_F(DeliveredState, ACallThatFailsUnwaitedForLosesTheState) {
  start(5, "train.py:1");
  control->holdsExecutions = true;
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  DeviceTensor failed = start(7, "train.py:2");
  control->failingEvent.clear();
  DeviceTensor after = start(9, "train.py:3"); // nobody knows yet
  release();
  control->holdsExecutions = false;
  const std::string why = "PJRT_LoadedExecutable_Execute went wrong";
  for (const DeviceTensor &result : {failed, after, after}) { // each time
    auto array = runtime::Buffer::toHost(result);
    runtime::expectError(array, ErrorCode::ResourceExhausted,
                         "[forward] executing the program failed: " + why);
    EXPECT_EQ(array.error().where, "train.py:2");
  }
  for (int round = 0; round < 2; ++round) {
    runtime::expectError(call(11), ErrorCode::FailedPrecondition, lostIn(why));
    EXPECT_EQ(call(11, {.onDevice = true}).error().where, "train.py:2");
    runtime::expectError(session->readWeight("state"), ErrorCode::FailedPrecondition, lostIn(why));
  }
  ASSERT_TRUE(setState(13));
  EXPECT_EQ(static_cast<const float *>(call(15)->outputs[0].array().data)[0], 13);
  EXPECT_EQ(firstValue(), 15);
}

TEST_F(DeliveredState, ACallThatIsWaitedForTellsOfTheOneBeforeThatFailed) {
  ASSERT_TRUE(call(1));
  control->holdsExecutions = true;
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  start(7, "train.py:2");
  control->failingEvent.clear();
  std::promise<void> isWaiting;
  control->onAwait = [&] { isWaiting.set_value(); };
  auto waited = std::async(std::launch::async, [&] { return call(9); });
  isWaiting.get_future().wait();
  control->onAwait = nullptr;
  release();
  auto result = waited.get();
  control->holdsExecutions = false;
  const std::string why = "PJRT_LoadedExecutable_Execute went wrong";
  runtime::expectError(result, ErrorCode::ResourceExhausted,
                       "[forward] executing the program failed: " + why);
  EXPECT_EQ(result.error().where, "train.py:2");
  runtime::expectError(session->readWeight("state"), ErrorCode::FailedPrecondition, lostIn(why));
}

TEST_F(DeliveredState, AStateIsReadOnceItIsComputed) {
  control->holdsExecutions = true;
  start(5);
  std::promise<void> isWaiting;
  control->onAwait = [&] { isWaiting.set_value(); };
  auto value = std::async(std::launch::async, [&] { return firstValue(); });
  isWaiting.get_future().wait();
  control->onAwait = nullptr;
  release();
  EXPECT_EQ(value.get(), 5);
}

/// The fake overwrites what is donated to it: readers see one state or another, whole.
TEST_F(DeliveredState, AReaderIsDoneBeforeItsStateIsOverwritten) {
  ASSERT_TRUE(call(0));
  control->donates = true;
  std::vector<int> wrong(2);
  std::vector<std::thread> readers;
  for (size_t t = 0; t < wrong.size(); ++t)
    readers.emplace_back([&, t] {
      for (int round = 0; round < 300; ++round) {
        {
          auto array = session->readWeight("state");
          const auto *data = array ? static_cast<const float *>(array->data) : nullptr;
          wrong[t] += !data || data[0] != data[1];
        }
        // Without a lock, so that by the lease alone a call can know that this read is over.
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  int failed = 0;
  for (int round = 0; round < 300; ++round)
    failed += !call(static_cast<float>(round));
  for (std::thread &reader : readers)
    reader.join();
  EXPECT_EQ(wrong, std::vector<int>(2, 0));
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(firstValue(), 299);
}

} // namespace
} // namespace torchere::session
