// setProductPrecision: which ops it reaches, and what it refuses.
#include "parsed_module.h"
#include "passes/precision/product_precision.h"

#include <string>

namespace torchere::passes {
namespace {

size_t occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(SetProductPrecision, ReachesRegionsAndLeavesAlgorithms) {
  stablehlo::Module module = parsed(R"(
module {
  func.func @main(%x: tensor<2x2xf32>, %p: tensor<i1>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = "stablehlo.if"(%p) ({
      %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      stablehlo.return %1 : tensor<2x2xf32>
    }, {
      %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      stablehlo.return %1 : tensor<2x2xf32>
    }) : (tensor<i1>) -> tensor<2x2xf32>
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    return %0, %2 : tensor<2x2xf32>, tensor<2x2xf32>
  }
})");
  ASSERT_TRUE(setProductPrecision(module, "highest"));
  ASSERT_TRUE(module.verify());
  EXPECT_EQ(occurrences(module.text(), "precision = [HIGHEST, HIGHEST]"), 2u) << module.text();
  ASSERT_TRUE(setProductPrecision(module, "high"));
  EXPECT_EQ(occurrences(module.text(), "precision = [HIGH, HIGH]"), 2u) << module.text();
}

TEST(SetProductPrecision, RefusesOtherNames) {
  stablehlo::Module module = parsed("module { func.func @main() { return } }");
  Status status = setProductPrecision(module, "HIGHEST");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "[precision] of products: got \"HIGHEST\", expected \"default\", \"high\" or \"highest\"");
}

} // namespace
} // namespace torchere::passes
