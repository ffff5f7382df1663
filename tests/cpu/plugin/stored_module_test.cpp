// Plans as stored executables hold them: they give the same bits, and are read by the same build alone.
#include "cpu/plugin/program.h"
#include "cpu/plugin/stored_module.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace torchere::cpu {
namespace {

using interpreter::Tensor;

/// A product with scaled weights, softmax and a loop.
constexpr const char *rows = R"(
func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32> {torchere.weight = true},
                %s: tensor<6xf32> {torchere.weight = true}, %n: tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %scales = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<6xf32>) -> tensor<6x6xf32>
  %scaled = stablehlo.multiply %w, %scales : tensor<6x6xf32>
  %0 = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [1]
    : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %0) : tensor<i32>, tensor<4x6xf32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.tanh %v : tensor<4x6xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<4x6xf32>
  }
  return %0, %r#1 : tensor<4x6xf32>, tensor<4x6xf32>
})";

CompiledModule compiled(const char *code) {
  auto made = compileModule([&](ModuleUse) { return readModule(code); }, {});
  EXPECT_TRUE(made && made->plan) << (made ? made->reason : made.error().text());
  return *std::move(made);
}

/// The elements of all results, on the same numbers in each call.
std::string run(CompiledModule module) {
  ThreadPool pool(2);
  pjrt_server::ArgumentLists arguments(1);
  std::vector<std::unique_ptr<Lifetime>> lifetimes;
  std::deque<Tensor> tensors;
  for (const interpreter::EntryArgument &argument : module.entry.arguments) {
    Tensor &tensor = tensors.emplace_back(*Tensor::create(argument.type.elementType, argument.type.shape));
    std::span<std::byte> bytes = tensor.writableBytes();
    if (argument.type.shape.empty())
      bytes[0] = std::byte{3};
    else
      for (size_t i = 0; i < bytes.size() / sizeof(float); ++i)
        reinterpret_cast<float *>(bytes.data())[i] = float(i % 7) - 2.5f;
    arguments[0].push_back({&tensor, false, lifetimes.emplace_back(std::make_unique<Lifetime>()).get()});
  }
  CpuProgram program(std::move(module), {}, Context{pool, Isa::Baseline});
  std::string bits;
  for (int call = 0; call < 2; ++call) {
    auto results = program.run(arguments);
    EXPECT_TRUE(results) << results.error().text();
    for (const Tensor &result : results->front())
      bits.append(reinterpret_cast<const char *>(result.bytes().data()), result.bytes().size());
  }
  return bits;
}

TEST(StoredModule, GivesTheSameBits) {
  CompiledModule module = compiled(rows);
  ASSERT_TRUE(module.weights);
  std::string stored = storeModule(module, Isa::Baseline);
  ASSERT_FALSE(stored.empty());
  auto loaded = loadModule(stored, Isa::Baseline);
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_TRUE(*loaded);
  EXPECT_EQ(storeModule(**loaded, Isa::Baseline), stored);
  EXPECT_EQ((*loaded)->entry.name, module.entry.name);
  EXPECT_EQ((*loaded)->entry.results, module.entry.results);
  EXPECT_EQ((*loaded)->isWeight, module.isWeight);
  EXPECT_EQ(run(**std::move(loaded)), run(std::move(module)));
}

TEST(StoredModule, IsNotReadByAnotherBuildOrForOtherInstructions) {
  std::string stored = storeModule(compiled(rows), Isa::Baseline);
  auto other = loadModule(stored, Isa::Avx2);
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
  stored[sizeof(uint64_t)] ^= 1; // of the build's name
  other = loadModule(stored, Isa::Baseline);
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
}

/// The bytes of a number where they occur the last time.
void replaceLast(std::string &stored, uint64_t number, uint64_t with) {
  std::string_view bytes(reinterpret_cast<const char *>(&number), sizeof number);
  size_t place = stored.rfind(bytes);
  ASSERT_NE(place, std::string::npos);
  std::memcpy(stored.data() + place, &with, sizeof with);
}

TEST(StoredModule, IsRefusedIfItIsNotWhole) {
  CompiledModule module = compiled(rows);
  std::string stored = storeModule(module, Isa::Baseline);
  size_t header = 0;
  for (int text = 0; text < 2; ++text) {
    uint64_t size = 0;
    std::memcpy(&size, stored.data() + header, sizeof size);
    header += sizeof size + size;
  }
  for (size_t length = header; length < stored.size(); ++length)
    EXPECT_FALSE(loadModule(std::string_view(stored).substr(0, length), Isa::Baseline)) << length;
  EXPECT_EQ(loadModule(stored + "x", Isa::Baseline).error().message, "[plan] 1 bytes behind the end");
  EXPECT_EQ(loadModule("", Isa::Baseline).error().message, "[plan] cut off: got 0 bytes, expected 8");
}

TEST(StoredModule, StepsThatPackAreThePlans) {
  CompiledModule module = compiled(rows);
  size_t steps = module.plan->steps.size();
  std::string stored = storeModule(module, Isa::Baseline);
  replaceLast(stored, steps - 1, 1000);
  EXPECT_EQ(loadModule(stored, Isa::Baseline).error().message,
            fmt::format("[plan] packing step 1000: expected one of {}", steps));
}

/// A plan whose step has the element functions of the interpreter cannot be stored.
TEST(StoredModule, IsNotMadeOfStepsThatHoldOps) {
  EXPECT_EQ(storeModule(compiled(R"(func.func @main(%x: tensor<5xf8E4M3FN>) -> tensor<5xf8E4M3FN> {
              %0 = stablehlo.tanh %x : tensor<5xf8E4M3FN>
              return %0 : tensor<5xf8E4M3FN>
            })"),
                        Isa::Baseline),
            "");
}

} // namespace
} // namespace torchere::cpu
