// Tests stablehlo::Module: parsing, printing, verifying and cloning, and the errors of each.
#include "stablehlo/module.h"

#include <gtest/gtest.h>

namespace torchere::stablehlo {
namespace {

constexpr const char *addition = R"(module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)";

TEST(Module, PrintsWhatItParsed) {
  Result<Module> module = Module::parse(addition);
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(module->text(), addition);
  EXPECT_TRUE(module->verify());
  EXPECT_EQ(module->clone().text(), addition);
}

TEST(Module, PrintsLargeBooleansAsWords) {
  // 130 alternating bools: as a hex string, MLIR 22 would pack them in bits, which other versions do not
  // read.
  std::string list;
  for (int i = 0; i < 130; ++i)
    list += i == 0 ? "true" : i % 2 ? ", false" : ", true";
  std::string text = R"(module {
  func.func @main() -> tensor<130xi1> {
    %c = stablehlo.constant dense<[)" +
                     list +
                     R"(]> : tensor<130xi1>
    return %c : tensor<130xi1>
  }
}
)";
  Result<Module> module = Module::parse(text);
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(module->text(), text);
}

TEST(Module, PrintsLocationsWhenAsked) {
  Result<Module> module = Module::parse(addition, "model.mlir");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_NE(module->text(true).find("loc(\"model.mlir\":3:10)"), std::string::npos) << module->text(true);
}

TEST(Module, NamesFileLineAndColumnOfSyntaxErrors) {
  Result<Module> module = Module::parse("module {\n  oops\n}", "model.mlir");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(module.error().message,
            "[model.mlir] not a valid StableHLO module: model.mlir:2:3: custom op 'oops' "
            "is unknown (tried 'builtin.oops' as well)");
}

TEST(Module, RefusesWhatBreaksAConstraint) {
  Result<Module> module = Module::parse(R"(
    func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                                        "model.mlir");
  ASSERT_FALSE(module);
  EXPECT_EQ(
      module.error().message,
      "[model.mlir] not a valid StableHLO module: model.mlir:3:12: 'stablehlo.add' op (C1) operands have "
      "incompatible types: 'tensor<2xf32>' and 'tensor<3xf32>'\n"
      "model.mlir:3:12: 'stablehlo.add' op failed to infer returned types");
}

} // namespace
} // namespace torchere::stablehlo
