// SizeSolver: finds the values of a program's symbols from the sizes of a call's dynamic dimensions.
#pragma once

#include "session/call_signature.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace torchere::session {

/// "2 to 8", "at least 2", "at most 8", "4".
std::string rangeText(const program::Range &range);

/// Symbols that stand alone are read off their dimensions; an expression with one unknown symbol is solved
/// for it if it is linear. Symbols that stay unknown are not checked.
class SizeSolver {
public:
  SizeSolver(const CallSignature &signature, const Sizes &sizes);
  Status solve();
  /// Checks the program's ranges, after solve().
  Status checkRanges() const;

private:
  using Dimension = CallSignature::Dimension;
  Status bindSymbols();
  Status checkExpressions();
  /// True if the dimension determined a symbol.
  Result<bool> solveFor(const Dimension &dimension, int64_t size);
  Status checkValue(const Dimension &dimension, int64_t size) const;
  void collectUnknown(program::SymInt expression, std::set<std::string> &unknown) const;
  std::optional<int64_t> evaluate(program::SymInt expression) const;
  /// The expression's value if the symbol had this one.
  std::optional<int64_t> evaluateAt(program::SymInt expression, const std::string &symbol,
                                    int64_t value) const;
  std::string print(program::SymInt expression) const { return pool.print(expression); }
  /// "s0 = 3, s1 = 4": the symbols of the expression; if asked, with the places they were read from.
  std::string valuesOf(program::SymInt expression, bool withPlaces = false) const;
  /// What a relation is not satisfied by, in the user's words: "[forward] ...: got x.shape[0] = 3, n = 4,
  /// expected x.shape[0] > n".
  Error violation(program::SymInt relation) const;
  /// ", from dimension 0 of x" for a symbol, ", for s0 = 3 (dimension 0 of x)" for an expression.
  std::string originOf(program::SymInt expression) const;

  const CallSignature &signature;
  const program::ExpressionPool &pool;
  const Sizes &sizes;
  std::map<std::string, int64_t, std::less<>> symbols;
  std::map<std::string, std::string> places; ///< "dimension 0 of x", where the symbol got its value
};

} // namespace torchere::session
