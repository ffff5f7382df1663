// ExpressionPool: interning, canonical forms and evaluation.
#include "program/expression.h"

#include "program/expression_arithmetic.h"
#include "program/expression_functions.h"
#include "program/expression_order.h"
#include "program/python_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace torchere::program {

SymInt ExpressionPool::symbol(std::string_view name) {
  std::string key = "$" + std::string(name);
  auto [entry, isNew] = index.try_emplace(key, static_cast<uint32_t>(expressions.size()));
  if (isNew)
    expressions.push_back({ExpressionKind::Symbol, std::string(name), {}});
  return SymInt::expression(entry->second);
}

ExpressionPool ExpressionPool::renamed(const std::map<std::string, std::string> &names) const {
  ExpressionPool result = *this;
  for (const auto &[from, to] : names) {
    auto found = result.index.find("$" + from);
    if (found == result.index.end() || result.index.contains("$" + to))
      continue;
    uint32_t id = found->second;
    result.index.erase(found);
    result.index.emplace("$" + to, id);
    result.expressions[id].symbol = to;
  }
  return result;
}

SymInt ExpressionPool::intern(ExpressionKind kind, std::vector<SymInt> operands, std::string_view name) {
  std::string key = fmt::format("{}{}", static_cast<int>(kind), name);
  for (SymInt operand : operands) {
    if (operand.isConstant())
      fmt::format_to(std::back_inserter(key), ",{}", operand.constant());
    else
      fmt::format_to(std::back_inserter(key), ",#{}", operand.id());
  }
  auto [entry, isNew] = index.try_emplace(std::move(key), static_cast<uint32_t>(expressions.size()));
  if (isNew)
    expressions.push_back({kind, std::string(name), std::move(operands)});
  return SymInt::expression(entry->second);
}

SymInt ExpressionPool::real(double value) {
  return intern(ExpressionKind::Real, {}, pythonText(value));
}

SymInt ExpressionPool::call(std::string_view function, std::vector<SymInt> operands) {
  return intern(ExpressionKind::Call, std::move(operands), function);
}

SymInt ExpressionPool::make(ExpressionKind kind, std::vector<SymInt> operands) {
  switch (kind) {
  case ExpressionKind::Add:
    return makeAdd(operands);
  case ExpressionKind::Mul:
    return makeMul(operands);
  case ExpressionKind::Max:
  case ExpressionKind::Min:
    return makeExtreme(kind, operands);
  case ExpressionKind::Pow:
  case ExpressionKind::FloorDiv:
  case ExpressionKind::CeilDiv:
  case ExpressionKind::IntTrueDiv:
  case ExpressionKind::Mod:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::Symbol: // created by symbol(), real() and call()
  case ExpressionKind::Real:
  case ExpressionKind::Call:
    break;
  }
  return makeBinary(kind, operands.at(0), operands.at(1));
}

/// Whether it is a product with a constant factor in front. (A product of constants that does not fit in 64
/// bits is not folded, and has none.)
static bool hasCoefficient(const Expression &expression) {
  return expression.kind == ExpressionKind::Mul && expression.operands[0].isConstant() &&
         !expression.operands[1].isConstant();
}

/// `coefficient * rest`, where `rest` has no constant factor.
SymInt ExpressionPool::makeTerm(int64_t coefficient, SymInt rest) {
  if (coefficient == 0)
    return 0;
  if (rest == SymInt(1))
    return coefficient;
  if (coefficient == 1)
    return rest;
  std::vector<SymInt> factors = {coefficient};
  if ((*this)[rest].kind == ExpressionKind::Mul)
    factors.insert(factors.end(), (*this)[rest].operands.begin(), (*this)[rest].operands.end());
  else
    factors.push_back(rest);
  return intern(ExpressionKind::Mul, std::move(factors));
}

