// Symbolic integers: the sizes of a program with dynamic shapes, as interned expressions over named symbols.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::program {

/// An integer that is known, or an expression of an ExpressionPool. Two SymInts of one pool are equal exactly
/// when they are the same constant or the same interned expression.
class SymInt {
public:
  SymInt() = default;
  SymInt(int64_t constant) : value(constant) {}
  static SymInt expression(uint32_t id) {
    SymInt result;
    result.value = id;
    result.symbolic = true;
    return result;
  }

  bool isConstant() const { return !symbolic; }
  /// The constant; only when isConstant().
  int64_t constant() const { return value; }
  /// The index into the pool; only when not isConstant().
  uint32_t id() const { return static_cast<uint32_t>(value); }
  bool operator==(const SymInt &) const = default;

private:
  int64_t value = 0;
  bool symbolic = false;
};

/// Operators, named as sympy and torch.utils._sympy.functions name them.
enum class ExpressionKind : uint8_t { Symbol, Add, Mul, Pow, FloorDiv, CeilDiv, IntTrueDiv, Mod, Max, Min };

struct Expression {
  ExpressionKind kind;
  std::string symbol;           ///< the name, when kind is Symbol
  std::vector<SymInt> operands; ///< at least two, when kind is not Symbol
};

/// Inclusive bounds; torch prints the extremes as -int_oo and int_oo.
struct Range {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  bool operator==(const Range &) const = default;
};

/// The expressions of one program, each stored once.
class TORCHERE_EXPORT ExpressionPool {
public:
  SymInt symbol(std::string_view name);
  /// The expression `kind(operands...)`, folded where all operands are constants.
  SymInt make(ExpressionKind kind, std::vector<SymInt> operands);
  const Expression &operator[](SymInt expression) const { return expressions[expression.id()]; }

  /// Reads the text of a sympy expression as torch prints it: "s77", "2*s77 + 1", "(s0//2)", "Max(1, s0)",
  /// "Mod(s0, 3)", "CeilToInt(IntTrueDiv(s0, 2))". The error names the text and the place.
  Result<SymInt> parse(std::string_view text);
  /// The text, as torch prints it; parse() reads it back.
  std::string print(SymInt expression) const;

  /// The value once every symbol is given one. Fails when a symbol is missing or on division by zero.
  Result<int64_t> evaluate(SymInt expression, const std::map<std::string, int64_t, std::less<>> &symbols) const;

private:
  std::deque<Expression> expressions;
  std::unordered_map<std::string, uint32_t> index; ///< structural key -> expression
};

} // namespace torchere::program
