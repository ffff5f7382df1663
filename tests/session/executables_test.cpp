// The executables of a session: how many are kept, and what a second process finds on disk.
#include "../base/temporary_directory.h"
#include "../runtime/cpu_plugin.h"
#include "../runtime/fake.h"
#include "double_program.h"
#include "runtime/compile_cache.h"

namespace torchere::session {
namespace {

/// Calls with a batch of this size; the last element of the result.
float call(Session &session, int64_t batch) {
  alignas(64) static float values[2 * 1000];
  values[2 * batch - 1] = static_cast<float>(batch);
  const int64_t shape[] = {batch, 2};
  auto result =
      session.call(0, std::vector<Input>{TensorView{values, DType::F32, shape, {}, "cpu", nullptr}});
  EXPECT_TRUE(result) << result.error().text();
  return result ? static_cast<const float *>(result->outputs[0].array().data)[2 * batch - 1] : 0;
}

using Executables = runtime::FakeTest;

TEST_F(Executables, ThoseNotUsedForLongestGo) {
  auto session = *Session::create(makeClient(), makeDouble());
  const auto limit = static_cast<int64_t>(executableLimit);
  for (int64_t batch = 1; batch <= limit; ++batch)
    call(*session, batch);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), limit);
  EXPECT_EQ(callCount("PJRT_LoadedExecutable_Destroy"), 0);
  call(*session, 1); // used now: 2 is the oldest
  call(*session, limit + 1);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), limit + 1);
  EXPECT_EQ(callCount("PJRT_LoadedExecutable_Destroy"), 1);
  call(*session, 1);
  call(*session, 3);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), limit + 1);
  call(*session, 2); // made again
  EXPECT_EQ(callCount("PJRT_Client_Compile"), limit + 2);
  EXPECT_EQ(callCount("PJRT_LoadedExecutable_Destroy"), 2);
  EXPECT_EQ(session->counts(0).calls, limit + 5);
  EXPECT_EQ(session->counts(0).preparations, limit + 2);
}

class ExecutablesOnDisk : public runtime::CpuPluginTest {
protected:
  /// A session on a client of its own, as another process has it.
  std::shared_ptr<Session> open(std::shared_ptr<const artifact::Bundle> bundle) {
    client = *CpuPluginTest::open({{"asynchronous", false}},
                                  std::make_shared<runtime::CompileCache>(directory.path));
    return *Session::create(client, std::move(bundle));
  }
  TemporaryDirectory directory;
};

TEST_F(ExecutablesOnDisk, ASecondProcessNeitherRefinesNorCompiles) {
  auto first = open(makeDouble());
  EXPECT_EQ(call(*first, 3), 6);
  EXPECT_EQ(call(*first, 4), 8);
  EXPECT_EQ(first->counts(0).refinements, refinementsOf(2));
  const int64_t executables = client->traits().bindsOpenSizes ? 1 : 2; // of two sizes
  EXPECT_EQ(client->compileCounts().compiled, executables);
  auto second = open(makeDouble());
  EXPECT_EQ(call(*second, 3), 6);
  EXPECT_EQ(call(*second, 4), 8);
  EXPECT_EQ(second->counts(0).refinements, 0);
  EXPECT_EQ(second->counts(0).preparations, 2);
  EXPECT_EQ(client->compileCounts().compiled, 0);
  EXPECT_EQ(client->compileCounts().loaded, executables);
  EXPECT_EQ(call(*second, 5), 10); // sizes that nobody had
  EXPECT_EQ(second->counts(0).refinements, refinementsOf(1));
}

TEST_F(ExecutablesOnDisk, AnotherProgramIsNotTakenForIt) {
  EXPECT_EQ(call(*open(makeDouble()), 3), 6);
  auto other = std::make_shared<artifact::Bundle>(*makeDouble());
  std::string &text = other->functions[0].text;
  text.replace(text.find("stablehlo.add"), 13, "stablehlo.multiply");
  EXPECT_EQ(call(*open(other), 3), 9);
  EXPECT_EQ(client->compileCounts().loaded, 0);
}

} // namespace
} // namespace torchere::session
