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

TEST(MarkDonations, SetsTheAttributeOnArguments) {
  auto module = stablehlo::Module::parse(program);
  ASSERT_TRUE(module) << module.error().text();
  ASSERT_TRUE(markDonations(*module, std::vector<Donation>{{1, 0}}));
  ASSERT_TRUE(module->verify());
  EXPECT_NE(module->text().find("%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {tf.aliasing_output = 0 : i32}"),
            std::string::npos)
      << module->text();
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
