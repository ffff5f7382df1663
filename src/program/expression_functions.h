// The functions of expressions that are no arithmetic of integers: comparisons, logic, choices, and floats.
#pragma once

#include "program/expression.h"

#include <span>
#include <string_view>

namespace torchere::program {

/// A function under the name that sympy prints for it.
struct ExpressionFunction {
  std::string_view name;
  size_t operandCount;
  NumberKind gives; ///< of Where, it is the wider of its choices
  /// The message of an error has no subject.
  Result<Number> (*apply)(std::span<const Number> operands);
};

/// Where(condition, if it holds, otherwise), which is printed as a Piecewise.
inline constexpr std::string_view whereFunction = "Where";

/// Null if there is none of this name.
TORCHERE_EXPORT const ExpressionFunction *findFunction(std::string_view name);

/// "==" for Eq, "<" for Lt, "&" for And; empty for functions that are printed as calls.
std::string_view infixOf(std::string_view function);

} // namespace torchere::program
