// SizeSolver: symbols from sizes, expressions checked, ranges checked.
#include "session/size_solver.h"

#include <fmt/ranges.h>

#include <limits>

namespace torchere::session {

using program::ExpressionKind;
using program::SymInt;

SizeSolver::SizeSolver(const CallSignature &signature, const Sizes &sizes)
    : signature(signature), pool(signature.entryPoint.expressions), sizes(sizes) {}

Status SizeSolver::solve() {
  TORCHERE_TRY(bindSymbols());
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      TORCHERE_ASSIGN(bool solved, solveFor(signature.dimensions[i], sizes[i]));
      progress |= solved;
    }
  }
  return checkExpressions();
}

Status SizeSolver::bindSymbols() {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dimension &dimension = signature.dimensions[i];
    if (pool[dimension.size].kind != ExpressionKind::Symbol)
      continue;
    const std::string &symbol = pool[dimension.size].symbol;
    auto [entry, isNew] = symbols.emplace(symbol, sizes[i]);
    if (isNew)
      places[symbol] = dimension.place();
    else if (entry->second != sizes[i])
      return invalidArgument("[{}] wrong {}{}: got {}, expected {}, as in {}", dimension.input->name,
                             dimension.what(), dimension.expressionText(pool), sizes[i], entry->second,
                             places[symbol]);
  }
  return {};
}

void SizeSolver::collectUnknown(SymInt expression, std::set<std::string> &unknown) const {
  if (expression.isConstant())
    return;
  const program::Expression &node = pool[expression];
  if (node.kind == ExpressionKind::Symbol && !symbols.contains(node.symbol))
    unknown.insert(node.symbol);
  for (SymInt operand : node.operands)
    collectUnknown(operand, unknown);
}

std::optional<int64_t> SizeSolver::evaluate(SymInt expression) const {
  auto value = pool.evaluate(expression, symbols);
  return value ? std::optional<int64_t>(*value) : std::nullopt;
}

std::optional<int64_t> SizeSolver::evaluateAt(SymInt expression, const std::string &symbol,
                                              int64_t value) const {
  auto extended = symbols;
  extended[symbol] = value;
  auto result = pool.evaluate(expression, extended);
  return result ? std::optional<int64_t>(*result) : std::nullopt;
}

/// A third point, which shows whether the expression is linear.
static constexpr int64_t probe = 1001;

Result<bool> SizeSolver::solveFor(const Dimension &dimension, int64_t size) {
  std::set<std::string> unknown;
  collectUnknown(dimension.size, unknown);
  if (unknown.size() != 1)
    return false;
  const std::string &symbol = *unknown.begin();
  auto atZero = evaluateAt(dimension.size, symbol, 0), atOne = evaluateAt(dimension.size, symbol, 1),
       atBig = evaluateAt(dimension.size, symbol, probe);
  if (!atZero || !atOne || !atBig)
    return false;
  int64_t slope = 0, rise = 0, big = 0, distance = 0;
  bool overflow = __builtin_sub_overflow(*atOne, *atZero, &slope);
  overflow |= __builtin_mul_overflow(slope, probe, &rise) || __builtin_add_overflow(*atZero, rise, &big);
  overflow |= __builtin_sub_overflow(size, *atZero, &distance);
  if (overflow || slope == 0 || *atBig != big)
    return false; // not linear in the symbol: Max, a division, ...
  int64_t value = distance / slope;
  if (evaluateAt(dimension.size, symbol, value) != size)
    return invalidArgument("[{}] wrong {}: got {}, expected a value of {} for an integer {}",
                           dimension.input->name, dimension.what(), size, print(dimension.size), symbol);
  symbols[symbol] = value;
  places[symbol] = dimension.place();
  return true;
}

