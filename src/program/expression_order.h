// The order in which sympy prints the operands of sums, products, Max and Min.
#pragma once

#include "program/expression.h"

#include <vector>

namespace torchere::program {

/// Negative, zero or positive as `left` comes before, is equal to, or comes after `right` in sympy's sort
/// keys: kind of expression first, then name or operands, then exponent, then coefficient.
int compareSortKeys(const ExpressionPool &pool, SymInt left, SymInt right);

/// Sorts the factors of a product, or the operands of Max and Min.
void sortOperands(const ExpressionPool &pool, std::vector<SymInt> &operands);

/// Sorts the terms of a sum lexicographically by their powers, highest first: "s0**2 + s0*s1 + s1 + 1".
void sortTerms(const ExpressionPool &pool, std::vector<SymInt> &terms);

} // namespace torchere::program
