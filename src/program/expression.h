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

/// A known integer, or an expression of an ExpressionPool. Two SymInts of one pool are equal if and only if
/// they are the same constant or the same interned expression.
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

/// Operators, named as sympy and torch.utils._sympy.functions name them. FloorDiv rounds down, CeilDiv up and
/// TruncDiv (torch's TruncToInt of an IntTrueDiv) towards zero; IntTrueDiv alone is exact.
enum class ExpressionKind : uint8_t {
  Symbol,
  Add,
  Mul,
  Pow,
  FloorDiv,
  CeilDiv,
  IntTrueDiv,
  Mod,
  Max,
  Min,
  TruncDiv,
};

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
  /// The expression `kind(operands...)` in canonical form: constants folded, sums and products flattened,
  /// like terms collected, operands in sympy's order of printing. A constant that does not fit in 64 bits, or
  /// a division by zero, is left unfolded; evaluate() reports it.
  SymInt make(ExpressionKind kind, std::vector<SymInt> operands);
  const Expression &operator[](SymInt expression) const { return expressions[expression.id()]; }
  /// The same expressions with the same ids, with symbols renamed. A new name that is already a symbol of the
  /// pool, or that is given twice, is ignored.
  ExpressionPool renamed(const std::map<std::string, std::string> &names) const;
  /// The number of expressions; ids are smaller.
  size_t size() const { return expressions.size(); }

  /// Reads the text of a sympy expression as torch prints it: "s77", "2*s77 + 1", "(s0//2)", "Max(1, s0)",
  /// "Mod(s0, 3)", "CeilToInt(IntTrueDiv(s0, 2))" (a CeilDiv); ModularIndexing and PythonMod become FloorDiv
  /// and Mod. The error names the text and the place.
  Result<SymInt> parse(std::string_view text);
  /// The text, as torch prints it; parse() accepts it.
  std::string print(SymInt expression) const;

  /// The value for given values of the symbols, by Python's rules (division rounds down). Fails if a symbol
  /// is missing, on division by zero, if IntTrueDiv leaves a remainder, or if the value does not fit in 64
  /// bits.
  Result<int64_t> evaluate(SymInt expression,
                           const std::map<std::string, int64_t, std::less<>> &symbols) const;

private:
  SymInt intern(ExpressionKind kind, std::vector<SymInt> operands);
  SymInt makeTerm(int64_t coefficient, SymInt rest);
  SymInt makeAdd(const std::vector<SymInt> &operands);
  SymInt makeMul(const std::vector<SymInt> &operands);
  SymInt makeFloorDiv(SymInt base, SymInt divisor);
  SymInt makeExtreme(ExpressionKind kind, const std::vector<SymInt> &operands);
  SymInt makeBinary(ExpressionKind kind, SymInt left, SymInt right);

  std::deque<Expression> expressions;
  std::unordered_map<std::string, uint32_t> index; ///< structural key -> expression
};

} // namespace torchere::program
