// Session on the fake plugin: what becomes of the state when a call fails.
#include "../runtime/fake.h"

#include "session/session.h"
#include "vhlo/portable_artifact.h"

namespace torchere::session {
namespace {

using runtime::FakeTest;

/// state, x -> state; the fake plugin's program is the identity.
artifact::Bundle makeBundle(const float *values) {
  artifact::Bundle bundle;
  artifact::Function function;
  program::EntryPoint &entryPoint = function.entryPoint;
  program::TensorSignature type{DType::F32, {program::SymInt(2)}};
  program::EntryInput input;
  input.source = program::InputSource::Buffer;
  input.name = "state";
  input.type = type;
  entryPoint.inputs.push_back(input);
  program::EntryOutput output;
  output.destination = program::OutputDestination::Buffer;
  output.target = "state";
  output.type = type;
  entryPoint.outputs.push_back(output);
  function.text = R"(
module {
  func.func public @main(%state: tensor<2xf32>) -> tensor<2xf32> {
    return %state : tensor<2xf32>
  }
})";
  bundle.functions.push_back(std::move(function));
  auto storage = std::make_shared<program::Storage>();
  storage->data = reinterpret_cast<const std::byte *>(values);
  storage->byteSize = 2 * sizeof(float);
  bundle.stateDict["state"] = {"state", DType::F32, {2}, {1}, 0, storage};
  return bundle;
}

class LostState : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    auto opened = Session::create(makeClient(), std::make_shared<artifact::Bundle>(makeBundle(values)));
    ASSERT_TRUE(opened) << opened.error().text();
    session = *opened;
  }
  void TearDown() override {
    session.reset();
    FakeTest::TearDown();
  }
  float firstValue() { return static_cast<const float *>(session->readWeight("state")->data)[0]; }

  const float values[2] = {3, 4};
  std::shared_ptr<Session> session;
};

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
  const std::string message =
      "[state] its value was lost in a call that failed: load the program again, or set it";
  runtime::expectError(session->call(0, {}), ErrorCode::FailedPrecondition, message);
  runtime::expectError(session->readWeight("state"), ErrorCode::FailedPrecondition, message);
  const float newValues[] = {5, 6};
  const int64_t shape[] = {2};
  ASSERT_TRUE(session->writeState("state", {newValues, DType::F32, shape, {}, "cpu", nullptr}));
  EXPECT_TRUE(session->call(0, {}));
  EXPECT_EQ(firstValue(), 5);
}

} // namespace
} // namespace torchere::session
