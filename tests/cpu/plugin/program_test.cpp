// CpuProgram: what is computed once for each set of weights, when it ends, and what a later run allocates.
#include "cpu/plugin/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_ALLOCATOR 1
#endif

static std::atomic<int64_t> allocations = 0;

#ifndef HAS_OWN_ALLOCATOR
void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}
extern "C" void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  void *memory = nullptr; // posix_memalign takes no alignment below that of a pointer
  return posix_memalign(&memory, std::max(alignment, sizeof(void *)), size) == 0 ? memory : nullptr;
}
#endif

namespace torchere::cpu {
namespace {

using interpreter::Tensor;
using pjrt_server::Argument;

/// An array as the server has it: contents with a lifetime, in memory that may have held others.
struct Array {
  Array(Tensor tensor, std::vector<float> values)
      : tensor(std::move(tensor)), lifetime(std::make_unique<Lifetime>()) {
    std::copy(values.begin(), values.end(), reinterpret_cast<float *>(this->tensor.writableBytes().data()));
  }
  /// Other contents in the same memory.
  void replace(std::vector<float> values) {
    lifetime = nullptr;
    *this = Array(tensor, std::move(values));
  }
  Tensor tensor;
  std::unique_ptr<Lifetime> lifetime;
};

Array array(std::vector<int64_t> shape, std::vector<float> values) {
  return {*Tensor::create(ElementType::F32, std::move(shape)), std::move(values)};
}

class Engine {
public:
  explicit Engine(std::string_view code, int threads = 1) : pool(threads) {
    auto compiled = compileModule([&](ModuleUse) { return readModule(code); }, {});
    EXPECT_TRUE(compiled) << compiled.error().text();
    EXPECT_TRUE(compiled->plan) << compiled->reason;
    if (compiled->weights)
      for (const auto &step : compiled->weights->plan.steps)
        weightSteps.emplace_back(step->name());
    for (const auto &step : compiled->plan->steps)
      steps.emplace_back(step->name());
    program = std::make_unique<CpuProgram>(*std::move(compiled), interpreter::ProcessCounts{},
                                           Context{pool, Isa::Baseline});
  }
  std::vector<float> run(const std::vector<const Array *> &arrays) const {
    pjrt_server::ArgumentLists arguments(1);
    for (const Array *each : arrays)
      arguments[0].push_back({&each->tensor, false, each->lifetime.get()});
    auto results = program->run(arguments);
    EXPECT_TRUE(results) << results.error().text();
    auto bytes = (*results)[0][0].bytes();
    const auto *values = reinterpret_cast<const float *>(bytes.data());
    return {values, values + bytes.size() / sizeof(float)};
  }

  ThreadPool pool;
  std::vector<std::string> steps, weightSteps;
  std::unique_ptr<CpuProgram> program;
};

/// Batch norm's way with a weight: a product of two weights, then a matrix product.
constexpr const char *scaled = R"(
func.func @main(%x: tensor<1x2xf32>, %w: tensor<2x2xf32> {torchere.weight = true}, %s: tensor<2xf32> {torchere.weight = true})
    -> tensor<1x2xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<2xf32>
  %0 = stablehlo.multiply %s, %two : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.multiply %w, %1 : tensor<2x2xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
})";

TEST(Weights, AreComputedOnceForTheirContents) {
  Engine engine(scaled);
  EXPECT_EQ(engine.steps, std::vector<std::string>{"matmul"});
  EXPECT_EQ(engine.weightSteps, std::vector<std::string>({"vector program", "vector program"}));
  Array x = array({1, 2}, {1, 1}), w = array({2, 2}, {1, 2, 3, 4}), s = array({2}, {1, 10});
  EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8, 120}));
  EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8, 120}));
  EXPECT_EQ(engine.program->weightSetCount(), 1);
  auto *elements = reinterpret_cast<float *>(w.tensor.writableBytes().data());
  elements[0] = 100; // nobody may: shows that nothing is computed again
  EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8, 120}));
}

