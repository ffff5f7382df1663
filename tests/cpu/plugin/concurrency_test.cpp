// The engine's plugin called from many threads at once. The results are the same bits as those of a call
// alone; whether the memory between is shared rightly is for ThreadSanitizer to tell, which sees all but
// MLIR.
#include "../../pjrt_server/raw_client.h"

#include "cpu/plugin/api.h"

#include <algorithm>
#include <cstring>
#include <latch>
#include <thread>

namespace torchere::pjrt_server {

const pjrt::Api *pluginApi() {
  return cpu::api();
}

namespace {

constexpr int kThreads = 8;
constexpr int64_t kSize = 64;
const std::vector<int64_t> square = {kSize, kSize};

/// Calls body(thread) in eight threads at once.
template <class Body> void inThreads(const Body &body) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&body, thread] { body(thread); });
}

std::vector<float> values(int first, int64_t count = kSize * kSize) {
  std::vector<float> made(count);
  for (int64_t i = 0; i < count; ++i)
    made[i] = static_cast<float>((first * 7 + i * 5) % 31 - 15) / 64;
  return made;
}

/// A product with a weight, packed once for its contents; a reduction; a loop with another product of it.
constexpr const char *layers = R"(
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32> {torchere.weight = true}) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %nothing = stablehlo.constant dense<0.0> : tensor<f32>
  %scaled = stablehlo.multiply %w, %w : tensor<64x64xf32>
  %0 = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = stablehlo.reduce(%1 init: %nothing) applies stablehlo.add across dimensions = [1]
    : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<64x64xf32>
  %5:2 = stablehlo.while(%i = %zero, %v = %4) : tensor<i32>, tensor<64x64xf32>
    cond {
      %6 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = stablehlo.add %i, %one : tensor<i32>
      %7 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      stablehlo.return %6, %7 : tensor<i32>, tensor<64x64xf32>
    }
  return %5#1 : tensor<64x64xf32>
})";

/// Adds to a weight in its own memory.
constexpr const char *update = R"(
func.func @main(%w: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.add %w, %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
})";

/// Works with a client that computes in the caller's thread, and with one that has a thread for that.
class ManyThreads : public testing::TestWithParam<bool> {
protected:
  static RawClient makeClient(int64_t devices = 1) {
    return RawClient({RawClient::option("device_count", devices),
                      RawClient::option("intra_op_threads", int64_t{2}),
                      RawClient::option("asynchronous", GetParam())});
  }
  static BufferPointer run(const ExecutablePointer &executable, const std::vector<BufferPointer> &arguments) {
    Launched launched = execute(executable, {arguments});
    EXPECT_EQ(launched.answer, ok);
    return launched.results.at(0).at(0);
  }
  BufferPointer matrix(int first) const { return client.floats(values(first), square); }

  RawClient client = makeClient();
  ExecutablePointer executable = client.compile(layers);
};

TEST_P(ManyThreads, CallOneExecutable) {
  BufferPointer w = matrix(3);
  std::vector<std::vector<float>> expected;
  for (int thread = 0; thread < kThreads; ++thread)
    expected.push_back(floatsOf(run(executable, {matrix(thread), w})));
  EXPECT_NE(expected[0], expected[1]);
  inThreads([&](int thread) {
    BufferPointer x = matrix(thread);
    for (int call = 0; call < 25; ++call)
      EXPECT_EQ(floatsOf(run(executable, {x, w})), expected[thread]);
  });
}

/// Each call has a weight of its own, which ends while others run: its memory is soon another's.
TEST_P(ManyThreads, FreeWeightsWhoseMemoryIsUsedAgain) {
  BufferPointer x = matrix(1);
  std::vector<std::vector<float>> expected;
  for (int weight = 0; weight < kThreads + 20; ++weight)
    expected.push_back(floatsOf(run(executable, {x, matrix(weight)})));
  inThreads([&](int thread) {
    for (int call = 0; call < 20; ++call) {
      BufferPointer result =
          run(executable, {x, matrix(thread + call)}); // the weight is freed before it is read
      EXPECT_EQ(floatsOf(result), expected[thread + call]);
    }
  });
}

TEST_P(ManyThreads, UpdateWeightsInPlace) {
  ExecutablePointer updating = client.compile(update);
  auto train = [&](int thread, std::vector<std::vector<float>> &results) {
    BufferPointer w = matrix(thread), x = matrix(thread + 1);
    for (int step = 0; step < 15; ++step) {
      results.push_back(floatsOf(run(executable, {x, w})));
      w = run(updating, {w, x});
    }
  };
  std::vector<std::vector<std::vector<float>>> expected(kThreads), got(kThreads);
  for (int thread = 0; thread < kThreads; ++thread)
    train(thread, expected[thread]);
  inThreads([&](int thread) { train(thread, got[thread]); });
  EXPECT_EQ(got, expected);
  EXPECT_NE(got[0][0], got[0][1]);
}

TEST_P(ManyThreads, DonateOneBuffer) {
  ExecutablePointer updating = client.compile(update);
  BufferPointer x = matrix(1);
  for (int round = 0; round < 20; ++round) {
    BufferPointer w = matrix(round);
    std::vector<Answer> answers(kThreads);
    std::vector<BufferPointer> results(kThreads);
    inThreads([&](int thread) {
      Launched launched = execute(updating, {{w, x}});
      answers[thread] = launched.answer;
      if (launched.answer == ok)
        results[thread] = launched.results[0][0];
    });
    EXPECT_EQ(std::count(answers.begin(), answers.end(), ok), 1);
    std::vector<float> sum = values(round), addend = values(1);
    std::transform(sum.begin(), sum.end(), addend.begin(), sum.begin(), std::plus());
    for (int thread = 0; thread < kThreads; ++thread)
      if (answers[thread] == ok)
        EXPECT_EQ(floatsOf(results[thread]), sum);
      else
        EXPECT_EQ(answers[thread], Answer(3, "[main] argument 0: the buffer was deleted or donated"));
    EXPECT_TRUE(isDeleted(w));
  }
}

