// Fuzz target of the reader of portable artifacts: what it accepts must be written and read back as the same.
#include "fuzz_target.h"

#include "vhlo/portable_artifact.h"

#include <cstdio>
#include <cstdlib>

using namespace torchere;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto module = vhlo::deserialize({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!module)
    return 0;
  auto written = vhlo::serialize(*module, {.target = vhlo::currentVersion});
  if (!written)
    return 0; // attributes of modules may be of kinds that no artifact of ours has
  if (auto again = vhlo::deserialize(*written, "fuzz"); !again)
    std::abort();
  return 0;
}

static const char *const programs[] = {
    "module {}",
    R"(func.func public @main(%arg0: tensor<4x?xf32> {jax.name = "x"}) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %mask = stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
      %sum = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x?xf32>, tensor<f32>) -> tensor<4xf32>
      return %sum : tensor<4xf32> loc("encoder"("model.py":31:2))
    })",
    R"(module attributes {t.a = [1 : i32, "b", unit, f32], t.d = {e = 2.5 : f64, f = @g}} {
      func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT]
          : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %1 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
        %2 = stablehlo.exponential %0 : tensor<2x4xf32>
        %3 = stablehlo.custom_call @f(%2) {backend_config = {k = 1 : i64}, api_version = 4 : i32,
          output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0,
          operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
        return %3 : tensor<2x4xf32>
      }
    })",
};

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (const char *program : programs) {
    auto module = stablehlo::Module::parse(program);
    if (!module) {
      std::fprintf(stderr, "%s\n", module.error().text().c_str());
      std::abort();
    }
    for (vhlo::Version target : {vhlo::minimumVersion, vhlo::Version{0, 12, 0}, vhlo::Version{0, 14, 0},
                                 vhlo::defaultVersion, vhlo::currentVersion})
      if (auto bytes = vhlo::serialize(*module, {.target = target}))
        seeds.push_back(*bytes);
  }
  return seeds;
}
