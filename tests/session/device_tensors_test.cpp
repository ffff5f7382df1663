// Results that stay on the device, as arguments of further calls: what is copied, what is waited for, and
// where errors are told.
#include "../runtime/cpu_plugin.h"
#include "../runtime/fake.h"
#include "double_program.h"
#include "function_builder.h"

#include <array>
#include <cmath>
#include <cstring>
#include <future>

namespace torchere::session {
namespace {

using runtime::Buffer;
using runtime::expectError;
using runtime::FakeTest;

constexpr int64_t shape[] = {2, 2};

TensorView view(const std::array<float, 4> &values) {
  return {values.data(), DType::F32, shape, {}, "cpu", nullptr};
}

/// Calls without waiting; `place` is for errors.
DeviceTensor start(Session &session, Input input, const std::string &place = "") {
  auto result = session.call(0, std::vector<Input>{std::move(input)}, {.onDevice = true, .place = place});
  EXPECT_TRUE(result) << result.error().text();
  return result ? result->outputs[0].onDevice() : nullptr;
}

std::array<float, 4> elements(const DeviceTensor &tensor) {
  auto array = Buffer::toHost(tensor);
  EXPECT_TRUE(array) << array.error().text();
  std::array<float, 4> values{};
  if (array)
    std::copy_n(static_cast<const float *>(array->data), values.size(), values.begin());
  return values;
}

/// On the fake plugin, whose programs are the identity.
class DeviceTensors : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    client = makeClient();
    session = *Session::create(client, makeDouble());
  }
  void TearDown() override {
    session.reset();
    client.reset();
    FakeTest::TearDown();
  }
  /// Every way between host and device but reading by pointer.
  int64_t copyCount() const {
    return callCount("PJRT_Client_BufferFromHostBuffer") + callCount("PJRT_Buffer_ToHostBuffer");
  }

  std::shared_ptr<runtime::Client> client;
  std::shared_ptr<Session> session;
  alignas(64) std::array<float, 4> values = {1, 2, 3, 4};
};

TEST_F(DeviceTensors, AChainOf100CallsCopiesNothingAndWaitsOnce) {
  DeviceTensor tensor = *session->toDevice(view(values));
  int64_t copies = copyCount();
  control->holdsExecutions = true; // so that no call can wait for an end
  for (int i = 0; i < 100; ++i)
    tensor = start(*session, tensor);
  EXPECT_EQ(callCount("PJRT_LoadedExecutable_Execute"), 100);
  EXPECT_FALSE(tensor->isComputed());
  EXPECT_EQ(callCount("PJRT_Event_Await"), 0);
  std::promise<void> isWaiting;
  control->onAwait = [&] { isWaiting.set_value(); };
  auto result = std::async(std::launch::async, [&] { return elements(tensor); });
  isWaiting.get_future().wait();
  release();
  EXPECT_EQ(result.get(), values);
  EXPECT_EQ(callCount("PJRT_Event_Await"), 1);
  EXPECT_EQ(callCount("PJRT_Buffer_ReadyEvent"), 0);
  EXPECT_EQ(copyCount(), copies);
  EXPECT_TRUE(tensor->isComputed());
}

TEST_F(DeviceTensors, AnotherProgramOfTheClientTakesThem) {
  auto other = *Session::create(client, makeDouble());
  DeviceTensor tensor = start(*other, start(*session, view(values)));
  auto result = session->call(0, std::vector<Input>{tensor});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(std::memcmp(result->outputs[0].array().data, values.data(), sizeof(values)), 0);
}

TEST_F(DeviceTensors, HostMemoryIsTheCallersAgainWhenTheCallReturns) {
  control->holdsExecutions = true;
  const std::array<float, 4> before = values;
  DeviceTensor tensor = start(*session, view(values));
  values.fill(0);
  release();
  EXPECT_EQ(elements(tensor), before);
}