/// The operands, with nested expressions of the same kind flattened.
static std::vector<SymInt> flatten(const ExpressionPool &pool, ExpressionKind kind,
                                   const std::vector<SymInt> &operands) {
  std::vector<SymInt> flat;
  for (SymInt operand : operands) {
    if (!operand.isConstant() && pool[operand].kind == kind)
      flat.insert(flat.end(), pool[operand].operands.begin(), pool[operand].operands.end());
    else
      flat.push_back(operand);
  }
  return flat;
}

SymInt ExpressionPool::makeAdd(const std::vector<SymInt> &operands) {
  int64_t constant = 0;
  std::vector<std::pair<SymInt, int64_t>> terms; // each term without its coefficient, and the coefficient
  for (SymInt operand : flatten(*this, ExpressionKind::Add, operands)) {
    if (operand.isConstant()) {
      if (__builtin_add_overflow(constant, operand.constant(), &constant))
        return intern(ExpressionKind::Add, operands);
      continue;
    }
    int64_t coefficient = 1;
    SymInt rest = operand;
    if (const Expression &stored = (*this)[operand]; hasCoefficient(stored)) {
      coefficient = stored.operands[0].constant();
      std::vector<SymInt> factors(stored.operands.begin() + 1, stored.operands.end());
      rest = factors.size() == 1 ? factors[0] : intern(ExpressionKind::Mul, std::move(factors));
    }
    auto same = std::find_if(terms.begin(), terms.end(), [&](auto &term) { return term.first == rest; });
    if (same == terms.end())
      terms.emplace_back(rest, coefficient);
    else if (__builtin_add_overflow(same->second, coefficient, &same->second))
      return intern(ExpressionKind::Add, operands);
  }
  std::vector<SymInt> sum;
  for (auto &[rest, coefficient] : terms)
    if (coefficient != 0)
      sum.push_back(makeTerm(coefficient, rest));
  if (constant != 0 || sum.empty())
    sum.push_back(constant);
  if (sum.size() == 1)
    return sum[0];
  sortTerms(*this, sum);
  return intern(ExpressionKind::Add, std::move(sum));
}

SymInt ExpressionPool::makeMul(const std::vector<SymInt> &operands) {
  int64_t coefficient = 1;
  std::vector<std::pair<SymInt, int64_t>> powers;
  for (SymInt operand : flatten(*this, ExpressionKind::Mul, operands)) {
    if (operand.isConstant()) {
      if (__builtin_mul_overflow(coefficient, operand.constant(), &coefficient))
        return intern(ExpressionKind::Mul, operands);
      continue;
    }
    SymInt base = operand;
    int64_t exponent = 1;
    if (const Expression &stored = (*this)[operand];
        stored.kind == ExpressionKind::Pow && stored.operands[1].isConstant()) {
      base = stored.operands[0];
      exponent = stored.operands[1].constant();
    }
    auto same = std::find_if(powers.begin(), powers.end(), [&](auto &power) { return power.first == base; });
    if (same == powers.end())
      powers.emplace_back(base, exponent);
    else if (__builtin_add_overflow(same->second, exponent, &same->second))
      return intern(ExpressionKind::Mul, operands);
  }
  if (coefficient == 0 || powers.empty())
    return coefficient;
  std::vector<SymInt> factors;
  for (auto &[base, exponent] : powers)
    factors.push_back(exponent == 1 ? base : intern(ExpressionKind::Pow, {base, exponent}));
  // As sympy does, a constant is multiplied into a sum that is its only other factor.
  if (factors.size() == 1 && coefficient != 1 && (*this)[factors[0]].kind == ExpressionKind::Add) {
    std::vector<SymInt> terms = (*this)[factors[0]].operands;
    for (SymInt &term : terms)
      term = makeMul({coefficient, term});
    return makeAdd(terms);
  }
  sortOperands(*this, factors);
  return makeTerm(coefficient, factors.size() == 1 ? factors[0] : intern(ExpressionKind::Mul, factors));
}

