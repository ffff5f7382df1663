// Checked integer arithmetic: overflow and division by zero are errors, never undefined.
#include "program/expression_arithmetic.h"

#include "program/python_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace torchere::program {

static tl::unexpected<Error> overflow(int64_t left, const char *sign, int64_t right) {
  return fail(ErrorCode::OutOfRange, "the value does not fit in 64 bits: got {} {} {}", left, sign, right);
}

static Result<int64_t> integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return invalidArgument("a negative exponent: got {} ** {}, expected an integer", base, exponent);
  int64_t result = 1, square = base;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if ((left & 1) && __builtin_mul_overflow(result, square, &result))
      return overflow(base, "**", exponent);
    if (left > 1 && __builtin_mul_overflow(square, square, &square))
      return overflow(base, "**", exponent);
  }
  return result;
}

static Result<int64_t> divide(ExpressionKind kind, int64_t left, int64_t right) {
  if (right == 0)
    return invalidArgument("division by zero: got {} / 0", left);
  // INT64_MIN / -1 is the one quotient that does not fit; its remainder is 0 all the same.
  if (right == -1) {
    int64_t negated = 0;
    if (kind == ExpressionKind::Mod)
      return 0;
    return __builtin_sub_overflow(int64_t(0), left, &negated) ? overflow(left, "/", right)
                                                              : Result<int64_t>(negated);
  }
  int64_t quotient = left / right, remainder = left % right;
  bool inexact = remainder != 0, negative = (left < 0) != (right < 0);
  switch (kind) {
  case ExpressionKind::FloorDiv:
    return quotient - (inexact && negative);
  case ExpressionKind::CeilDiv:
    return quotient + (inexact && !negative);
  case ExpressionKind::TruncDiv:
    return quotient;
  case ExpressionKind::Mod:
    return inexact && negative ? remainder + right : remainder;
  case ExpressionKind::IntTrueDiv:
    if (inexact)
      return invalidArgument("the quotient is no integer: got {} / {}", left, right);
    return quotient;
  case ExpressionKind::Symbol:
  case ExpressionKind::Add:
  case ExpressionKind::Mul:
  case ExpressionKind::Pow:
  case ExpressionKind::Max:
  case ExpressionKind::Min:
  case ExpressionKind::Real:
  case ExpressionKind::Call:
    break;
  }
  return fail(ErrorCode::Internal, "the operator does not divide");
}

Result<int64_t> applyOperator(ExpressionKind kind, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (kind) {
  case ExpressionKind::Add:
    return __builtin_add_overflow(left, right, &result) ? overflow(left, "+", right)
                                                        : Result<int64_t>(result);
  case ExpressionKind::Mul:
    return __builtin_mul_overflow(left, right, &result) ? overflow(left, "*", right)
                                                        : Result<int64_t>(result);
  case ExpressionKind::Pow:
    return integerPower(left, right);
  case ExpressionKind::Max:
    return std::max(left, right);
  case ExpressionKind::Min:
    return std::min(left, right);
  case ExpressionKind::FloorDiv:
  case ExpressionKind::CeilDiv:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::IntTrueDiv:
  case ExpressionKind::Mod:
    return divide(kind, left, right);
  case ExpressionKind::Symbol:
  case ExpressionKind::Real:
  case ExpressionKind::Call:
    break;
  }
  return fail(ErrorCode::Internal, "a symbol is no operator");
}

static Result<double> applyToFloats(ExpressionKind kind, double left, double right) {
  switch (kind) {
  case ExpressionKind::Add:
    return left + right;
  case ExpressionKind::Mul:
    return left * right;
  case ExpressionKind::Pow:
    return std::pow(left, right);
  case ExpressionKind::Max:
    return std::max(left, right);
  case ExpressionKind::Min:
    return std::min(left, right);
  case ExpressionKind::FloorDiv:
  case ExpressionKind::CeilDiv:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::IntTrueDiv:
  case ExpressionKind::Mod:
    break;
  case ExpressionKind::Symbol:
  case ExpressionKind::Real:
  case ExpressionKind::Call:
    return fail(ErrorCode::Internal, "a symbol is no operator");
  }
  if (right == 0)
    return invalidArgument("division by zero: got {} / 0", pythonText(left));
  double quotient = left / right;
  if (kind == ExpressionKind::Mod)
    return left - right * std::floor(quotient);
  return kind == ExpressionKind::FloorDiv   ? std::floor(quotient)
         : kind == ExpressionKind::CeilDiv  ? std::ceil(quotient)
         : kind == ExpressionKind::TruncDiv ? std::trunc(quotient)
                                            : quotient;
}

Result<Number> applyOperator(ExpressionKind kind, const Number &left, const Number &right) {
  const auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
  bool isInexact = kind == ExpressionKind::IntTrueDiv && a && b && *b != 0 && *b != -1 && *a % *b != 0;
  if (!a || !b || isInexact)
    return applyToFloats(kind, toDouble(left), toDouble(right)).map([](double value) {
      return Number(value);
    });
  return applyOperator(kind, *a, *b).map([](int64_t value) { return Number(value); });
}

double toDouble(const Number &number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

double realValue(const Expression &real) {
  double value = 0; // the digits were printed by pythonText()
  std::from_chars(real.symbol.data(), real.symbol.data() + real.symbol.size(), value);
  return value;
}

Result<int64_t> toInteger(const Number &number) {
  if (const auto *integer = std::get_if<int64_t>(&number))
    return *integer;
  double value = std::get<double>(number);
  constexpr double limit = 0x1p63;
  if (!(value >= -limit && value < limit) || value != std::trunc(value))
    return fail(ErrorCode::OutOfRange, "no integer of 64 bits: got {}", pythonText(value));
  return static_cast<int64_t>(value);
}

} // namespace torchere::program