TEST_F(DeviceTensors, AreNotDonated) {
  DeviceTensor tensor = *session->toDevice(view(values));
  control->donates = true;
  start(*session, tensor);
  EXPECT_EQ(control->kept, std::vector<int64_t>{0});
  EXPECT_TRUE(session->call(0, std::vector<Input>{tensor}));
  EXPECT_EQ(control->kept, std::vector<int64_t>{0});
  EXPECT_FALSE(tensor->isDeleted());
  EXPECT_EQ(elements(tensor), values);
}

TEST_F(DeviceTensors, AreDonatedWhereTheCallerGivesThemUp) {
  ASSERT_TRUE(session->donateInputs(0, std::array{InputDonation{0, 0}}));
  DeviceTensor kept = *session->toDevice(view(values)), givenUp = *session->toDevice(view(values));
  control->donates = true;
  std::array<uint8_t, 1> donated = {1};
  ASSERT_TRUE(session->call(0, std::vector<Input>{givenUp}, {.onDevice = true, .donated = donated}));
  EXPECT_TRUE(control->kept.empty() && givenUp->isDeleted());
  start(*session, kept);
  EXPECT_EQ(control->kept, std::vector<int64_t>{0});
  EXPECT_FALSE(kept->isDeleted());
}

TEST_F(DeviceTensors, DonationsThatDoNotFitAreRefused) {
  auto donate = [&](std::vector<InputDonation> donations) { return session->donateInputs(0, donations); };
  expectError(donate({{1, 0}}), ErrorCode::InvalidArgument,
              "[forward] no such input to donate: got position 1, expected less than 1");
  expectError(donate({{0, 1}}), ErrorCode::InvalidArgument,
              "[forward] no such output to take the memory of input 0: got position 1");
  expectError(donate({{0, 0}, {0, 0}}), ErrorCode::InvalidArgument,
              "[forward] donated twice: got input 0 for output 0");
}

TEST_F(DeviceTensors, ThoseThatDoNotFitAreRefused) {
  auto call = [&](Session &session, const DeviceTensor &tensor) {
    return session.call(0, std::vector<Input>{tensor});
  };
  auto make = [&](DType dtype, std::vector<int64_t> sizes) {
    return *session->toDevice({values.data(), dtype, sizes, {}, "cpu", nullptr});
  };
  expectError(call(*session, make(DType::I32, {2, 2})), ErrorCode::InvalidArgument,
              "[x] wrong dtype: got int32, expected float32");
  expectError(call(*session, make(DType::F32, {1, 4})), ErrorCode::InvalidArgument,
              "[x] wrong size of dimension 1: got 4, expected 2");
  expectError(call(*session, make(DType::F32, {4})), ErrorCode::InvalidArgument,
              "[x] wrong number of dimensions: got 1, expected 2");
  DeviceTensor tensor = make(DType::F32, {2, 2});
  auto second = *Session::create(client, makeDouble(), 1);
  expectError(call(*second, tensor), ErrorCode::InvalidArgument, "[x] wrong device: got 0, expected 1");
  EXPECT_EQ(start(*second, view(values))->device().id, 1);
  auto stranger = *Session::create(makeClient(), makeDouble());
  expectError(call(*stranger, tensor), ErrorCode::InvalidArgument,
              "[x] wrong client: got an array of another client (fake), expected one of fake");
  TensorView elsewhere = view(values);
  elsewhere.device = "cuda:0";
  expectError(session->toDevice(elsewhere), ErrorCode::InvalidArgument,
              "[tensor] wrong device: got cuda:0, expected cpu");
}

TEST_F(DeviceTensors, AFailureIsToldWhereResultsAreReadEachTime) {
  control->holdsExecutions = true;
  DeviceTensor first = start(*session, view(values), "train.py:1");
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  DeviceTensor failed = start(*session, first, "train.py:2");
  control->failingEvent.clear();
  DeviceTensor last = start(*session, start(*session, failed, "train.py:3"), "train.py:4");
  EXPECT_TRUE(last->failure()); // not known yet
  release();
  control->holdsExecutions = false;
  EXPECT_EQ(elements(first), values);
  const std::string message =
      "[forward] executing the program failed: PJRT_LoadedExecutable_Execute went wrong";
  for (const DeviceTensor &tensor : {last, last, failed}) {
    auto array = Buffer::toHost(tensor);
    expectError(array, ErrorCode::ResourceExhausted, message);
    EXPECT_EQ(array.error().where, "train.py:2"); // of the first that failed
  }
  auto call = session->call(0, std::vector<Input>{last});
  expectError(call, ErrorCode::ResourceExhausted, message);
  EXPECT_EQ(call.error().where, "train.py:2");
}

