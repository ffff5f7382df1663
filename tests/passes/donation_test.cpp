// markDonations: the attribute that it sets, and what it refuses.
#include "passes/prepare/donation.h"

#include <gtest/gtest.h>

namespace torchere::passes {
namespace {

constexpr const char *program = R"(
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    return %b, %a : tensor<2xf32>, tensor<2xf32>
  }
})";

std::string error(const char *text, Donation donation) {
  auto module = stablehlo::Module::parse(text);
  EXPECT_TRUE(module) << module.error().text();
  Status status = markDonations(*module, std::vector{donation});
  return status ? "" : status.error().message;
}

TEST(MarkDonations, SetsTheAttributeOfXlaOnArguments) {
  auto module = stablehlo::Module::parse(program);
  ASSERT_TRUE(module) << module.error().text();
  ASSERT_TRUE(markDonations(*module, std::vector<Donation>{{1, 0}}));
  ASSERT_TRUE(module->verify());
  EXPECT_NE(module->text().find("%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tf.aliasing_output = 0 : i32}"),
            std::string::npos)
      << module->text();
}

std::string marked(const std::string &body) {
  auto module = stablehlo::Module::parse(R"(
module {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<2xf32>, %i: tensor<i64>, %s: tensor<1x1xi64>)
      -> (tensor<4xf32>, tensor<4xf32>) {
)" + body + "  }\n}");
  EXPECT_TRUE(module) << module.error().text();
  EXPECT_TRUE(markDonations(*module, std::vector<Donation>{{0, 0}}));
  EXPECT_TRUE(module->verify());
  return module->text();
}

size_t count(const std::string &text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(MarkDonations, PutsABarrierBehindAWriteThatIsRead) {
  std::string text = marked(R"(
    %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = stablehlo.negate %0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
)");
  EXPECT_NE(text.find("%1 = stablehlo.optimization_barrier %0 : tensor<4xf32>\n"
                      "    %2 = stablehlo.negate %1 : tensor<4xf32>\n"
                      "    return %1, %2"),
            std::string::npos)
      << text;
}

TEST(MarkDonations, PutsABarrierBehindEachWriteOfAChainThatIsRead) {
  std::string text = marked(R"(
    %c = stablehlo.slice %b [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %0 = "stablehlo.scatter"(%a, %s, %c) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      stablehlo.return %new : tensor<f32>
    }) : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32>
    %1 = stablehlo.dynamic_update_slice %0, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
    %2 = stablehlo.dynamic_update_slice %1, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
    %3 = stablehlo.add %0, %2 : tensor<4xf32>
    return %2, %3 : tensor<4xf32>, tensor<4xf32>
)");
  EXPECT_EQ(count(text, "optimization_barrier"), 2u) << text; // nothing but the next write reads the second
}

TEST(MarkDonations, LeavesAloneWhatIsNotWrittenInPlace) {
  EXPECT_EQ(count(marked(R"(
    %0 = stablehlo.negate %a : tensor<4xf32>
    %1 = stablehlo.negate %0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
)"),
                  "optimization_barrier"),
            0u);
  EXPECT_EQ(count(marked(R"(
    %0 = stablehlo.negate %a : tensor<4xf32>
    %1 = stablehlo.dynamic_update_slice %0, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
    return %1, %1 : tensor<4xf32>, tensor<4xf32>
)"),
                  "optimization_barrier"),
            0u);
}

TEST(MarkDonations, RefusesWhatIsNotThere) {
  EXPECT_EQ(error(program, {2, 0}),
            "[main] no such argument and result to donate: got 2 and 0, expected less than "
            "2 and 2");
  EXPECT_EQ(error(program, {0, 3}),
            "[main] no such argument and result to donate: got 0 and 3, expected less than "
            "2 and 2");
  EXPECT_EQ(error("module {}", {0, 0}), "[module] no function to be called: expected @main");
}

} // namespace
} // namespace torchere::passes