/// The constant factor of a term: 6 of "6*s0".
static int64_t coefficientOf(const ExpressionPool &pool, SymInt term) {
  if (term.isConstant())
    return term.constant();
  return hasCoefficient(pool[term]) ? pool[term].operands[0].constant() : 1;
}

/// `term` with its constant factor divided by `divisor`, which divides it.
static SymInt divideTerm(ExpressionPool &pool, SymInt term, int64_t divisor) {
  if (term.isConstant())
    return term.constant() / divisor;
  std::vector<SymInt> factors = pool[term].operands;
  factors[0] = factors[0].constant() / divisor;
  return pool.make(ExpressionKind::Mul, std::move(factors));
}

SymInt ExpressionPool::makeFloorDiv(SymInt base, SymInt divisor) {
  if (base == SymInt(0))
    return 0;
  if (base == divisor)
    return 1;
  if (!divisor.isConstant() || divisor.constant() <= 0)
    return intern(ExpressionKind::FloorDiv, {base, divisor});
  int64_t by = divisor.constant();
  if (by == 1)
    return base;
  if (const Expression &stored = (*this)[base]; stored.kind == ExpressionKind::FloorDiv &&
                                                stored.operands[1].isConstant() &&
                                                stored.operands[1].constant() > 0)
    return make(ExpressionKind::FloorDiv,
                {stored.operands[0], makeMul({stored.operands[1], divisor})}); // a//b//c is a//(b*c)

  // (b*x + y)//b is x + y//b.
  std::vector<SymInt> whole, rest;
  for (SymInt term : flatten(*this, ExpressionKind::Add, {base})) {
    bool divides = coefficientOf(*this, term) % by == 0;
    (divides ? whole : rest).push_back(divides ? divideTerm(*this, term, by) : term);
  }
  if (!whole.empty()) {
    whole.push_back(make(ExpressionKind::FloorDiv, {makeAdd(rest), divisor}));
    return makeAdd(whole);
  }
  int64_t common = by;
  for (SymInt term : rest)
    common = std::gcd(common, coefficientOf(*this, term) % common);
  if (common == 1)
    return intern(ExpressionKind::FloorDiv, {base, divisor});
  for (SymInt &term : rest)
    term = divideTerm(*this, term, common);
  return make(ExpressionKind::FloorDiv, {makeAdd(rest), by / common});
}

SymInt ExpressionPool::makeExtreme(ExpressionKind kind, const std::vector<SymInt> &operands) {
  std::vector<SymInt> distinct;
  std::optional<int64_t> constant;
  for (SymInt operand : flatten(*this, kind, operands)) {
    if (operand.isConstant())
      constant = constant ? *applyOperator(kind, *constant, operand.constant()) : operand.constant();
    else if (std::find(distinct.begin(), distinct.end(), operand) == distinct.end())
      distinct.push_back(operand);
  }
  if (constant)
    distinct.push_back(*constant);
  if (distinct.size() == 1)
    return distinct[0];
  sortOperands(*this, distinct);
  return intern(kind, std::move(distinct));
}

