// Session on the fake plugin, from several threads: ready sizes are called, and others compiled, while one
// compiles.
#include "../runtime/fake.h"
#include "double_program.h"

#include <atomic>
#include <future>
#include <latch>
#include <thread>

namespace torchere::session {
namespace {

using runtime::FakeTest;

/// How long a thread is waited for before the test has failed.
constexpr std::chrono::seconds patience{60};

/// Waits for the others, at most for `patience`: false says that they did not come.
bool waitFor(const std::future<void> &future) {
  return future.wait_for(patience) == std::future_status::ready;
}

class ConcurrentCalls : public FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    session = *Session::create(makeClient(), makeDouble());
  }
  void TearDown() override {
    control->onCompile = nullptr;
    session.reset();
    FakeTest::TearDown();
  }
  /// Calls with a batch of this size. The fake's programs are the identity: true if all came back.
  bool call(int64_t batch) {
    std::vector<float> values(static_cast<size_t>(2 * batch), static_cast<float>(batch));
    const int64_t shape[] = {batch, 2};
    auto result = session->call(
        0, std::vector<Input>{TensorView{values.data(), DType::F32, shape, {}, "cpu", nullptr}});
    if (!result || result->outputs[0].array().type->shape != std::vector<int64_t>(shape, shape + 2))
      return false;
    const auto *data = static_cast<const float *>(result->outputs[0].array().data);
    return std::equal(values.begin(), values.end(), data);
  }
  /// Calls from four threads, whose compilations wait until all have asked; how many calls were right.
  int callFromFourThreads(int64_t batch) {
    std::latch asked(4);
    control->onCompile = [&] { asked.wait(); };
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        asked.count_down();
        right += call(batch);
      });
    for (std::thread &thread : threads)
      thread.join();
    control->onCompile = nullptr;
    return right;
  }

  std::shared_ptr<Session> session;
};

TEST_F(ConcurrentCalls, ReadySizesGoOnWhileAnotherCompiles) {
  ASSERT_TRUE(call(1));
  ASSERT_TRUE(call(2));
  std::promise<void> isCompiling;
  std::latch release(1);
  control->onCompile = [&] {
    isCompiling.set_value();
    release.wait();
  };
  auto third = std::async(std::launch::async, [&] { return call(3); });
  isCompiling.get_future().wait();
  std::atomic<int> right = 0;
  int64_t calls = 0;
  std::vector<std::future<void>> ready;
  for (int t = 0; t < 3; ++t)
    ready.push_back(std::async(std::launch::async, [&] {
      for (int round = 0; round < 100; ++round)
        right += call(round % 2 + 1);
    }));
  auto counting = std::async(std::launch::async, [&] { calls = session->counts(0).preparations; });
  for (const std::future<void> &thread : ready)
    EXPECT_TRUE(waitFor(thread)) << "a call of ready sizes waits for a compilation of others";
  EXPECT_TRUE(waitFor(counting)) << "counts() waits for a compilation";
  release.count_down();
  EXPECT_TRUE(third.get());
  ready.clear(); // their ends
  counting.wait();
  EXPECT_EQ(right, 300);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(session->counts(0).calls, 303);
  EXPECT_EQ(session->counts(0).preparations, 3);
}

TEST_F(ConcurrentCalls, TwoSizesCompileAtOnce) {
  runtime::MeetingOfCompilations meeting(*control);
  auto first = std::async(std::launch::async, [&] { return call(1); });
  auto second = std::async(std::launch::async, [&] { return call(2); });
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_EQ(meeting.met, 2) << "one compilation waited for the other's end";
  EXPECT_EQ(session->counts(0).refinements, 2);
}

TEST_F(ConcurrentCalls, SizesThatSeveralAskForAreCompiledOnce) {
  EXPECT_EQ(callFromFourThreads(3), 4);
  EXPECT_EQ(callCount("PJRT_Client_Compile"), 1);
  EXPECT_EQ(session->counts(0).calls, 4);
  EXPECT_EQ(session->counts(0).preparations, 1);
}

TEST_F(ConcurrentCalls, AFailureIsNotKept) {
  control->failing = "PJRT_Client_Compile";
  EXPECT_EQ(callFromFourThreads(3), 0);
  EXPECT_EQ(session->counts(0).calls, 0);
  control->failing.clear();
  EXPECT_TRUE(call(3));
}

/// More sizes than are kept, so that executables go while others call them.
TEST_F(ConcurrentCalls, ExecutablesGoWhileTheyAreCalled) {
  constexpr int64_t sizes = static_cast<int64_t>(executableLimit) + 4;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t round = 0; round < 100; ++round)
        right += call((t * 17 + round) % sizes + 1);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 400);
  EXPECT_EQ(session->counts(0).calls, 400);
  EXPECT_LE(callCount("PJRT_Client_Compile") - callCount("PJRT_LoadedExecutable_Destroy"),
            static_cast<int64_t>(executableLimit));
  EXPECT_GT(callCount("PJRT_LoadedExecutable_Destroy"), 0);
}

} // namespace
} // namespace torchere::session
