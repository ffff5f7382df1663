// Tests passes::refineShapes through its interface without MLIR: results, errors and the size of its work.
#include "passes/shapes/refine_shapes.h"

#include "growth.h"
#include "parsed_module.h"

#include <gtest/gtest.h>

namespace torchere::passes {
namespace {

constexpr const char *flatten = R"(module {
  func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.multiply %0, %c : tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_reshape %arg0, %2 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %3 : tensor<?xf32>
  }
}
)";

std::string refinementError(const std::string &text, const std::vector<ArgumentShape> &arguments) {
  stablehlo::Module module = parsed(text);
  Status status = refineShapes(module, arguments);
  if (status)
    return "no error";
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
  return status.error().message;
}

TEST(RefineShapes, SpecialisesACloneAndLeavesTheOriginal) {
  stablehlo::Module module = parsed(flatten);
  stablehlo::Module refined = module.clone();
  Status status = refineShapes(refined, {{{4, 3}}});
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(refined.text(), R"(module {
  func.func @main(%arg0: tensor<4x3xf32>) -> tensor<12xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>
    return %0 : tensor<12xf32>
  }
}
)");
  EXPECT_TRUE(isStatic(refined));
  EXPECT_FALSE(isStatic(module));
  EXPECT_EQ(module.text(), flatten);
}

TEST(RefineShapes, SpecialisesForTheValueOfAnInteger) {
  stablehlo::Module module = parsed(R"(
func.func @main(%n: tensor<i64>) -> tensor<?xi64> {
  %0 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  return %1 : tensor<?xi64>
})");
  Status status = refineShapes(module, {{{}, 3}});
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(module.text(), R"(module {
  func.func @main(%arg0: tensor<i64>) -> tensor<3xi64> {
    %c = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi64>
    return %c : tensor<3xi64>
  }
}
)");
}

TEST(RefineShapes, RefusesValuesOfOthersThanIntegers) {
  const char *text = "func.func @main(%x: tensor<f32>, %y: tensor<i8>) -> tensor<f32> {\n"
                     "  return %x : tensor<f32>\n}";
  EXPECT_EQ(refinementError(text, {{{}, 3}, {{}}}),
            "[main] argument 0 cannot have the value 3: it is tensor<f32>");
  EXPECT_EQ(refinementError(text, {{{}}, {{}, 128}}),
            "[main] argument 1 cannot have the value 128: it is tensor<i8>");
}

TEST(RefineShapes, TakesSizesOfZero) {
  stablehlo::Module module = parsed(flatten);
  ASSERT_TRUE(refineShapes(module, {{{0, 3}}}));
  EXPECT_NE(module.text().find("-> tensor<0xf32>"), std::string::npos) << module.text();
}

TEST(RefineShapes, RefusesArgumentsThatDoNotFit) {
  EXPECT_EQ(refinementError(flatten, {}), "[main] wrong number of argument shapes: got 0, expected 1");
  EXPECT_EQ(refinementError(flatten, {{{4, 5}}}),
            "[main] shape of argument 0 does not fit: got [4, 5], expected one of tensor<?x3xf32>");
  EXPECT_EQ(refinementError(flatten, {{{4}}}),
            "[main] shape of argument 0 does not fit: got [4], expected one of tensor<?x3xf32>");
  EXPECT_EQ(refinementError(flatten, {{{-1, 3}}}), "[main] argument 0 has a negative size: got -1");
  EXPECT_EQ(refinementError("func.func @main(%a: i32) { return }", {{{}}}),
            "[main] argument 0 has no shape to refine: it is i32");
  EXPECT_EQ(refinementError("func.func @other() { return }", {}), "[main] the module has no such function");
}

TEST(RefineShapes, NamesTheOpWhoseShapesDoNotFit) {
  constexpr const char *text = R"(
    func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.add %a, %b : tensor<?xf32>
      return %0 : tensor<?xf32>
    })";
  EXPECT_EQ(
      refinementError(text, {{{2}}, {{3}}}),
      "[main] the shapes at hand make no valid module: module:3:12: 'stablehlo.add' op (C1) operands have "
      "incompatible types: 'tensor<2xf32>' and 'tensor<3xf32>'");
}

constexpr const char *sizedByData = R"(module {
  func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %1 = stablehlo.abs %arg0 : tensor<?xf32>
    return %0, %1 : tensor<?xf32>, tensor<?xf32>
  }
}
)";

TEST(RefineShapes, NamesTheOpThatStaysDynamic) {
  stablehlo::Module module = parsed(sizedByData);
  Status status = refineShapes(module, {{{2}}, {{1}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Unimplemented);
  EXPECT_EQ(
      status.error().text(),
      "[stablehlo.dynamic_reshape] a size depends on the data, and the plugin runs fixed sizes only: got "
      "tensor<?xf32> (to do: run it on the plugin \"torchere_cpu\", the default; or keep a "
      "fixed size: torch.where instead of x[mask], torch.nonzero_static instead of nonzero); at module:3");
}

TEST(RefineShapes, KeepsSizesThatDependOnData) {
  stablehlo::Module module = parsed(sizedByData);
  Status status = refineShapes(module, {{{2}}, {{1}}}, UnknownSizes::Kept);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(module.text(), R"(module {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<1xi32>) -> (tensor<?xf32>, tensor<2xf32>) {
    %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
    %1 = stablehlo.abs %arg0 : tensor<2xf32>
    return %0, %1 : tensor<?xf32>, tensor<2xf32>
  }
}
)");
}

TEST(RefineShapes, ChecksAssertionsAboutShapes) {
  constexpr const char *text = R"(module {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %c = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.compare LE, %0, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {error_message = "at most 4, got {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = stablehlo.abs %arg0 : tensor<?xf32>
    return %2 : tensor<?xf32>
  }
}
)";
  stablehlo::Module module = parsed(text);
  Status status = refineShapes(module, {{{4}}});
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(module.text(), R"(module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.abs %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)");
  EXPECT_EQ(refinementError(text, {{{5}}}),
            "[main] the shapes at hand make no valid module: module:6:5: at most 4, got 5");
}

/// A chain of `count` additions, each with a shape computation of its own.
std::string chainOfAdditions(size_t count) {
  std::string text = "func.func @main(%0: tensor<?xf32>) -> tensor<?xf32> {\n";
  for (size_t i = 0; i < count; ++i)
    text +=
        fmt::format("  %s{0} = stablehlo.get_dimension_size %{0}, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
                    "  %v{0} = stablehlo.reshape %s{0} : (tensor<i32>) -> tensor<1xi32>\n"
                    "  %{1} = stablehlo.dynamic_reshape %{0}, %v{0} : (tensor<?xf32>, tensor<1xi32>) -> "
                    "tensor<?xf32>\n",
                    i, i + 1);
  return text + fmt::format("  return %{} : tensor<?xf32>\n}}\n", count);
}

TEST(RefineShapes, IsLinearInTheNumberOfOps) {
  double ratio = growth(1000, 20000, [](size_t count) {
    stablehlo::Module module = parsed(chainOfAdditions(count));
    double start = threadSeconds();
    Status status = refineShapes(module, {{{8}}});
    EXPECT_TRUE(status) << status.error().text();
    return threadSeconds() - start;
  });
  EXPECT_LT(ratio, 100)
      << "20 times the ops; linear work would take 20 times as long, quadratic work 400 times";
}

} // namespace
} // namespace torchere::passes
