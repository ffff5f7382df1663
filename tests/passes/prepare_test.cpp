// prepareFor: each of its steps, and what it refuses.
#include "passes/prepare/prepare.h"

#include <gtest/gtest.h>

namespace torchere::passes {
namespace {

stablehlo::Module parse(const std::string &text) {
  auto module = stablehlo::Module::parse(text);
  EXPECT_TRUE(module) << module.error().text();
  return *std::move(module);
}

std::string prepared(const std::string &text, const Target &target) {
  stablehlo::Module module = parse(text);
  Status status = prepareFor(module, target);
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_TRUE(module.verify());
  return module.text();
}

bool contains(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Writes x into a cache and reads all of it, with ops that not every plugin takes.
constexpr const char *decoder = R"(
module {
  func.func public @main(%cache: tensor<8x?xf32>, %x: tensor<1x?xf32>, %i: tensor<i64>) -> (tensor<8x?xf32>, tensor<8x?xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_update_slice %cache, %x, %i, %c : (tensor<8x?xf32>, tensor<1x?xf32>, tensor<i64>, tensor<i64>) -> tensor<8x?xf32>
    %1 = stablehlo.composite "lib.read" %0 {decomposition = @read} : (tensor<8x?xf32>) -> tensor<8x?xf32>
    return %0, %1 : tensor<8x?xf32>, tensor<8x?xf32>
  }
  func.func private @read(%cache: tensor<8x?xf32>) -> tensor<8x?xf32> {
    %0 = stablehlo.tan %cache : tensor<8x?xf32>
    %1 = stablehlo.atan2 %0, %cache : tensor<8x?xf32>
    return %1 : tensor<8x?xf32>
  }
})";
const std::vector<ArgumentShape> shapes = {{{8, 3}}, {{1, 3}}, {{}}};

TEST(PrepareFor, LeavesAloneWhatThePluginTakes) {
  Target target = {.traits = {.composites = {"lib.read"}}};
  EXPECT_EQ(prepared(decoder, target), parse(decoder).text());
  target.version = vhlo::currentVersion;
  EXPECT_EQ(prepared(decoder, target), parse(decoder).text());
}

TEST(PrepareFor, RefinesToTheShapes) {
  std::string text = prepared(decoder, {.shapes = shapes});
  EXPECT_FALSE(contains(text, "?")) << text;
  EXPECT_TRUE(contains(text, "@main(%arg0: tensor<8x3xf32>, %arg1: tensor<1x3xf32>, %arg2: tensor<i64>)"))
      << text;
}

TEST(PrepareFor, CompositesThatThePluginDoesNotKnowBecomeCalls) {
  std::string text = prepared(decoder, {.traits = {.composites = {"lib.other"}}});
  EXPECT_FALSE(contains(text, "composite")) << text;
  EXPECT_TRUE(contains(text, "call @read(")) << text;
  text = prepared(decoder, {.shapes = shapes, .traits = {.composites = {"lib.read"}}});
  EXPECT_TRUE(contains(text, "stablehlo.composite \"lib.read\"")) << text;
}

TEST(PrepareFor, SaysWhatCameAfterTheVersionInOlderOps) {
  EXPECT_TRUE(contains(prepared(decoder, {.version = vhlo::Version{1, 4, 0}}), "stablehlo.tan"));
  std::string text = prepared(decoder, {.version = vhlo::Version{1, 3, 0}});
  EXPECT_FALSE(contains(text, "stablehlo.tan ")) << text;
  EXPECT_TRUE(contains(text, "stablehlo.sine")) << text;
}

TEST(PrepareFor, DonationsAreForAllPluginsAndBarriersForXlas) {
  std::string text = prepared(decoder, {.donations = {{0, 0}}});
  EXPECT_TRUE(contains(text, "{tf.aliasing_output = 0 : i32}")) << text;
  EXPECT_FALSE(contains(text, "optimization_barrier")) << text;
  text = prepared(decoder, {.donations = {{0, 0}}, .traits = {.repeatsFusedWrites = true}});
  EXPECT_TRUE(contains(text, "{tf.aliasing_output = 0 : i32}")) << text;
  EXPECT_TRUE(contains(text, "optimization_barrier")) << text;
  EXPECT_FALSE(contains(prepared(decoder, {.traits = {.repeatsFusedWrites = true}}), "optimization_barrier"));
}

TEST(PrepareFor, RunsThePassesThatTheTraitsAskFor) {
  EXPECT_TRUE(contains(prepared(decoder, {}), "stablehlo.atan2"));
  EXPECT_FALSE(contains(prepared(decoder, {.traits = {.miscomputesAtan2 = true}}), "stablehlo.atan2"));
  const char *loop = R"(
module {
  func.func public @main(%i: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.while(%iterArg = %i) : tensor<i64>
    cond {
      %1 = stablehlo.compare LT, %iterArg, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %iterArg : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }
    return %0 : tensor<i64>
  }
})";
  EXPECT_EQ(prepared(loop, {}), parse(loop).text());
  EXPECT_TRUE(contains(prepared(loop, {.traits = {.abortsOnDoubledCounters = true}}), "stablehlo.multiply"));
}

TEST(PrepareFor, SaysWhatItRefuses) {
  stablehlo::Module module = parse(R"(
module {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.composite"(%x) <{name = "lib.map", decomposition = @f, version = 0 : i32}> ({
    ^bb0(%y: tensor<f32>):
      stablehlo.return %y : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
})");
  Status status = prepareFor(module, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(
      status.error().message,
      "[module] the plugin does not know a composite: module:4:10: 'stablehlo.composite' op has regions, "
      "which a call of @f cannot pass");
  status = prepareFor(module, {.donations = {{0, 3}}, .traits = {.composites = {"lib.map"}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "[main] no such argument and result to donate: got 0 and 3, expected less than 1 and 1");
}

} // namespace
} // namespace torchere::passes