TEST(Weights, OtherContentsInTheSameMemoryAreOthers) {
  Engine engine(scaled);
  Array x = array({1, 2}, {1, 1}), w = array({2, 2}, {1, 2, 3, 4}), s = array({2}, {1, 10});
  for (float step = 0; step < 12; ++step) { // as in training: each step replaces the weight
    EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8 + 2 * step, 120}));
    EXPECT_EQ(engine.program->weightSetCount(), 1);
    w.replace({2 + step, 2, 3, 4});
    EXPECT_EQ(engine.program->weightSetCount(), 0); // gone with the contents
  }
}

TEST(Weights, OfSeveralModelsShareAProgram) {
  Engine engine(scaled);
  Array x = array({1, 2}, {1, 1}), s = array({2}, {1, 10});
  std::vector<Array> models;
  for (int i = 0; i < 12; ++i)
    models.push_back(array({2, 2}, {static_cast<float>(i), 2, 3, 4}));
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < models.size(); ++i)
      EXPECT_EQ(engine.run({&x, &models[i], &s}), (std::vector<float>{2 * (float(i) + 3), 120}));
  EXPECT_EQ(engine.program->weightSetCount(), 12);
  s = array({2}, {1, 1}); // all of them used it
  EXPECT_EQ(engine.program->weightSetCount(), 0);
}

TEST(Weights, OutliveTheirProgram) {
  Array x = array({1, 2}, {1, 1}), w = array({2, 2}, {1, 2, 3, 4}), s = array({2}, {1, 10});
  {
    Engine engine(scaled);
    engine.run({&x, &w, &s});
  }
  w.replace({1, 2, 3, 4}); // tells nobody
  EXPECT_EQ(Engine(scaled).run({&x, &w, &s}), (std::vector<float>{8, 120}));
}

TEST(Weights, AreComputedByOneOfManyThreads) {
  Engine engine(scaled, 2);
  Array x = array({1, 2}, {1, 1}), w = array({2, 2}, {1, 2, 3, 4}), s = array({2}, {1, 10});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call)
        EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8, 120}));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(engine.program->weightSetCount(), 1);
}

/// What is left in the entry because it costs nothing there, and what must be run in every call.
TEST(Weights, ViewsAndRepeatedElementsStay) {
  Engine engine(R"(
func.func @main(%x: tensor<4x2xf32>, %b: tensor<2xf32> {torchere.weight = true}, %c: tensor<2xf32> {torchere.weight = true}) -> tensor<4x2xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x2xf32>
  %3 = stablehlo.multiply %x, %2 : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
})");
  EXPECT_EQ(engine.weightSteps, std::vector<std::string>());
  EXPECT_EQ(engine.steps, std::vector<std::string>{"vector program"});
  Array x = array({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), b = array({2}, {1, 2}), c = array({2}, {3, 4});
  EXPECT_EQ(engine.run({&x, &b, &c}), (std::vector<float>{4, 12, 12, 24, 20, 36, 28, 48}));
}

TEST(Weights, WithoutTheMarkAreArguments) {
  std::string code = scaled;
  for (size_t at; (at = code.find(" {torchere.weight = true}")) != std::string::npos;)
    code.erase(at, std::string_view(" {torchere.weight = true}").size());
  Engine engine(code);
  EXPECT_EQ(engine.weightSteps, std::vector<std::string>());
  Array x = array({1, 2}, {1, 1}), w = array({2, 2}, {1, 2, 3, 4}), s = array({2}, {1, 10});
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(engine.run({&x, &w, &s}), (std::vector<float>{8, 120}));
}

