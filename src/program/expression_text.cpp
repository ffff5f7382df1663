// ExpressionPool::print: an expression as sympy's printer shows it in torch's graphs.
#include "program/expression_functions.h"

#include <algorithm>

namespace torchere::program {

/// How tightly an expression binds; an operand that binds less tightly than its context needs parentheses.
enum class Precedence { Lowest, Add, Product, Power, Atom };

static Precedence precedenceOf(const ExpressionPool &pool, SymInt expression) {
  if (expression.isConstant())
    return expression.constant() < 0 ? Precedence::Add : Precedence::Atom;
  const Expression &stored = pool[expression];
  switch (stored.kind) {
  case ExpressionKind::Call:
    return infixOf(stored.symbol).empty() ? Precedence::Atom : Precedence::Lowest;
  case ExpressionKind::Real:
    return stored.symbol.starts_with('-') ? Precedence::Add : Precedence::Atom;
  case ExpressionKind::Add:
    return Precedence::Add;
  case ExpressionKind::Mul:
    return stored.operands[0].isConstant() && stored.operands[0].constant() < 0 ? Precedence::Add
                                                                                : Precedence::Product;
  case ExpressionKind::Pow:
    return Precedence::Power;
  case ExpressionKind::FloorDiv: // has parentheses of its own and gets these as well, as in torch
  case ExpressionKind::Mod:
  case ExpressionKind::IntTrueDiv:
    return Precedence::Lowest;
  case ExpressionKind::Symbol:
  case ExpressionKind::CeilDiv:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::Max:
  case ExpressionKind::Min:
    break;
  }
  return Precedence::Atom;
}

static std::string printAt(const ExpressionPool &pool, SymInt expression, Precedence least) {
  std::string text = pool.print(expression);
  return precedenceOf(pool, expression) < least ? "(" + text + ")" : text;
}

static std::string printSum(const ExpressionPool &pool, std::vector<SymInt> terms) {
  // sympy puts a positive constant before a single negative term: "3 - s0", but "s0 - 3".
  if (terms.size() == 2 && terms[1].isConstant() && terms[1].constant() > 0 && !terms[0].isConstant()) {
    const Expression &first = pool[terms[0]];
    if (first.kind == ExpressionKind::Mul && first.operands.size() == 2 && first.operands[0].isConstant() &&
        first.operands[0].constant() < 0)
      std::swap(terms[0], terms[1]);
  }
  std::string text;
  for (size_t i = 0; i < terms.size(); ++i) {
    bool isLow = precedenceOf(pool, terms[i]) == Precedence::Lowest;
    std::string term = isLow ? "(" + pool.print(terms[i]) + ")" : pool.print(terms[i]);
    bool negative = term.starts_with('-');
    if (negative)
      term.erase(0, 1);
    text += i == 0 ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += term;
  }
  return text;
}

static std::string printProduct(const ExpressionPool &pool, const std::vector<SymInt> &factors) {
  std::string text;
  size_t first = 0;
  if (factors[0] == SymInt(-1)) {
    text = "-";
    first = 1;
  } else if (factors[0].isConstant()) {
    text = fmt::format("{}*", factors[0].constant());
    first = 1;
  }
  for (size_t i = first; i < factors.size(); ++i) {
    if (i > first)
      text += "*";
    text += printAt(pool, factors[i], Precedence::Product);
  }
  return text;
}

static std::string printCall(const ExpressionPool &pool, std::string_view name,
                             const std::vector<SymInt> &operands) {
  std::string text = std::string(name) + "(";
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + pool.print(operands[i]);
  return text + ")";
}

/// "s0 != 1", "(s0 > 4) & (s1 > 4)", "~s2", "Piecewise((s0, s0 > 3), (2, True))", "ToFloat(s0)".
static std::string printFunction(const ExpressionPool &pool, const Expression &call) {
  const std::vector<SymInt> &operands = call.operands;
  if (call.symbol == whereFunction)
    return fmt::format("Piecewise(({}, {}), ({}, True))", pool.print(operands[1]), pool.print(operands[0]),
                       pool.print(operands[2]));
  if (std::string_view sign = infixOf(call.symbol); !sign.empty()) {
    auto side = [&](SymInt operand) {
      bool isRelation = !operand.isConstant() && pool[operand].kind == ExpressionKind::Call;
      return isRelation ? printAt(pool, operand, Precedence::Add) : pool.print(operand);
    };
    return fmt::format("{} {} {}", side(operands[0]), sign, side(operands[1]));
  }
  if (call.symbol == "Not")
    return "~" + printAt(pool, operands[0], Precedence::Atom);
  return printCall(pool, call.symbol, operands);
}

std::string ExpressionPool::print(SymInt expression) const {
  if (expression.isConstant())
    return fmt::format("{}", expression.constant());
  const Expression &stored = (*this)[expression];
  const std::vector<SymInt> &operands = stored.operands;
  switch (stored.kind) {
  case ExpressionKind::Symbol:
  case ExpressionKind::Real:
    return stored.symbol;
  case ExpressionKind::Call:
    return printFunction(*this, stored);
  case ExpressionKind::Add:
    return printSum(*this, operands);
  case ExpressionKind::Mul:
    return printProduct(*this, operands);
  case ExpressionKind::Pow:
    return printAt(*this, operands[0], Precedence::Atom) + "**" +
           printAt(*this, operands[1], Precedence::Power);
  case ExpressionKind::FloorDiv:
    return "(" + printAt(*this, operands[0], Precedence::Atom) + "//" +
           printAt(*this, operands[1], Precedence::Atom) + ")";
  case ExpressionKind::CeilDiv:
    return "CeilToInt(" + printCall(*this, "IntTrueDiv", operands) + ")";
  case ExpressionKind::TruncDiv:
    return "TruncToInt(" + printCall(*this, "IntTrueDiv", operands) + ")";
  case ExpressionKind::IntTrueDiv:
    return printCall(*this, "IntTrueDiv", operands);
  case ExpressionKind::Mod:
    return printCall(*this, "Mod", operands);
  case ExpressionKind::Max:
    return printCall(*this, "Max", operands);
  case ExpressionKind::Min:
    return printCall(*this, "Min", operands);
  }
  return "";
}

} // namespace torchere::program
