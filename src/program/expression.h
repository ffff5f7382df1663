// Symbolic numbers: the sizes of a program with dynamic shapes, and the ints, floats and bools that are
// computed from them, as interned expressions over named symbols.
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
#include <variant>
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
/// TruncDiv (torch's TruncToInt of an IntTrueDiv) towards zero; IntTrueDiv gives a float. A Real is a float
/// constant, a Call one of the functions of expression_functions.h: comparisons, conversions, choices.
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
  Real,
  Call,
};

struct Expression {
  ExpressionKind kind;
  std::string symbol;           ///< the name of a Symbol or of a Call's function, the digits of a Real
  std::vector<SymInt> operands; ///< none of a Symbol or a Real, one to three of a Call, otherwise two or more
};

/// What an expression gives: an int, a float, or a bool (0 or 1).
enum class NumberKind : uint8_t { Int, Float, Bool };
/// A value of an expression.
using Number = std::variant<int64_t, double>;
/// The values of symbols.
using SymbolValues = std::map<std::string, int64_t, std::less<>>;

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
  SymInt real(double value);
  /// One of the functions of expression_functions.h, with as many operands as it takes.
  SymInt call(std::string_view function, std::vector<SymInt> operands);
  const Expression &operator[](SymInt expression) const { return expressions[expression.id()]; }
  /// Of a symbol it is an int, unless torch's name for it is that of a float ("zuf0").
  NumberKind kindOf(SymInt expression) const;
  /// The same expressions with the same ids, with symbols renamed. A new name that is already a symbol of the
  /// pool, or that is given twice, is ignored.
  ExpressionPool renamed(const std::map<std::string, std::string> &names) const;
  /// The number of expressions; ids are smaller.
  size_t size() const { return expressions.size(); }

  /// Reads the text of a sympy expression as torch prints it: "s77", "2*s77 + 1", "(s0//2)", "Max(1, s0)",
  /// "Mod(s0, 3)", "CeilToInt(IntTrueDiv(s0, 2))" (a CeilDiv), "s0 > 3", "Ne(s0, 1)", "0.5*ToFloat(s0)",
  /// "Piecewise((s0, s0 > 3), (2, True))"; ModularIndexing and PythonMod become FloorDiv and Mod, Abs a Max.
  /// The error names the text and the place.
  Result<SymInt> parse(std::string_view text);
  /// The text, as torch prints it, but for "s0 != 1" where sympy has Ne(s0, 1); parse() accepts it.
  std::string print(SymInt expression) const;

  /// The value for given values of the symbols, by Python's rules (division rounds down). Fails if a symbol
  /// is missing, on division by zero, if the value is no integer, or if it does not fit in 64 bits.
  Result<int64_t> evaluate(SymInt expression, const SymbolValues &symbols) const;

private:
  SymInt intern(ExpressionKind kind, std::vector<SymInt> operands, std::string_view name = "");
  Result<Number> number(SymInt expression, const SymbolValues &symbols) const;
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