std::string SizeSolver::valuesOf(SymInt expression, bool withPlaces) const {
  std::set<std::string> names;
  SizeSolver blank(signature, sizes); // which knows no symbols
  blank.collectUnknown(expression, names);
  std::vector<std::string> texts;
  for (const std::string &name : names) {
    std::string place = withPlaces ? fmt::format(" ({})", places.find(name)->second) : "";
    texts.push_back(fmt::format("{} = {}{}", name, symbols.find(name)->second, place));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Status SizeSolver::checkValue(const Dimension &dimension, int64_t size) const {
  auto value = evaluate(dimension.size);
  if (!value || *value == size)
    return {};
  return invalidArgument("[{}] wrong {} ({}): got {}, expected {} for {}", dimension.input->name,
                         dimension.what(), print(dimension.size), size, *value, valuesOf(dimension.size));
}

Status SizeSolver::checkExpressions() {
  for (size_t i = 0; i < sizes.size(); ++i)
    TORCHERE_TRY(checkValue(signature.dimensions[i], sizes[i]));
  return {};
}

std::string rangeText(const program::Range &range) {
  if (range.min == range.max)
    return std::to_string(range.min);
  if (range.max == std::numeric_limits<int64_t>::max())
    return fmt::format("at least {}", range.min);
  if (range.min == std::numeric_limits<int64_t>::min())
    return fmt::format("at most {}", range.max);
  return fmt::format("{} to {}", range.min, range.max);
}

std::string SizeSolver::originOf(SymInt expression) const {
  if (expression.isConstant())
    return "";
  if (pool[expression].kind == ExpressionKind::Symbol)
    return ", from " + places.find(pool[expression].symbol)->second;
  return ", for " + valuesOf(expression, /*withPlaces=*/true);
}

/// torch's name for a size that the user did not name: "s77".
static bool isTorchsName(const std::string &symbol) {
  return symbol.starts_with('s') && symbol.size() > 1 &&
         symbol.find_first_not_of("0123456789", 1) == std::string::npos;
}

Error SizeSolver::violation(SymInt relation) const {
  std::set<std::string> names;
  SizeSolver blank(signature, sizes); // which knows no symbols
  blank.collectUnknown(relation, names);
  std::map<std::string, std::string> sources;
  std::vector<std::string> ordered; // as the arguments are
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dimension &dimension = signature.dimensions[i];
    const program::Expression &expression = pool[dimension.size];
    if (expression.kind != ExpressionKind::Symbol)
      continue;
    if (isTorchsName(expression.symbol))
      sources.try_emplace(expression.symbol, dimension.source());
    if (names.erase(expression.symbol) > 0)
      ordered.push_back(expression.symbol);
  }
  ordered.insert(ordered.end(), names.begin(), names.end());
  std::vector<std::string> values;
  for (const std::string &name : ordered) {
    auto source = sources.find(name);
    int64_t value = symbols.find(name)->second;
    std::string place = places.find(name)->second;
    if (source != sources.end())
      values.push_back(fmt::format("{} = {}", source->second, value));
    else
      values.push_back(fmt::format("{} = {}{}", name, value, place == name ? "" : " (" + place + ")"));
  }
  return {ErrorCode::InvalidArgument,
          fmt::format("[{}] the capture assumed another relation of sizes: got {}, expected {}",
                      signature.entryPoint.name, fmt::join(values, ", "),
                      pool.renamed(sources).print(relation)),
          {}};
}

Status SizeSolver::checkRanges() const {
  for (const program::RangeConstraint &constraint : signature.entryPoint.rangeConstraints) {
    auto value = evaluate(constraint.expression);
    if (!value || (*value >= constraint.range.min && *value <= constraint.range.max))
      continue;
    if (pool.kindOf(constraint.expression) == program::NumberKind::Bool)
      return tl::unexpected(violation(constraint.expression));
    std::string expected = rangeText(constraint.range);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Dimension &dimension = signature.dimensions[i];
      if (dimension.size == constraint.expression)
        return invalidArgument("[{}] {}{} out of range: got {}, expected {}", dimension.input->name,
                               dimension.what(), dimension.expressionText(pool), *value, expected);
    }
    return invalidArgument("[{}] {} out of range: got {}, expected {}{}", signature.entryPoint.name,
                           print(constraint.expression), *value, expected, originOf(constraint.expression));
  }
  return {};
}

} // namespace torchere::session
