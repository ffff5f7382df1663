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

TEST(Module, TakesNoBytecode) {
  Result<Module> module = Module::parse(std::string_view("ML\xefR\x06MLIR22\0", 12), "model.mlir");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message,
            "[model.mlir] not a valid StableHLO module: got MLIR bytecode, expected text");
}

std::string repeated(std::string_view part, int64_t count) {
  std::string text;
  for (; count > 0; --count)
    text += part;
  return text;
}

/// A module with an attribute of this text, after definitions of aliases.
Result<Module> withAttribute(const std::string &attribute, const std::string &aliases = "") {
  return Module::parse(aliases + "module attributes {t.x = " + attribute + "} {}", "model.mlir");
}

std::string errorOf(const Result<Module> &module) {
  return module ? "no error" : module.error().message;
}

TEST(Module, BoundsTheNestingOfText) {
  struct Form {
    std::string_view open, inside, close;
  };
  const Form forms[] = {{"[", "1", "]"},
                        {"{a = ", "1", "}"},
                        {"dense<[", "1", "]> : tensor<1xi1>"},
                        {"tuple<", "i1", ">"},
                        {"() -> (", "i1", ")"},
                        {"tensor<1xi1, ", "1", ">"},
                        {"affine_map<(d0) -> (", "d0", ")>"},
                        {"affine_map<(d0) -> (", "- - d0", ")>"},
                        {"!quant.any<i8:(", "f32", ")>"},
                        {"loc(fused[", "unknown", "])"}};
  constexpr std::string_view expected = "nested more than 500 deep";
  for (auto [open, inside, close] : forms) {
    std::string text = repeated(open, 100'000) + std::string(inside) + repeated(close, 100'000);
    std::string error = errorOf(withAttribute(text));
    EXPECT_TRUE(error.starts_with("[model.mlir] not a valid StableHLO module: model.mlir:1:") &&
                error.ends_with(expected))
        << open << error;
  }
  EXPECT_EQ(errorOf(Module::parse(repeated("module {\n", 501), "model.mlir")),
            "[model.mlir] not a valid StableHLO module: model.mlir:501:8: nested more than 500 deep");
  EXPECT_EQ(errorOf(withAttribute(repeated("[", 499) + repeated("]", 499))), "no error");
  EXPECT_EQ(errorOf(withAttribute(repeated("[", 500) + repeated("]", 500))),
            "[model.mlir] not a valid StableHLO module: model.mlir:1:525: nested more than 500 deep");
}

TEST(Module, BoundsTheOperatorsOfAffineExpressions) {
  for (std::string_view term : {"-", "d0 + ", "d0 * 2 + d0 mod 7 - ", "(d0) + ", "d0 floordiv 2 + "}) {
    std::string map = "affine_map<(d0) -> (" + repeated(term, 100'000) + "d0)>";
    EXPECT_TRUE(errorOf(withAttribute(map)).ends_with("nested more than 500 deep")) << term;
  }
  EXPECT_EQ(errorOf(withAttribute("affine_map<(d0) -> (" + repeated("d0 + 1, ", 1000) + "d0)>")), "no error");
  EXPECT_EQ(
      errorOf(withAttribute("affine_set<(d0) : (" + repeated("d0 + 1 >= 0, d0 <= -4, ", 500) + "d0 == 0)>")),
      "no error");
  EXPECT_EQ(errorOf(withAttribute("dense<[" + repeated("-1.0e-5, ", 1000) + "2.0]> : tensor<1001xf32>")),
            "no error");
}

/// Definitions of as many aliases, each of which stands in the place of the * in the next.
std::string chain(int count, std::string_view first, std::string_view next) {
  std::string text = "#a0 = " + std::string(first) + "\n";
  for (int index = 1; index < count; ++index) {
    std::string value(next);
    for (size_t place; (place = value.find('*')) != std::string::npos;)
      value.replace(place, 1, "#a" + std::to_string(index - 1));
    text += "#a" + std::to_string(index) + " = " + value + "\n";
  }
  return text;
}

TEST(Module, BoundsWhatAliasesStandFor) {
  for (std::string_view next : {"[*]", "{b = *} // {[\n", "loc(\"f\"(*))", "loc(callsite(* at unknown))"}) {
    std::string first = next.starts_with("loc") ? "loc(unknown)" : "1 : i32";
    std::string error = errorOf(withAttribute("#a99999", chain(100'000, first, next)));
    EXPECT_TRUE(error.ends_with("nested more than 500 deep")) << next << error;
    EXPECT_EQ(errorOf(withAttribute("#a200", chain(201, first, next))), "no error");
  }
  // A definition ends where the next op or definition begins: what follows is no part of it.
  std::string flat = "#a0 = unit\n#a1 = 1 : i32\n#a2 = @f::@g\n#a3 = () -> i1\n#a4 = \"s\"\n";
  EXPECT_EQ(errorOf(withAttribute("[" + repeated("[#a0, #a1, #a2, #a3, #a4], ", 200) + "#a4]", flat)),
            "no error");
  EXPECT_EQ(errorOf(withAttribute("#a39", chain(40, "1 : i32", "[*, *]"))),
            "[model.mlir] not a valid StableHLO module: model.mlir:24:18: alias #a23 stands for more than "
            "16777216 parts");
}

TEST(Module, ReadsNoBracketsInCommentsAndStrings) {
  std::string comments = repeated("// ([{<\"\n", 1000);
  EXPECT_EQ(errorOf(withAttribute("[\"" + repeated("(\\\"", 1000) + "\"]", comments)), "no error");
  // MLIR looks for the end of a dialect's attribute without regard to comments.
  EXPECT_EQ(errorOf(withAttribute("#stablehlo<precision // >\n DEFAULT>")),
            "[model.mlir] not a valid StableHLO module: model.mlir:1:46: a comment between the <> of an "
            "attribute or type cannot be read");
  EXPECT_EQ(errorOf(withAttribute("#stablehlo<precision DEFAULT> // >\n")), "no error");
}

} // namespace
} // namespace torchere::stablehlo