SymInt ExpressionPool::makeBinary(ExpressionKind kind, SymInt left, SymInt right) {
  if (left.isConstant() && right.isConstant())
    if (Result<int64_t> folded = applyOperator(kind, left.constant(), right.constant()))
      return *folded;
  bool overOne = right == SymInt(1), ofItself = left == right && !left.isConstant();
  switch (kind) {
  case ExpressionKind::FloorDiv:
    return left.isConstant() && right.isConstant() ? intern(kind, {left, right}) : makeFloorDiv(left, right);
  case ExpressionKind::CeilDiv:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::IntTrueDiv:
    if (overOne || ofItself)
      return overOne ? left : SymInt(1);
    break;
  case ExpressionKind::Mod:
    if (overOne || ofItself || left == SymInt(0))
      return 0;
    if (right.isConstant() && right.constant() > 0 && coefficientOf(*this, left) % right.constant() == 0)
      return 0;
    break;
  case ExpressionKind::Pow:
    if (right == SymInt(0) || left == SymInt(1))
      return 1;
    if (overOne)
      return left;
    if (!left.isConstant() && right.isConstant() && right.constant() > 0 &&
        (*this)[left].kind == ExpressionKind::Mul) { // (2*s0)**2 is 4*s0**2
      std::vector<SymInt> factors = (*this)[left].operands;
      for (SymInt &factor : factors)
        factor = make(kind, {factor, right});
      return makeMul(factors);
    }
    if (!left.isConstant() && (*this)[left].kind == ExpressionKind::Pow)
      return make(kind, {(*this)[left].operands[0], makeMul({(*this)[left].operands[1], right})});
    break;
  case ExpressionKind::Symbol:
  case ExpressionKind::Add:
  case ExpressionKind::Mul:
  case ExpressionKind::Max:
  case ExpressionKind::Min:
  case ExpressionKind::Real:
  case ExpressionKind::Call:
    break;
  }
  return intern(kind, {left, right});
}

NumberKind ExpressionPool::kindOf(SymInt expression) const {
  if (expression.isConstant())
    return NumberKind::Int;
  const Expression &stored = (*this)[expression];
  switch (stored.kind) {
  case ExpressionKind::Symbol:
    return stored.symbol.starts_with("zuf") ? NumberKind::Float : NumberKind::Int;
  case ExpressionKind::Real:
  case ExpressionKind::IntTrueDiv:
    return NumberKind::Float;
  case ExpressionKind::Call:
    if (stored.symbol != whereFunction)
      return findFunction(stored.symbol)->gives;
    break;
  case ExpressionKind::Add:
  case ExpressionKind::Mul:
  case ExpressionKind::Pow:
  case ExpressionKind::FloorDiv:
  case ExpressionKind::CeilDiv:
  case ExpressionKind::TruncDiv:
  case ExpressionKind::Mod:
  case ExpressionKind::Max:
  case ExpressionKind::Min:
    break;
  }
  bool isFloat = std::ranges::any_of(stored.operands,
                                     [&](SymInt operand) { return kindOf(operand) == NumberKind::Float; });
  return isFloat ? NumberKind::Float : NumberKind::Int;
}

Result<Number> ExpressionPool::number(SymInt expression, const SymbolValues &symbols) const {
  if (expression.isConstant())
    return expression.constant();
  const Expression &stored = (*this)[expression];
  if (stored.kind == ExpressionKind::Symbol) {
    auto found = symbols.find(stored.symbol);
    if (found == symbols.end())
      return fail(ErrorCode::NotFound, "[{}] the symbol has no value", stored.symbol);
    return found->second;
  }
  if (stored.kind == ExpressionKind::Real)
    return realValue(stored);
  std::vector<Number> operands;
  for (SymInt operand : stored.operands) {
    TORCHERE_ASSIGN(Number value, number(operand, symbols));
    operands.push_back(value);
  }
  Result<Number> value = stored.kind == ExpressionKind::Call ? findFunction(stored.symbol)->apply(operands)
                                                             : Result<Number>(operands[0]);
  for (size_t i = 1; value && stored.kind != ExpressionKind::Call && i < operands.size(); ++i)
    value = applyOperator(stored.kind, *value, operands[i]);
  if (!value && !value.error().message.starts_with('['))
    return fail(value.error().code, "[{}] {}", print(expression), value.error().message);
  return value;
}

Result<int64_t> ExpressionPool::evaluate(SymInt expression, const SymbolValues &symbols) const {
  TORCHERE_ASSIGN(Number value, number(expression, symbols));
  if (Result<int64_t> integer = toInteger(value))
    return integer;
  return invalidArgument("[{}] the value is no integer: got {}", print(expression),
                         pythonText(std::get<double>(value)));
}

} // namespace torchere::program
