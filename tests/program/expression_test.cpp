// Tests of ExpressionPool: reading, printing, canonical forms, evaluation and their errors.
#include "program/expression.h"

#include <gtest/gtest.h>

namespace torchere::program {

/// Texts that sympy prints for expressions of torch; each must come back as it was.
class PrintedText : public testing::TestWithParam<const char *> {};

TEST_P(PrintedText, ReadsAndPrintsAsItWas) {
  ExpressionPool pool;
  Result<SymInt> parsed = pool.parse(GetParam());
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(pool.print(*parsed), GetParam());
  EXPECT_EQ(*pool.parse(pool.print(*parsed)), *parsed);
}

INSTANTIATE_TEST_SUITE_P(
    Sympy, PrintedText,
    testing::Values("7", "-7", "s77", "u0", "2*s77 + 1", "3 - s0", "s0 - 3", "-s0", "-s0 - s1", "-s0 - 3",
                    "s0**2", "s0**2 + s0*s1 + 1", "((s0 + 1)//2)", "2*(((s0 + 1)//2))",
                    "s1 + (((s0 + 1)//2))", "((s0//2))**2", "(((((s0 + 1)//2)) + 3)//s1)", "Max(1, s0)",
                    "Max(5, s0, 2*s1, (s0//3))", "Min(s0, s1 + 1)", "Mod(s0, 3)", "2*(Mod(s0, 3)) - 1",
                    "s1*(s0 + 1)", "-s1*(s0 + 1)", "2*s1*(s0 + 1)", "3*(s0 - s1)*(Mod(s0, 3))", "(s0 + 1)**2",
                    "s0*s1*s10", "s0 + s1 + s10", "CeilToInt(IntTrueDiv(s0, 2))",
                    "TruncToInt(IntTrueDiv(s0, 2))", "IntTrueDiv(s0, 2)", "4*s0 - s1*((s0//2)) + 7*u0**2",
                    "s1*(((s0*s1)//4))", "((3*s0)//4)", "(s0//s1)", "(((s0 - 1)//2)) + 1", "5 - 2*s0",
                    "-s0*s1 + 5", "((-s0)//2)", "2*(((-s0)//2))", "Max(0, s0 - 3)", "s0 != 1",
                    "s0 - 2 >= (s1//2)", "(s0 > 4) & (s1 > 4)", "~(s0 == 1)",
                    "Piecewise((s0, s0 > 3), (2, True))", "0.1*ToFloat(s0)", "FloatPow(ToFloat(s0), -0.5)",
                    "TruncToInt(0.3333333333333333*ToFloat(s0))", "RoundToInt(IntTrueDiv(s0, 3))",
                    "FloatTrueDiv(ToFloat(s0), 1e-05)"));

struct Equivalent {
  const char *text;
  const char *canonical;
};
class CanonicalForm : public testing::TestWithParam<Equivalent> {};

TEST_P(CanonicalForm, IsOneExpression) {
  ExpressionPool pool;
  Result<SymInt> parsed = pool.parse(GetParam().text);
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(pool.print(*parsed), GetParam().canonical);
  EXPECT_EQ(*pool.parse(GetParam().canonical), *parsed);
}

INSTANTIATE_TEST_SUITE_P(
    Torch, CanonicalForm,
    testing::Values(Equivalent{"-1 + s0", "s0 - 1"}, Equivalent{"s0 + s0", "2*s0"},
                    Equivalent{"s0 - s0", "0"}, Equivalent{"2*(s0 + 1)", "2*s0 + 2"},
                    Equivalent{"s0*s0*3", "3*s0**2"}, Equivalent{"(2*s0)**2", "4*s0**2"},
                    Equivalent{"0*s0", "0"}, Equivalent{"s0**0", "1"}, Equivalent{"-7//2", "-4"},
                    Equivalent{"Mod(-7, 3)", "2"}, Equivalent{"7//-2", "-4"}, Equivalent{"-2**2", "-4"},
                    Equivalent{"2**10", "1024"}, Equivalent{"FloorDiv(s0 + 1, 2)", "((s0 + 1)//2)"},
                    Equivalent{"s0//1", "s0"}, Equivalent{"(2*s0 + s1)//2", "s0 + ((s1//2))"},
                    Equivalent{"(4*s0 + 2)//8", "((2*s0 + 1)//4)"}, Equivalent{"(s0//2)//3", "(s0//6)"},
                    Equivalent{"ModularIndexing(s0, 4, 3)", "Mod((s0//4), 3)"},
                    Equivalent{"PythonMod(s0, 3)", "Mod(s0, 3)"}, Equivalent{"Mod(6*s0, 3)", "0"},
                    Equivalent{"Max(3, Max(s0, 5), s0)", "Max(5, s0)"}, Equivalent{"Min(3, 2)", "2"},
                    Equivalent{"CeilToInt(IntTrueDiv(7, 2))", "4"},
                    Equivalent{"TruncToInt(IntTrueDiv(-7, 2))", "-3"}, Equivalent{"s1*s0 + s0*s1", "2*s0*s1"},
                    Equivalent{"Ne(s0, 1)", "s0 != 1"}, Equivalent{"Abs(s0)", "Max(-s0, s0)"},
                    Equivalent{"FloorToInt(s0 + 1)", "s0 + 1"}, Equivalent{"((s0))", "s0"}));

struct Evaluation {
  const char *text;
  int64_t value; ///< for s0 = 7, s1 = 3
};
class Evaluated : public testing::TestWithParam<Evaluation> {};

TEST_P(Evaluated, GivesPythonsValue) {
  ExpressionPool pool;
  EXPECT_EQ(*pool.evaluate(*pool.parse(GetParam().text), {{"s0", 7}, {"s1", 3}}), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Values, Evaluated,
    testing::Values(Evaluation{"2*s0 + s1", 17}, Evaluation{"(-s0)//2", -4}, Evaluation{"Mod(-s0, s1)", 2},
                    Evaluation{"Mod(s0, -s1)", -2}, Evaluation{"CeilToInt(IntTrueDiv(s0, 2))", 4},
                    Evaluation{"CeilToInt(IntTrueDiv(-s0, 2))", -3},
                    Evaluation{"TruncToInt(IntTrueDiv(-s0, 2))", -3}, Evaluation{"IntTrueDiv(s0 - 1, s1)", 2},
                    Evaluation{"s1**s1", 27}, Evaluation{"Piecewise((s0, s0 > 3), (2*s0, True))", 7},
                    Evaluation{"Piecewise((1, Eq(s0, 3)), (2, s1 <= 3), (3, True))", 2},
                    Evaluation{"(s0 > 3) & (s1 != 3)", 0}, Evaluation{"~(s0 > 3) | (s1 == 3)", 1},
                    Evaluation{"TruncToInt(0.3333333333333333*ToFloat(s1))", 1},
                    Evaluation{"FloorToInt(-0.5*ToFloat(s0))", -4},
                    Evaluation{"CeilToInt(FloatTrueDiv(ToFloat(s0), 0.5))", 14},
                    Evaluation{"RoundToInt(IntTrueDiv(s0 - 2, 2))", 2},
                    Evaluation{"FloorToInt(OpaqueUnaryFn_sqrt(ToFloat(s0**2 + 1)))", 7},
                    Evaluation{"Abs(-s0) + BitwiseFn_bitwise_and(s0, s1)", 10},
                    Evaluation{"Max(s0, s1, 5) - Min(s0, s1, 5)", 4}));

static std::string parseError(std::string_view text) {
  ExpressionPool pool;
  Result<SymInt> parsed = pool.parse(text);
  return parsed ? "no error" : parsed.error().text();
}

TEST(ExpressionError, NamesTheTextAndThePlace) {
  EXPECT_EQ(parseError("s0 + "),
            "[expression \"s0 + \"] unreadable at column 6: got the end, expected a number, "
            "a symbol or '('");
  EXPECT_EQ(parseError("(s0"), "[expression \"(s0\"] unreadable at column 4: got the end, expected ')'");
  EXPECT_EQ(parseError("s0 s1"),
            "[expression \"s0 s1\"] unreadable at column 4: got 's', expected the end or an operator");
  EXPECT_EQ(parseError("Max(1"),
            "[expression \"Max(1\"] unreadable at column 6: got the end, expected ',' or ')'");
  EXPECT_EQ(parseError("9223372036854775808"),
            "[expression \"9223372036854775808\"] unreadable at column 1: got "
            "'9', expected an integer of 64 bits");
  EXPECT_EQ(
      parseError("2 + Gamma(s0, 1, 2)"),
      "[expression \"2 + Gamma(s0, 1, 2)\"] unknown function at column 5: got Gamma of 3 operands, expected "
      "one of torch's for sizes and numbers (FloorDiv, Mod, Max, ToFloat, ...)");
  EXPECT_EQ(parseError("Eq(s0)"),
            "[expression \"Eq(s0)\"] unknown function at column 1: got Eq of 1 operands, "
            "expected one of torch's for sizes and numbers (FloorDiv, Mod, Max, ToFloat, ...)");
  EXPECT_EQ(parseError("Piecewise((s0, s0 > 3))"),
            "[expression \"Piecewise((s0, s0 > 3))\"] unreadable at column "
            "24: got the end, expected a last piece whose condition is True");
  EXPECT_EQ(parseError("1e999*s0"),
            "[expression \"1e999*s0\"] unreadable at column 1: got '1', expected a float of 64 bits");
  EXPECT_EQ(parseError("s0**-1"),
            "[expression \"s0**-1\"] a negative exponent: got -1, expected an integer's power");
}

TEST(ExpressionError, LongTextsAreRefused) {
  EXPECT_EQ(parseError(std::string(10001, '1')),
            "[expression \"" + std::string(40, '1') +
                "...\"] too long: got 10001 characters, expected at most 10000");
}

TEST(ExpressionError, DeepNestingIsRefused) {
  std::string deep(10000, '(');
  EXPECT_EQ(parseError(deep), "[expression \"" + std::string(40, '(') +
                                  "...\"] nested too deeply at column 201: expected at most 200 levels");
  EXPECT_EQ(parseError(std::string(5000, '-') + "s0"),
            "[expression \"" + std::string(40, '-') +
                "...\"] nested too deeply at column 201: expected at most 200 levels");
}

static std::string evaluationError(std::string_view text) {
  ExpressionPool pool;
  Result<int64_t> value = pool.evaluate(*pool.parse(text), {{"s0", 7}, {"zero", 0}});
  return value ? "no error" : value.error().text();
}

TEST(ExpressionError, EvaluationNamesTheExpression) {
  EXPECT_EQ(evaluationError("s0 + s5"), "[s5] the symbol has no value");
  EXPECT_EQ(evaluationError("s0//zero"), "[(s0//zero)] division by zero: got 7 / 0");
  EXPECT_EQ(evaluationError("3//0"), "[(3//0)] division by zero: got 3 / 0");
  EXPECT_EQ(evaluationError("IntTrueDiv(s0, 2)"), "[IntTrueDiv(s0, 2)] the value is no integer: got 3.5");
  EXPECT_EQ(evaluationError("FloatTrueDiv(s0, zero)"),
            "[FloatTrueDiv(s0, zero)] division by zero: got 7.0 / 0");
  EXPECT_EQ(evaluationError("FloorToInt(1e300*ToFloat(s0))"),
            "[FloorToInt(1e+300*ToFloat(s0))] no integer of 64 bits: got 7e+300");
  EXPECT_EQ(evaluationError("s0**100"), "[s0**100] the value does not fit in 64 bits: got 7 ** 100");
  EXPECT_EQ(evaluationError("s0 + 9223372036854775807"),
            "[s0 + 9223372036854775807] the value does not fit in 64 "
            "bits: got 7 + 9223372036854775807");
}

TEST(ExpressionPool, InternsEqualExpressionsOnce) {
  ExpressionPool pool;
  SymInt s0 = pool.symbol("s0");
  EXPECT_EQ(pool.symbol("s0"), s0);
  SymInt sum = pool.make(ExpressionKind::Add, {1, s0});
  size_t size = pool.size();
  EXPECT_EQ(pool.make(ExpressionKind::Add, {s0, 1}), sum);
  EXPECT_EQ(pool.size(), size);
  EXPECT_EQ(pool[sum].kind, ExpressionKind::Add);
}

TEST(ExpressionPool, KeepsWhatItCannotFold) {
  ExpressionPool pool;
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(pool.make(ExpressionKind::Add, {most, 1}).isConstant());
  EXPECT_FALSE(pool.make(ExpressionKind::Mul, {most, 2}).isConstant());
  EXPECT_FALSE(pool.make(ExpressionKind::Mod, {3, 0}).isConstant());
  int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(pool.make(ExpressionKind::FloorDiv, {least, -1}).isConstant());
}

TEST(Expression, RenamedKeepsIdsAndRefusesNamesThatAreTaken) {
  ExpressionPool pool;
  SymInt size = *pool.parse("2*s0 + s1");
  ExpressionPool renamed = pool.renamed({{"s0", "batch"}, {"s1", "batch"}, {"s9", "rows"}});
  EXPECT_EQ(renamed.print(size), "2*batch + s1");
  EXPECT_EQ(*renamed.evaluate(size, {{"batch", 3}, {"s1", 4}}), 10);
  EXPECT_EQ(renamed.symbol("batch"), pool.symbol("s0"));
  EXPECT_EQ(pool.print(size), "2*s0 + s1");
}

} // namespace torchere::program
