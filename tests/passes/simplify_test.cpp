// Tests passes::simplify through its interface without MLIR: what it does to a module, and how its work
// grows.
#include "passes/simplify/simplify.h"

#include "growth.h"
#include "parsed_module.h"

#include <gtest/gtest.h>

namespace torchere::passes {
namespace {

TEST(Simplify, FoldsAndRewritesTogether) {
  stablehlo::Module module = parsed(R"(module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<2.0> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.5> : tensor<f32>
    %0 = stablehlo.multiply %cst, %cst_0 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<3x2xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    return %4 : tensor<2x3xf32>
  }
}
)");
  Status status = simplify(module);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(module.text(), R"(module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    return %arg0 : tensor<2x3xf32>
  }
}
)");
}

TEST(Simplify, FoldsNoMoreElementsThanAsked) {
  constexpr const char *text = R"(module {
  func.func @main() -> tensor<4xi32> {
    %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %0 = stablehlo.add %c, %c : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
}
)";
  stablehlo::Module module = parsed(text);
  ASSERT_TRUE(simplify(module, {.maxFoldedElements = 3}));
  EXPECT_EQ(module.text(), text);
  ASSERT_TRUE(simplify(module, {.maxFoldedElements = 4}));
  EXPECT_NE(module.text().find("dense<[2, 4, 6, 8]>"), std::string::npos) << module.text();
}

TEST(Simplify, LeavesDeclarationsAlone) {
  constexpr const char *text = R"(module {
  func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>
}
)";
  stablehlo::Module module = parsed(text);
  ASSERT_TRUE(simplify(module));
  EXPECT_EQ(module.text(), text);
}

/// A chain of `count` links that all go: three ops each, and one constant that all use.
std::string chainOfTransposes(size_t count) {
  std::string text = "func.func @main(%0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                     "  %one = stablehlo.constant dense<1.0> : tensor<3x2xf32>\n";
  for (size_t i = 0; i < count; ++i)
    text += fmt::format(
        "  %t{0} = stablehlo.transpose %{0}, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
        "  %m{0} = stablehlo.multiply %t{0}, %one : tensor<3x2xf32>\n"
        "  %{1} = stablehlo.transpose %m{0}, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>\n",
        i, i + 1);
  return text + fmt::format("  return %{} : tensor<2x3xf32>\n}}\n", count);
}

TEST(Simplify, IsLinearInTheNumberOfOps) {
  double ratio = growth(500, 10000, [](size_t count) {
    stablehlo::Module module = parsed(chainOfTransposes(count));
    double start = threadSeconds();
    Status status = simplify(module);
    double seconds = threadSeconds() - start;
    EXPECT_TRUE(status) << status.error().text();
    EXPECT_LT(module.text().size(), 200u);
    return seconds;
  });
  EXPECT_LT(ratio, 100)
      << "20 times the ops; linear work would take 20 times as long, quadratic work 400 times";
}

} // namespace
} // namespace torchere::passes
