// Checked 64-bit arithmetic by Python's rules, for folding and for evaluating expressions.
#pragma once

#include "base/error.h"
#include "program/expression.h"

#include <cstdint>
#include <string>

namespace torchere::program {

/// `kind(left, right)`: division rounds down, a remainder has the divisor's sign. Fails on a value outside 64
/// bits, division by zero, an inexact IntTrueDiv and a negative exponent; the message has no subject.
Result<int64_t> applyOperator(ExpressionKind kind, int64_t left, int64_t right);

/// The same of ints, but for an inexact IntTrueDiv, which is a float; with a float it is Python's of floats.
Result<Number> applyOperator(ExpressionKind kind, const Number &left, const Number &right);

double toDouble(const Number &number);
/// The value of a Real.
double realValue(const Expression &real);
/// Fails on a float that is no integer of 64 bits.
Result<int64_t> toInteger(const Number &number);

} // namespace torchere::program
