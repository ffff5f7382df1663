// The order of operands: sympy's sort keys, compared without building them.
#include "program/expression_order.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace torchere::program {

/// An expression without its constant factor and its exponent, as sympy's sort keys see it.
struct SortView {
  std::pair<int, std::string_view> rank; ///< sympy's class_key
  std::string_view symbol;
  std::span<const SymInt> operands;
  SymInt exponent = 1;
  int64_t coefficient = 1;
};

static std::pair<int, std::string_view> rankOf(ExpressionKind kind) {
  switch (kind) {
  case ExpressionKind::Symbol:
    return {2, "Symbol"};
  case ExpressionKind::Mul:
    return {30, "Mul"};
  case ExpressionKind::Add:
    return {31, "Add"};
  case ExpressionKind::Pow:
    return {32, "Pow"};
  case ExpressionKind::CeilDiv:
    return {40, "CeilToInt"};
  case ExpressionKind::FloorDiv:
    return {40, "FloorDiv"};
  case ExpressionKind::IntTrueDiv:
    return {40, "IntTrueDiv"};
  case ExpressionKind::Mod:
    return {40, "Mod"};
  case ExpressionKind::TruncDiv:
    return {40, "TruncToInt"};
  case ExpressionKind::Call:
    return {40, ""};
  case ExpressionKind::Real:
    return {1, "Number"};
  case ExpressionKind::Max:
    return {50, "Max"};
  case ExpressionKind::Min:
    return {50, "Min"};
  }
  return {60, ""};
}

static SortView viewOf(const ExpressionPool &pool, SymInt expression) {
  SortView view;
  if (expression.isConstant()) {
    view.rank = {1, "Number"};
    view.coefficient = expression.constant();
    return view;
  }
  const Expression *stored = &pool[expression];
  if (stored->kind == ExpressionKind::Mul && stored->operands[0].isConstant() &&
      !stored->operands[1].isConstant()) {
    view.coefficient = stored->operands[0].constant();
    if (stored->operands.size() > 2) {
      view.rank = rankOf(ExpressionKind::Mul);
      view.operands = std::span(stored->operands).subspan(1);
      return view;
    }
    stored = &pool[stored->operands[1]];
  }
  if (stored->kind == ExpressionKind::Pow && !stored->operands[0].isConstant()) {
    view.exponent = stored->operands[1];
    stored = &pool[stored->operands[0]];
  }
  view.rank = rankOf(stored->kind);
  view.symbol = stored->symbol;
  view.operands = stored->operands;
  return view;
}

static int sign(bool less, bool greater) {
  return less ? -1 : (greater ? 1 : 0);
}

int compareSortKeys(const ExpressionPool &pool, SymInt left, SymInt right) {
  if (left == right)
    return 0;
  SortView a = viewOf(pool, left), b = viewOf(pool, right);
  auto keyOf = [](const SortView &view) { return std::tuple(view.rank, view.operands.size(), view.symbol); };
  if (int order = sign(keyOf(a) < keyOf(b), keyOf(b) < keyOf(a)))
    return order;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (int order = compareSortKeys(pool, a.operands[i], b.operands[i]))
      return order;
  if (int order = compareSortKeys(pool, a.exponent, b.exponent))
    return order;
  return sign(a.coefficient < b.coefficient, b.coefficient < a.coefficient);
}

void sortOperands(const ExpressionPool &pool, std::vector<SymInt> &operands) {
  std::stable_sort(operands.begin(), operands.end(),
                   [&](SymInt a, SymInt b) { return compareSortKeys(pool, a, b) < 0; });
}

/// A term as a product of powers, (base, exponent) each, without the constant factor.
static std::vector<std::pair<SymInt, int64_t>> powersOf(const ExpressionPool &pool, SymInt term) {
  std::vector<std::pair<SymInt, int64_t>> powers;
  auto add = [&](SymInt factor) {
    if (factor.isConstant())
      return;
    const Expression &stored = pool[factor];
    if (stored.kind == ExpressionKind::Pow && stored.operands[1].isConstant())
      powers.emplace_back(stored.operands[0], stored.operands[1].constant());
    else
      powers.emplace_back(factor, 1);
  };
  if (!term.isConstant() && pool[term].kind == ExpressionKind::Mul)
    std::for_each(pool[term].operands.begin(), pool[term].operands.end(), add);
  else
    add(term);
  return powers;
}

void sortTerms(const ExpressionPool &pool, std::vector<SymInt> &terms) {
  std::vector<SymInt> bases;
  for (SymInt term : terms)
    for (auto &[base, exponent] : powersOf(pool, term))
      if (std::find(bases.begin(), bases.end(), base) == bases.end())
        bases.push_back(base);
  sortOperands(pool, bases);

  std::vector<std::pair<std::vector<int64_t>, SymInt>> keyed;
  for (SymInt term : terms) {
    std::vector<int64_t> exponents(bases.size(), 0);
    for (auto &[base, exponent] : powersOf(pool, term))
      exponents[std::find(bases.begin(), bases.end(), base) - bases.begin()] += exponent;
    keyed.emplace_back(std::move(exponents), term);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto &a, const auto &b) { return a.first > b.first; });
  for (size_t i = 0; i < terms.size(); ++i)
    terms[i] = keyed[i].second;
}

} // namespace torchere::program