/// The others read it, in a program or by a copy to the host: what it was, or an error.
TEST_P(ManyThreads, DonateABufferThatOthersRead) {
  constexpr int64_t size = 1 << 19;
  auto compile = [&](const char *text) {
    return client.compile(fmt::format(fmt::runtime(text), fmt::format("tensor<{}xf32>", size)));
  };
  ExecutablePointer updating = compile(R"(
func.func @main(%w: {0} {{tf.aliasing_output = 0 : i32}}, %x: {0}) -> {0} {{
  %0 = stablehlo.add %w, %x : {0}
  return %0 : {0}
}})"),
                    reading = compile(R"(
func.func @main(%w: {0}) -> {0} {{
  %0 = stablehlo.negate %w : {0}
  return %0 : {0}
}})");
  std::vector<float> ones(size, 1);
  BufferPointer x = client.floats(ones, {size});
  auto isAll = [&](const std::vector<float> &got, float value) { // comparing bytes, which takes no time
    return got.size() == size && got[0] == value &&
           std::memcmp(&got[0], &got[1], (size - 1) * sizeof(float)) == 0;
  };
  for (int round = 0; round < 60; ++round) {
    BufferPointer w = client.floats(ones, {size});
    std::latch start(kThreads);
    inThreads([&](int thread) {
      start.arrive_and_wait();
      if (thread == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(round % 20 * 30));
        EXPECT_TRUE(isAll(floatsOf(run(updating, {w, x})), 2));
      } else if (thread % 2) {
        Launched launched = execute(reading, {{w}});
        if (launched.answer == ok)
          EXPECT_TRUE(isAll(floatsOf(launched.results[0][0]), -1));
        else
          EXPECT_EQ(launched.answer, Answer(3, "[main] argument 0: the buffer was deleted or donated"));
      } else {
        std::vector<float> got;
        if (Answer answer = read(w, got); answer == ok)
          EXPECT_TRUE(isAll(got, 1));
        else
          EXPECT_EQ(answer, Answer(3, "[PJRT_Buffer_ToHostBuffer] the buffer was deleted or donated"));
      }
    });
    EXPECT_TRUE(isDeleted(w));
  }
}

/// What ends while calls may still be at work: arguments, the executable, the client.
TEST_P(ManyThreads, LeaveBeforeTheirResultsAreThere) {
  std::vector<float> expected = floatsOf(run(executable, {matrix(1), matrix(2)}));
  inThreads([&](int) {
    for (int call = 0; call < 5; ++call) {
      RawClient own = makeClient();
      ExecutablePointer compiled = own.compile(layers);
      BufferPointer first = run(compiled, {own.floats(values(1), square), own.floats(values(2), square)});
      run(compiled, {first, first}); // nobody waits for it
      compiled.reset();
      own.destroy();
      EXPECT_EQ(floatsOf(first), expected);
    }
  });
}

/// Four processes, which meet in each turn of a loop; several such runs at once.
TEST_P(ManyThreads, RunProgramsOfSeveralDevices) {
  RawClient four = makeClient(4);
  ExecutablePointer summing = four.compile(R"(
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64x64xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = "stablehlo.all_reduce"(%v) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<64x64xf32>
    }
  return %0#1 : tensor<64x64xf32>
})",
                                           optionsFor(4));
  inThreads([&](int thread) {
    std::vector<std::vector<BufferPointer>> arguments;
    for (size_t device = 0; device < 4; ++device)
      arguments.push_back({four.floats(
          std::vector<float>(kSize * kSize, static_cast<float>(thread) + static_cast<float>(device)), square,
          device)});
    auto sum = static_cast<float>(4 * thread + 6);
    for (int call = 0; call < 5; ++call) {
      Launched launched = execute(summing, arguments);
      ASSERT_EQ(launched.answer, ok);
      for (size_t device = 0; device < 4; ++device)
        EXPECT_EQ(floatsOf(launched.results[device][0]), std::vector<float>(kSize * kSize, 16 * sum));
    }
  });
}

/// Each thread has sizes of its own, for which the first call of all makes a plan.
TEST_P(ManyThreads, BindSizes) {
  ExecutablePointer open = client.compile(R"(
func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x64xf32> {torchere.weight = true}) -> tensor<?x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = stablehlo.tanh %0 : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
})");
  BufferPointer w = matrix(3);
  std::vector<float> whole =
      floatsOf(run(open, {client.floats(values(1, kSize * kThreads), {kThreads, kSize}), w}));
  inThreads([&](int thread) {
    for (int call = 0; call < 10; ++call) {
      int64_t rows = 1 + (thread + call) % kThreads;
      BufferPointer result = run(open, {client.floats(values(1, kSize * rows), {rows, kSize}), w});
      std::vector<float> part(whole.begin(), whole.begin() + kSize * rows), got = floatsOf(result);
      ASSERT_EQ(got.size(), part.size());
      for (size_t i = 0; i < got.size(); ++i) // a product of other sizes may add in another order
        EXPECT_NEAR(got[i], part[i], 1e-5f);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Engine, ManyThreads, testing::Bool(),
                         [](const auto &info) { return info.param ? "Asynchronous" : "InTheCaller"; });

} // namespace
} // namespace torchere::pjrt_server
