// Two threads on one program, and handles that one thread destroys while another uses them. Run under
// ThreadSanitizer by `make tsan`.
#include "capi_fixture.h"

#include <atomic>
#include <thread>

namespace torchere::capi {
namespace {

using ThreadsTest = CapiTest;

constexpr int rounds = 200;

/// Calls with the thread's own numbers, and counts the answers that are right.
int callMany(torchere_program program, float number) {
  int right = 0;
  for (int round = 0; round < rounds; ++round) {
    int64_t batch = round % 3 + 1;
    std::vector<float> values(static_cast<size_t>(2 * batch), number);
    const int64_t dims[] = {batch, 2};
    torchere_input inputs[] = {sized<torchere_input>(), sized<torchere_input>()};
    inputs[0].kind = TORCHERE_KIND_TENSOR;
    inputs[0].tensor = {sizeof(torchere_tensor),
                        nullptr,
                        TORCHERE_FLOAT32,
                        values.data(),
                        values.size() * 4,
                        2,
                        dims,
                        nullptr};
    inputs[1].kind = TORCHERE_KIND_INT;
    torchere_result result = nullptr;
    bool waits = round % 2 == 0;
    auto function = waits ? torchere_call : torchere_call_async;
    if (function(program, 0, inputs, 2, &result) != TORCHERE_OK)
      continue;
    float first[2] = {};
    std::vector<float> all(values.size());
    right += torchere_result_read(result, 0, all.data(), all.size() * 4) == TORCHERE_OK &&
             all[0] == 3 * number && all[all.size() - 1] == 5 * number;
    torchere_result_destroy(result);
    (void)first;
  }
  return right;
}

TEST_F(ThreadsTest, CallOneProgram) {
  torchere_program program = load("dynamic");
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] { right += callMany(program, static_cast<float>(t + 1)); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 2 * rounds);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(ThreadsTest, ShareAState) {
  torchere_program program = load("counter");
  std::atomic<int> failures = 0;
  auto add = [&] {
    const float ones[] = {1, 1};
    const int64_t dims[] = {2};
    torchere_input x = sized<torchere_input>();
    x.kind = TORCHERE_KIND_TENSOR;
    x.tensor = {sizeof(torchere_tensor), nullptr, TORCHERE_FLOAT32, ones, sizeof ones, 1, dims, nullptr};
    for (int round = 0; round < rounds; ++round) {
      torchere_result result = nullptr;
      torchere_snapshot snapshot = nullptr;
      failures += torchere_call(program, 0, &x, 1, &result) != TORCHERE_OK;
      failures += torchere_program_snapshot(program, &snapshot) != TORCHERE_OK;
      failures += torchere_result_destroy(result) != TORCHERE_OK;
      failures += torchere_snapshot_destroy(snapshot) != TORCHERE_OK;
    }
  };
  std::thread first(add), second(add);
  first.join();
  second.join();
  EXPECT_EQ(failures, 0);
  float count[2] = {};
  ASSERT_EQ(torchere_program_read(program, "count", count, sizeof count), TORCHERE_OK);
  EXPECT_EQ(count[0], 10 + 2 * rounds);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(ThreadsTest, DestroyWhatOthersUse) {
  for (int round = 0; round < 10; ++round) {
    torchere_program program = load("dynamic");
    std::atomic<bool> started = false;
    std::thread other([&] {
      started = true;
      callMany(program, 1); // right or refused
    });
    while (!started)
      std::this_thread::yield();
    EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
    other.join();
  }
}

} // namespace
} // namespace torchere::capi