TEST(Weights, ThatAreDonatedAreNone) {
  Engine engine(R"(
func.func @main(%w: tensor<2xf32> {torchere.weight = true, tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
  %0 = stablehlo.add %w, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  EXPECT_EQ(engine.weightSteps, std::vector<std::string>());
  Array w = array({2}, {1, 2});
  EXPECT_EQ(engine.run({&w}), (std::vector<float>{2, 4}));
}

/// A loop and a branch that multiply by a weight's value, which is packed and not kept.
TEST(Weights, ArePackedForStepsInSteps) {
  Engine engine(R"(
func.func @main(%x: tensor<1x2xf32>, %w: tensor<2x2xf32> {torchere.weight = true}) -> tensor<1x2xf32> {
  %0 = stablehlo.add %w, %w : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %1:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<1x2xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.dot_general %v, %0, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<1x2xf32>
    }
  return %1#1 : tensor<1x2xf32>
})");
  EXPECT_EQ(engine.weightSteps, std::vector<std::string>{"vector program"});
  Array x = array({1, 2}, {1, 2}), w = array({2, 2}, {0, 0.5, 1, 0});
  for (int call = 0; call < 3; ++call) // [[0, 1], [2, 0]] three times
    EXPECT_EQ(engine.run({&x, &w}), (std::vector<float>{8, 2}));
}

/// `layers` of a product, an addition, a slice update, a reduction and a tanh.
std::string deep(int layers) {
  std::string code = "func.func @main(%x0: tensor<4x8xf32>, %w: tensor<8x8xf32> {torchere.weight = true}, "
                     "%b: tensor<8xf32> {torchere.weight = true}) -> tensor<4x8xf32> {\n"
                     "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                     "  %begin = stablehlo.constant dense<1> : tensor<i32>\n";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    code +=
        "  %p" + n + " = stablehlo.dot_general %x" + n +
        ", %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n"
        "  %b" +
        n +
        " = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>\n"
        "  %a" +
        n + " = stablehlo.add %p" + n + ", %b" + n +
        " : tensor<4x8xf32>\n"
        "  %r" +
        n + " = stablehlo.reduce(%a" + n +
        " init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> "
        "tensor<4xf32>\n"
        "  %c" +
        n + " = stablehlo.broadcast_in_dim %r" + n +
        ", dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>\n"
        "  %u" +
        n + " = stablehlo.dynamic_update_slice %a" + n + ", %c" + n +
        ", %begin, %begin : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>\n"
        "  %x" +
        next + " = stablehlo.tanh %u" + n + " : tensor<4x8xf32>\n";
  }
  return code + "  return %x" + std::to_string(layers) + " : tensor<4x8xf32>\n}";
}

TEST(Runs, AllocateNothingButResults) {
#ifdef HAS_OWN_ALLOCATOR
  GTEST_SKIP() << "the sanitizer's allocator is not counted";
#endif
  auto allocationsOf = [](int layers) {
    Engine engine(deep(layers));
    Array x = array({4, 8}, std::vector<float>(32, 0.1f)), w = array({8, 8}, std::vector<float>(64, 0.2f)),
          b = array({8}, std::vector<float>(8, 0.3f));
    for (int call = 0; call < 3; ++call)
      engine.run({&x, &w, &b});
    int64_t before = allocations;
    engine.run({&x, &w, &b});
    return allocations - before;
  };
  // What is left is the list of arguments and the result, whatever the program does.
  EXPECT_EQ(allocationsOf(12), allocationsOf(1));
  EXPECT_LT(allocationsOf(1), 30);
}

TEST(Results, HaveMemoryOfTheirOwnThatIsUsedAgain) {
  Engine engine(deep(1));
  Array x = array({4, 8}, std::vector<float>(32, 0.1f)), w = array({8, 8}, std::vector<float>(64, 0.2f)),
        b = array({8}, std::vector<float>(8, 0.3f));
  pjrt_server::ArgumentLists arguments(1);
  for (const Array *each : {&x, &w, &b})
    arguments[0].push_back({&each->tensor, false, each->lifetime.get()});
  auto first = engine.program->run(arguments);
  const void *memory = (*first)[0][0].bytes().data();
  auto second = engine.program->run(arguments);
  EXPECT_NE((*second)[0][0].bytes().data(), memory); // the first is still there
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  first = {};
  auto third = engine.program->run(arguments);
  EXPECT_EQ((*third)[0][0].bytes().data(), memory);
  engine.program = nullptr; // results stay
  EXPECT_EQ((*third)[0][0].at(0).asDouble(), (*second)[0][0].at(0).asDouble());
}

} // namespace
} // namespace torchere::cpu
