// JAX's calls for about the largest elements: those of its form are sorted, others are unknown calls.
#include "cpu/plugin/program.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace torchere::cpu {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string largest = R"(
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %places = stablehlo.iota dim = 1 : tensor<3x5xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %places, %least, %none) {called_computations = [@greater],
    mhlo.backend_config = {is_fallback = true, reduction_dim = 1 : i64, top_k = 2 : i64}}
    : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
})";

Result<CompiledModule> compiledText(const std::string &text) {
  return compileModule([&](ModuleUse) { return readModule(text); }, {});
}

TEST(TopKCalls, BecomeSorts) {
  auto compiled = compiledText(largest);
  ASSERT_TRUE(compiled) << compiled.error().text();
  ASSERT_TRUE(compiled->plan) << compiled->reason;
  std::vector<std::string_view> steps;
  for (const auto &step : compiled->plan->steps)
    steps.push_back(step->name());
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "sort"), 1);
}

TEST(TopKCalls, OfAnotherFormAreUnknown) {
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"reduction_dim = 1", "reduction_dim = 2"},
      {"reduction_dim = 1", "reduction_dim = -1"},
      {"reduction_dim = 1", "reduction_dim = 0"}, // of which the results are no part
      {"reduction_dim", "dimension"},
      {"[@greater]", "[@greater, @greater]"},
      {"[@greater]", "[]"},
      {"[@greater]", "[@main]"},
      {"%i: tensor<i32>, %j: tensor<i32>", "%i: tensor<i32>"},
      {"tensor<3x5xi32>, tensor<f32>, tensor<i32>)", "tensor<5x3xi32>, tensor<f32>, tensor<i32>)"},
      {"-> (tensor<3x2xf32>, tensor<3x2xi32>)\n  return %0#0, %0#1 : tensor<3x2xf32>",
       "-> (tensor<3x6xf32>, tensor<3x2xi32>)\n  return %0#0, %0#1 : tensor<3x6xf32>"},
  };
  for (const auto &[from, to] : changes) {
    std::string text = replaced(largest, from, to);
    if (from.starts_with("tensor<3x5xi32>"))
      text = replaced(text, "dim = 1 : tensor<3x5xi32>", "dim = 1 : tensor<5x3xi32>");
    if (to.find("3x6") != std::string_view::npos)
      text = replaced(text, "-> (tensor<3x2xf32>", "-> (tensor<3x6xf32>");
    auto compiled = compiledText(text);
    ASSERT_FALSE(compiled) << to;
    EXPECT_EQ(compiled.error().message, "[ApproxTopK] no kernel is registered for the custom call's target")
        << to;
  }
}

/// A comparator that calls for itself is not put into itself: who runs it is told.
TEST(TopKCalls, InTheirOwnComparatorStay) {
  std::string text = replaced(largest, "  %0 = stablehlo.compare", R"(
  %v = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %w = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %r:2 = stablehlo.custom_call @ApproxTopK(%v, %w, %a, %i) {called_computations = [@greater],
    mhlo.backend_config = {is_fallback = true, reduction_dim = 0 : i64, top_k = 1 : i64}}
    : (tensor<1xf32>, tensor<1xi32>, tensor<f32>, tensor<i32>) -> (tensor<1xf32>, tensor<1xi32>)
  %s = stablehlo.reshape %r#0 : (tensor<1xf32>) -> tensor<f32>
  %0 = stablehlo.compare)");
  text = replaced(text, "compare GT, %a, %b", "compare GT, %s, %b");
  auto compiled = compiledText(text);
  ASSERT_TRUE(compiled) << compiled.error().text();
  ThreadPool pool(1);
  CpuProgram program(*std::move(compiled), {}, Context{pool, Isa::Baseline});
  Lifetime lifetime;
  pjrt_server::ArgumentLists arguments(1);
  interpreter::Tensor tensor = *interpreter::Tensor::create(ElementType::F32, {3, 5});
  arguments[0].push_back({&tensor, false, &lifetime});
  auto results = program.run(arguments);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().text().find("[ApproxTopK] no kernel is registered"), std::string::npos)
      << results.error().text();
}

} // namespace
} // namespace torchere::cpu
