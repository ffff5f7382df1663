// Modules with sizes whose products overflow: no plan is made of them.
#include "cpu/frontend/compile.h"

#include <gtest/gtest.h>

namespace torchere::cpu {
namespace {

/// Why the module has no plan; empty if it has one.
std::string reasonOf(std::string_view body) {
  std::string code = "func.func @main(%x: tensor<8xf32>, %z: tensor<f32>) -> tensor<f32> {\n" +
                     std::string(body) + "\n return %r : tensor<f32> }";
  auto compiled = compileModule([&](ModuleUse) { return readModule(code); }, {});
  EXPECT_TRUE(compiled) << compiled.error().text();
  if (!compiled)
    return "not read";
  EXPECT_EQ(compiled->plan.has_value(), compiled->reason.empty());
  return compiled->reason;
}

std::string sum(std::string_view type) {
  return fmt::format(R"(
  %s = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [0] : ({0}, tensor<f32>) -> tensor<f32>
  %r = stablehlo.add %s, %s : tensor<f32>)",
                     type);
}

TEST(SizeLimits, Values) {
  for (int64_t size : {int64_t(1) << 40, int64_t(1) << 61, (int64_t(1) << 62) + 1, INT64_MAX}) {
    std::string type = fmt::format("tensor<{}xf32>", size);
    std::string body =
        fmt::format("  %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> {}", type) +
        sum(type);
    EXPECT_EQ(reasonOf(body), "sizes of stablehlo.broadcast_in_dim of 1099511627776 and more");
  }
  std::string most = "tensor<1099511627775xf32>";
  EXPECT_EQ(
      reasonOf("  %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> " + most + sum(most)), "");
}

TEST(SizeLimits, ProductsOfSizes) {
  std::string_view shape = "tensor<1048576x1048576xf32>";
  std::string body = fmt::format(R"(
  %b = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> {0}
  %s = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [0, 1] : ({0}, tensor<f32>) -> tensor<f32>
  %r = stablehlo.add %s, %s : tensor<f32>)",
                                 shape);
  EXPECT_EQ(reasonOf(body), "sizes of stablehlo.broadcast_in_dim of 1099511627776 and more");
}

std::string windowed(int64_t window, int64_t padding, int64_t dilation, int64_t results) {
  return fmt::format(R"(
  %b = "stablehlo.reduce_window"(%x, %z) <{{window_dimensions = array<i64: {0}>, base_dilations = array<i64: {2}>,
      padding = dense<[[{1}, 0]]> : tensor<1x2xi64>}}> ({{
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %d = stablehlo.add %a, %c : tensor<f32>
      stablehlo.return %d : tensor<f32>
  }}) : (tensor<8xf32>, tensor<f32>) -> tensor<{3}xf32>)",
                     window, padding, dilation, results) +
         sum(fmt::format("tensor<{}xf32>", results));
}

TEST(SizeLimits, Windows) {
  int64_t large = int64_t(1) << 61;
  EXPECT_EQ(reasonOf(windowed(3, 2, 1, 8)), "");
  EXPECT_EQ(reasonOf(windowed(large, large - 4, 1, 5)),
            "sizes of stablehlo.reduce_window of 1099511627776 and more");
  int64_t far = int64_t(1) << 59; // 7 times so much is added between the elements
  EXPECT_EQ(reasonOf(windowed(7 * far + 1, 0, far, 1)),
            "sizes of stablehlo.reduce_window of 1099511627776 and more");
}

TEST(SizeLimits, SlicesWithoutElements) {
  auto gathered = [](int64_t slice, int64_t count) {
    return fmt::format(R"(
  %i = stablehlo.constant dense<0> : tensor<{1}x1xi32>
  %b = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: {0}>}}> : (tensor<8xf32>, tensor<{1}x1xi32>) -> tensor<{1}xf32>)",
                       slice, count) +
           sum(fmt::format("tensor<{}xf32>", count));
  };
  EXPECT_EQ(reasonOf(gathered(1, 3)), "");
  EXPECT_EQ(reasonOf(gathered(0, 0)), "");
  EXPECT_EQ(reasonOf(gathered(0, 3)), "elements of stablehlo.gather from slices without elements");
}

} // namespace
} // namespace torchere::cpu
