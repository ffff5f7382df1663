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
    R"(module @distributed {
      func.func @main(%x: tensor<4xf32>, %root: tensor<1xi32>, %token: !stablehlo.token) -> tensor<4xf32> {
        %0 = "stablehlo.async_start"(%x) ({
        ^bb0(%a: tensor<4xf32>):
          %b = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
            source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
          stablehlo.return %b : tensor<4xf32>
        }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
        %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
        %2 = "stablehlo.collective_broadcast"(%1, %root) <{has_dynamic_root, replica_groups =
          #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>],
          device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>,
          axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}>
          : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
        %3 = "stablehlo.send"(%2, %token) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 2>,
          is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
        return %2 : tensor<4xf32>
      }
    })",
    R"(func.func @main(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5:10>>, %y: tensor<2x!quant.uniform<u8<1:200>:f32:0, {2.0, 3.0:4}>>,
                       %z: tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<2x2xf32> {
      %0 = stablehlo.uniform_dequantize %x : (tensor<2x2x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })",
    R"(module @many {
      func.func @main(%image: tensor<1x4x4x2xf32>, %kernel: tensor<2x2x2x3xf32>, %table: tensor<5x3xf32>,
                      %rows: tensor<2x1xi64>, %flag: tensor<i1>) -> tensor<2x3xf32> {
        %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {stride = [1, 2], pad = [[0, 1], [1, 0]], rhs_dilate = [1, 2]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x4x2x3xf32>
        %1 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}>
          : (tensor<5x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
        %2:2 = "stablehlo.sort"(%1, %1) <{dimension = 1 : i64, is_stable = true}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
          %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
        }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
        %3 = stablehlo.while(%x = %2#0) : tensor<2x3xf32> cond {
          stablehlo.return %flag : tensor<i1>
        } do {
          %y = func.call @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
          stablehlo.return %y : tensor<2x3xf32>
        }
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %4 = "stablehlo.reduce_window"(%3, %zero) <{window_dimensions = array<i64: 1, 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %sum = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %sum : tensor<f32>
        }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
        return %4 : tensor<2x3xf32>
      }
      func.func private @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %0 = stablehlo.add %x, %x : tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
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
