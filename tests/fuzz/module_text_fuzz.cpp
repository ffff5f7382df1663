// Fuzz target of the reader of modules' text: what it accepts must be printed and read back as the same.
#include "fuzz_target.h"

#include "stablehlo/module.h"

#include <cstdio>
#include <cstdlib>

using namespace torchere;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto module = stablehlo::Module::parse({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!module)
    return 0;
  std::string text = module->text();
  auto again = stablehlo::Module::parse(text, "fuzz");
  if (!again || again->text() != text)
    std::abort();
  return 0;
}

static const char *const modules[] = {
    R"(#map = affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 mod 3, -(d1 floordiv s0))>
#set = affine_set<(d0) : (d0 - 1 >= 0, d0 == 4)>
!pair = tuple<tensor<2xf32>, tensor<i1>>
#loc = loc("model.py":3:4)
#loc1 = loc(callsite("f"(#loc) at fused<"tag">[#loc, unknown]))
module @m attributes {a.map = #map, a.set = #set, a.list = [1, "b\22", @c::@d, unit, -2.5e-1 : f64]} {
  func.func @main(%arg0: tensor<2xf32> loc(#loc), %arg1: !pair) -> tensor<2xf32> {
    %0 = stablehlo.get_tuple_element %arg1[0] : (!pair) -> tensor<2xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2xf32> loc(#loc1)
    return %1 : tensor<2xf32>
  } // a comment: ([{<
}
)",
    R"(module {
  func.func @main(%x: tensor<4xf32>, %image: tensor<1x4x4x2xf32>, %kernel: tensor<2x2x2x3xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<"0x01000000000000000200000000000000"> : tensor<2xi64>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 2], pad = [[0, 1], [1, 0]], rhs_dilate = [1, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x4x2x3xf32>
    %2:2 = stablehlo.while(%a = %0, %b = %zero) : tensor<4xf32>, tensor<f32> cond {
      %3 = stablehlo.compare LT, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      stablehlo.return %a, %b : tensor<4xf32>, tensor<f32>
    }
    %4 = stablehlo.reduce(%2#0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.custom_call @f(%4) {api_version = 4 : i32, backend_config = {k = dense<true> : tensor<2xi1>}} : (tensor<f32>) -> tensor<?xf32>
    return %5 : tensor<?xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x080000000100000000000000"
    }
  }
#-}
)",
    R"(func.func @main(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5:10, 2.0}>>, %y: tensor<?x2xf32, #stablehlo.bounds<4, ?>>)
    -> (tensor<2xf32>, tensor<2xf32>) attributes {r = dense_resource<blob> : tensor<1xi64>} {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32:0, {0.5:10, 2.0}>>) -> tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
})",
};

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (const char *text : modules) {
    auto module = stablehlo::Module::parse(text);
    if (!module) {
      std::fprintf(stderr, "%s\n", module.error().text().c_str());
      std::abort();
    }
    seeds.push_back(text);
    seeds.push_back(module->text(/*withLocations=*/true));
  }
  return seeds;
}