TEST_F(DeviceTensors, WhoeverAsksIsCalledBackOnce) {
  std::vector<std::string> told;
  auto listener = [&](const std::string &name) {
    return [&told, name](const Status &status) { told.push_back(name + (status ? "" : " failed")); };
  };
  control->holdsExecutions = true;
  DeviceTensor first = start(*session, view(values));
  first->whenComputed(listener("first"));
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  DeviceTensor failed = start(*session, first, "train.py:2");
  failed->whenComputed(listener("second"));
  control->failingEvent.clear();
  EXPECT_TRUE(told.empty());
  release();
  control->holdsExecutions = false;
  EXPECT_TRUE(first->wait());
  EXPECT_FALSE(failed->wait());
  EXPECT_EQ(told, (std::vector<std::string>{"first", "second failed"}));
  first->whenComputed(listener("late")); // at once
  DeviceTensor uploaded = *session->toDevice(view(values));
  uploaded->whenComputed(listener("uploaded"));
  EXPECT_EQ(told, (std::vector<std::string>{"first", "second failed", "late", "uploaded"}));
}

TEST_F(DeviceTensors, AFailureThatNobodyReadsIsLogged) {
  control->failingEvent = "PJRT_LoadedExecutable_Execute";
  const std::string line =
      "torchere warning [call] nobody read the results of a call that failed: [forward] executing the "
      "program failed: PJRT_LoadedExecutable_Execute went wrong; at train.py:2\n";
  testing::internal::CaptureStderr();
  start(*session, view(values), "train.py:2");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), line);
  testing::internal::CaptureStderr();
  control->holdsExecutions = true;
  DeviceTensor tensor = start(*session, view(values), "train.py:2");
  for (int i = 0; i < 3; ++i) // which fail because of it
    tensor = start(*session, tensor, "train.py:3");
  release();
  control->holdsExecutions = false;
  tensor.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), line);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(start(*session, view(values))->wait());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(DeviceTensors, TheClientWaitsForWhatStillRuns) {
  control->holdsExecutions = true;
  start(*session, view(values));
  auto gone = std::async(std::launch::async, [&] {
    session.reset();
    client.reset();
  });
  EXPECT_EQ(gone.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  release();
  gone.wait();
  EXPECT_EQ(control->calls.back(), "PJRT_Client_Destroy");
}

TEST_F(DeviceTensors, AnEventThatTellsNobodyIsWaitedFor) {
  control->failing = "PJRT_Event_OnReady";
  DeviceTensor tensor = start(*session, view(values));
  control->failing.clear();
  EXPECT_TRUE(tensor->isComputed());
  EXPECT_EQ(callCount("PJRT_Event_Await"), 1);
  EXPECT_EQ(elements(tensor), values);
  EXPECT_EQ(callCount("PJRT_Event_Await"), 1);
}

/// x = x + x, as an input that the program writes.
std::shared_ptr<artifact::Bundle> makeDoubleInPlace() {
  auto bundle = makeDouble();
  program::EntryPoint &entryPoint = bundle->functions[0].entryPoint;
  entryPoint.userOutputCount = 0;
  entryPoint.outputs[0].destination = program::OutputDestination::UserInput;
  entryPoint.outputs[0].target = "x";
  return bundle;
}

class DeviceTensorsOnCpu : public runtime::CpuPluginTest {};

TEST_F(DeviceTensorsOnCpu, AResultTakesTheMemoryOfAnInputThatIsGivenUp) {
  auto session = *Session::create(client, makeDouble());
  ASSERT_TRUE(session->donateInputs(0, std::array{InputDonation{0, 0}}));
  alignas(64) const std::array<float, 4> values = {1, 2, 3, 4};
  DeviceTensor given = *session->toDevice(view(values));
  const void *memory = Buffer::toHost(given)->data;
  std::array<uint8_t, 1> donated = {1};
  auto result = session->call(0, std::vector<Input>{given}, {.onDevice = true, .donated = donated});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(given->isDeleted());
  DeviceTensor doubled = result->outputs[0].onDevice();
  EXPECT_EQ(Buffer::toHost(doubled)->data, memory);
  EXPECT_EQ(elements(doubled), (std::array<float, 4>{2, 4, 6, 8}));
  DeviceTensor again = start(*session, doubled); // compiled for donation, but this one is kept
  EXPECT_EQ(elements(again), (std::array<float, 4>{4, 8, 12, 16}));
  EXPECT_EQ(elements(doubled), (std::array<float, 4>{2, 4, 6, 8}));
}

TEST_F(DeviceTensorsOnCpu, AChainOf100Calls) {
  auto session = *Session::create(client, makeDouble());
  alignas(64) const std::array<float, 4> values = {1, 2, 3, 4};
  DeviceTensor tensor = start(*session, view(values));
  for (int i = 1; i < 100; ++i)
    tensor = start(*session, tensor);
  const float power = std::ldexp(1.0f, 100);
  EXPECT_EQ(elements(tensor), (std::array<float, 4>{power, 2 * power, 3 * power, 4 * power}));
}

TEST_F(DeviceTensorsOnCpu, AnInputThatIsWrittenHasANewValueWhereItIs) {
  auto session = *Session::create(client, makeDoubleInPlace());
  alignas(64) const std::array<float, 4> values = {1, 2, 3, 4}, doubled = {2, 4, 6, 8};
  DeviceTensor tensor = *session->toDevice(view(values));
  for (bool onDevice : {false, true}) {
    auto result = session->call(0, std::vector<Input>{tensor}, {.onDevice = onDevice});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(elements(result->mutations[0].onDevice()), doubled);
    EXPECT_EQ(elements(tensor), values);
  }
  auto result = session->call(0, std::vector<Input>{view(values)});
  EXPECT_EQ(static_cast<const float *>(result->mutations[0].array().data)[3], 8);
}

/// state of [512, 512]: one function multiplies it by itself, which takes a while; the other adds 1 to it.
artifact::Bundle makeSquare() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("square")
                                 .input(program::InputSource::Buffer, "state", {"512", "512"})
                                 .output(program::OutputDestination::UserOutput, "", {"512", "512"})
                                 .build(R"(
module {
  func.func public @main(%state: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %0 = stablehlo.dot_general %state, %state, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
})"));
  bundle.functions.push_back(FunctionBuilder("increase")
                                 .input(program::InputSource::Buffer, "state", {"512", "512"})
                                 .output(program::OutputDestination::Buffer, "state", {"512", "512"})
                                 .build(R"(
module {
  func.func public @main(%state: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<512x512xf32>
    %1 = stablehlo.add %state, %0 : tensor<512x512xf32>
    return %1 : tensor<512x512xf32>
  }
})"));
  bundle.stateDict["state"] =
      makeWeight("state", {512, 512}, {512, 1}, makeStorage(std::vector<float>(512 * 512, 0)));
  return bundle;
}

TEST_F(DeviceTensorsOnCpu, StateThatACallStillReadsIsNotOverwritten) {
  auto session = *Session::create(client, std::make_shared<artifact::Bundle>(makeSquare()));
  std::vector<DeviceTensor> squares;
  for (int round = 0; round < 20; ++round)
    for (size_t function : {size_t{0}, size_t{1}}) {
      auto result = session->call(function, {}, {.onDevice = true});
      ASSERT_TRUE(result) << result.error().text();
      if (function == 0)
        squares.push_back(result->outputs[0].onDevice());
    }
  for (size_t round = 0; round < squares.size(); ++round) {
    std::vector<float> values = read(*runtime::Buffer::toHost(squares[round]));
    float expected = 512 * static_cast<float>(round * round);
    EXPECT_EQ(std::count(values.begin(), values.end(), expected), 512 * 512) << round;
  }
  EXPECT_EQ(read(*session->readWeight("state"))[0], 20);
}

} // namespace
} // namespace torchere::session
