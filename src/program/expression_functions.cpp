// The table of functions, by Python's rules.
#include "program/expression_functions.h"

#include "program/expression_arithmetic.h"
#include "program/python_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace torchere::program {

namespace {

using Operands = std::span<const Number>;

/// Ints are compared as ints: a float does not hold all of them.
template <class Compare> Result<Number> compared(Operands operands, Compare compare) {
  const auto *left = std::get_if<int64_t>(&operands[0]), *right = std::get_if<int64_t>(&operands[1]);
  bool holds = left && right ? compare(*left, *right) : compare(toDouble(operands[0]), toDouble(operands[1]));
  return Number(int64_t(holds));
}

template <class Compare> Result<Number> compare(Operands operands) {
  return compared(operands, Compare());
}

bool isTrue(const Number &number) {
  return toDouble(number) != 0;
}

Result<Number> both(Operands operands) {
  return Number(int64_t(isTrue(operands[0]) && isTrue(operands[1])));
}

Result<Number> either(Operands operands) {
  return Number(int64_t(isTrue(operands[0]) || isTrue(operands[1])));
}

Result<Number> negated(Operands operands) {
  return Number(int64_t(!isTrue(operands[0])));
}

Result<Number> chosen(Operands operands) {
  return isTrue(operands[0]) ? operands[1] : operands[2];
}

Result<Number> asFloat(Operands operands) {
  return Number(toDouble(operands[0]));
}

Result<Number> quotient(Operands operands) {
  double divisor = toDouble(operands[1]);
  if (divisor == 0)
    return invalidArgument("division by zero: got {} / 0", pythonText(toDouble(operands[0])));
  return Number(toDouble(operands[0]) / divisor);
}

Result<Number> power(Operands operands) {
  return Number(std::pow(toDouble(operands[0]), toDouble(operands[1])));
}

Result<Number> squareRoot(Operands operands) {
  return Number(std::sqrt(toDouble(operands[0])));
}

/// To the decimal places that the second operand counts.
Result<Number> roundedToDecimals(Operands operands) {
  double scale = std::pow(10.0, toDouble(operands[1]));
  return Number(std::nearbyint(toDouble(operands[0]) * scale) / scale);
}

template <double (*function)(double)> Result<Number> rounded(Operands operands) {
  if (std::holds_alternative<int64_t>(operands[0]))
    return operands[0];
  TORCHERE_ASSIGN(int64_t integer, toInteger(function(std::get<double>(operands[0]))));
  return Number(integer);
}

template <class Op> Result<Number> bitwise(Operands operands) {
  TORCHERE_ASSIGN(int64_t left, toInteger(operands[0]));
  TORCHERE_ASSIGN(int64_t right, toInteger(operands[1]));
  return Number(Op()(left, right));
}

using enum NumberKind;

constexpr std::array functions = {
    ExpressionFunction{"Eq", 2, Bool, compare<std::equal_to<>>},
    ExpressionFunction{"Ne", 2, Bool, compare<std::not_equal_to<>>},
    ExpressionFunction{"Lt", 2, Bool, compare<std::less<>>},
    ExpressionFunction{"Le", 2, Bool, compare<std::less_equal<>>},
    ExpressionFunction{"Gt", 2, Bool, compare<std::greater<>>},
    ExpressionFunction{"Ge", 2, Bool, compare<std::greater_equal<>>},
    ExpressionFunction{"And", 2, Bool, both},
    ExpressionFunction{"Or", 2, Bool, either},
    ExpressionFunction{"Not", 1, Bool, negated},
    ExpressionFunction{whereFunction, 3, Int, chosen},
    ExpressionFunction{"ToFloat", 1, Float, asFloat},
    ExpressionFunction{"FloatTrueDiv", 2, Float, quotient},
    ExpressionFunction{"FloatPow", 2, Float, power},
    ExpressionFunction{"OpaqueUnaryFn_sqrt", 1, Float, squareRoot},
    ExpressionFunction{"RoundDecimal", 2, Float, roundedToDecimals},
    ExpressionFunction{"FloorToInt", 1, Int, rounded<std::floor>},
    ExpressionFunction{"CeilToInt", 1, Int, rounded<std::ceil>},
    ExpressionFunction{"TruncToInt", 1, Int, rounded<std::trunc>},
    ExpressionFunction{"RoundToInt", 1, Int, rounded<std::nearbyint>},
    ExpressionFunction{"BitwiseFn_bitwise_and", 2, Int, bitwise<std::bit_and<>>},
    ExpressionFunction{"BitwiseFn_bitwise_or", 2, Int, bitwise<std::bit_or<>>},
};

struct Infix {
  std::string_view function, sign;
};
constexpr std::array infixes = {Infix{"Eq", "=="}, Infix{"Ne", "!="}, Infix{"Le", "<="}, Infix{"Ge", ">="},
                                Infix{"Lt", "<"},  Infix{"Gt", ">"},  Infix{"And", "&"}, Infix{"Or", "|"}};

} // namespace

const ExpressionFunction *findFunction(std::string_view name) {
  const auto *found = std::ranges::find(functions, name, &ExpressionFunction::name);
  return found == functions.end() ? nullptr : found;
}

std::string_view infixOf(std::string_view function) {
  const auto *found = std::ranges::find(infixes, function, &Infix::function);
  return found == infixes.end() ? std::string_view() : found->sign;
}

} // namespace torchere::program
