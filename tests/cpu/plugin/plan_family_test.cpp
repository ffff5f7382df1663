// PlanFamily: what the plans of one program for several sizes share.
#include "cpu/plugin/open_program.h"

#include <gtest/gtest.h>

#include <numeric>

namespace torchere::cpu {
namespace {

using interpreter::Tensor;

TEST(Arenas, AreUsedAgainAndGrow) {
  ArenaPool pool;
  Arena first = *pool.take(100);
  const std::byte *memory = first.memory.get();
  pool.putBack(std::move(first));
  Arena second = *pool.take(50);
  EXPECT_EQ(second.memory.get(), memory);
  Arena other = *pool.take(50); // of a run at the same time
  EXPECT_NE(other.memory.get(), memory);
  pool.putBack(std::move(second));
  pool.putBack(std::move(other));
  Arena large = *pool.take(1000); // in place of the one of 100
  EXPECT_EQ(large.bytes, 1000);
  pool.putBack(std::move(large));
  EXPECT_EQ(pool.take(60)->bytes, 1000);
  EXPECT_EQ(pool.take(60)->bytes, 60);
}

TEST(Arenas, ThatAreIdleGiveWay) {
  ArenaPool pool;
  int64_t before = memoryTaken();
  Arena used = *pool.take(3000);
  pool.putBack(*pool.take(5000));
  EXPECT_EQ(memoryTaken() - before, 8000);
  EXPECT_TRUE(MemoryShare::take(memoryLimit() - before - 4000));
  EXPECT_EQ(memoryTaken() - before, 3000);
}

struct SizedArray {
  explicit SizedArray(std::vector<int64_t> shape)
      : tensor(*Tensor::create(ElementType::F32, std::move(shape))) {
    elements = reinterpret_cast<float *>(tensor.writableBytes().data());
    count = tensor.bytes().size() / sizeof(float);
  }
  void fill(float first, float step) {
    for (size_t i = 0; i < count; ++i)
      elements[i] = first + step * static_cast<float>(i % 7);
  }
  Tensor tensor;
  float *elements;
  size_t count;
  std::unique_ptr<Lifetime> lifetime = std::make_unique<Lifetime>();
};

/// A convolution with scaled weights: in Winograd's form from 196 pixels on.
constexpr const char *scaledRows = R"(
func.func @main(%x: tensor<?x32x8x8xf32>, %w: tensor<32x32x3x3xf32> {torchere.weight = true},
                %s: tensor<32xf32> {torchere.weight = true}) -> tensor<?x32x8x8xf32> {
  %0 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<32xf32>) -> tensor<32x32x3x3xf32>
  %1 = stablehlo.multiply %w, %0 : tensor<32x32x3x3xf32>
  %2 = stablehlo.convolution(%x, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<?x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<?x32x8x8xf32>
  return %2 : tensor<?x32x8x8xf32>
})";

class Scaled {
public:
  Scaled() {
    auto module = readModule(scaledRows);
    EXPECT_TRUE(module) << module.error().text();
    auto entry = interpreter::describeEntry(*module, interpreter::OpenSizes::Allowed);
    EXPECT_TRUE(entry) << entry.error().text();
    open = std::make_unique<OpenModule>(*std::move(module), *std::move(entry), Target());
    weights.fill(-0.5f, 0.125f);
    scales.fill(1, 0.5f);
  }
  CompiledModule compileFor(int64_t batch) const {
    auto compiled =
        compileModule([&](ModuleUse use) { return open->bind({batch}, use); }, open->compiledFor());
    EXPECT_TRUE(compiled && compiled->plan && compiled->weights);
    return *std::move(compiled);
  }
  /// The first element of the second channel of the last image, on images of ones.
  float run(const CpuProgram &program, int64_t batch) const {
    SizedArray images({batch, 32, 8, 8});
    images.fill(1, 0);
    pjrt_server::ArgumentLists arguments(1);
    for (const SizedArray *each : {static_cast<const SizedArray *>(&images), &weights, &scales})
      arguments[0].push_back({&each->tensor, false, each->lifetime.get()});
    auto results = program.run(arguments);
    EXPECT_TRUE(results) << results.error().text();
    auto bytes = (*results)[0][0].bytes();
    return reinterpret_cast<const float *>(bytes.data())[((batch - 1) * 32 + 1) * 64];
  }
  /// The same: the corner sees four of the nine taps.
  float expected() const {
    float sum = 0;
    for (size_t input = 0; input < 32; ++input)
      for (size_t tap : {4, 5, 7, 8})
        sum += weights.elements[(32 + input) * 9 + tap] * scales.elements[1];
    return sum;
  }
  std::unique_ptr<OpenModule> open;
  SizedArray weights{{32, 32, 3, 3}}, scales{{32}};
};

TEST(PlanFamily, PlansOfSeveralSizesShareWhatIsComputedFromWeights) {
  ThreadPool pool(2);
  Context context{pool, Isa::Baseline};
  Scaled program;
  auto family = std::make_shared<PlanFamily>();
  auto programFor = [&](int64_t batch) {
    return std::make_unique<CpuProgram>(program.compileFor(batch), interpreter::ProcessCounts{}, context,
                                        family);
  };
  // Winograd's form pays for two images and more of this size.
  auto two = programFor(2), four = programFor(4), one = programFor(1);
  float right = program.expected();
  EXPECT_NEAR(program.run(*two, 2), right, 1e-3);
  EXPECT_EQ(two->weightSetCount(), 1);
  EXPECT_EQ(four->weightSetCount(), 1); // the same
  program.scales.elements[1] = 100;     // nobody may: shows that nothing is computed again
  EXPECT_NEAR(program.run(*four, 4), right, 1e-3);
  program.scales.elements[1] = 1.5f;
  EXPECT_NEAR(program.run(*one, 1), right, 1e-3); // packs them in another form, so they are computed again
  program.scales.elements[1] = 100;
  EXPECT_NEAR(program.run(*one, 1), right, 1e-3);
  EXPECT_NEAR(program.run(*two, 2), right, 1e-3);
  EXPECT_EQ(one->weightSetCount(), 1);
  program.scales.lifetime = std::make_unique<Lifetime>(); // other contents
  EXPECT_EQ(two->weightSetCount(), 0);
  EXPECT_NEAR(program.run(*four, 4), program.expected(), 1e-1);
}

TEST(PlanFamily, APlanThatIsDroppedTakesNothingFromOthers) {
  ThreadPool pool(1);
  Context context{pool, Isa::Baseline};
  Scaled program;
  auto family = std::make_shared<PlanFamily>();
  for (int64_t batch = 1; batch < 6; ++batch) {
    CpuProgram plan(program.compileFor(batch), {}, context, family);
    EXPECT_NEAR(program.run(plan, batch), program.expected(), 1e-3);
  }
}

} // namespace
} // namespace torchere::cpu
