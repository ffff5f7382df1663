// ExpressionPool::parse: reads a sympy expression as torch prints it.
#include "program/expression.h"

#include "base/text_cursor.h"
#include "program/expression_functions.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace torchere::program {

/// Deeper nesting is rejected, to protect the stack.
static constexpr int maximumDepth = 200;
/// Longer texts are rejected: sorting the terms of a sum takes time and memory that grow quadratically.
static constexpr size_t maximumLength = 10000;

/// choice: both ('|' both)*; both: relation ('&' relation)*; relation: sum [('==' | '!=' | '<' ...) sum];
/// sum: product (('+' | '-') product)*; product: unary (('*' | '//') unary)*; unary: ('-' | '~') unary |
/// power; power: atom ['**' unary]; atom: number | symbol | function '(' choice (',' choice)* ')' | '('
/// choice ')'.
class ExpressionParser : TextCursor {
public:
  ExpressionParser(ExpressionPool &pool, std::string_view text)
      : TextCursor("expression", text, " \t\n\v\f\r"), pool(pool) {}

  Result<SymInt> parse() {
    TORCHERE_ASSIGN(SymInt value, parseChoice());
    if (!atEnd())
      return failAt("the end or an operator");
    return value;
  }

private:
  Result<SymInt> parseChoice() {
    TORCHERE_ASSIGN(SymInt value, parseBoth());
    while (take("|")) {
      TORCHERE_ASSIGN(SymInt next, parseBoth());
      value = pool.call("Or", {value, next});
    }
    return value;
  }

  Result<SymInt> parseBoth() {
    TORCHERE_ASSIGN(SymInt value, parseRelation());
    while (take("&")) {
      TORCHERE_ASSIGN(SymInt next, parseRelation());
      value = pool.call("And", {value, next});
    }
    return value;
  }

  Result<SymInt> parseRelation() {
    TORCHERE_ASSIGN(SymInt left, parseSum());
    for (std::string_view function : {"Eq", "Ne", "Le", "Ge", "Lt", "Gt"}) {
      if (!take(infixOf(function)))
        continue;
      TORCHERE_ASSIGN(SymInt right, parseSum());
      return pool.call(function, {left, right});
    }
    return left;
  }

  Result<SymInt> parseSum() {
    TORCHERE_ASSIGN(SymInt first, parseProduct());
    std::vector<SymInt> terms = {first};
    while (peek("+") || peek("-")) {
      bool negative = take("-") || !take("+");
      TORCHERE_ASSIGN(SymInt term, parseProduct());
      terms.push_back(negative ? pool.make(ExpressionKind::Mul, {-1, term}) : term);
    }
    return terms.size() == 1 ? first : pool.make(ExpressionKind::Add, std::move(terms));
  }

  Result<SymInt> parseProduct() {
    TORCHERE_ASSIGN(SymInt first, parseUnary());
    // All factors at once: "3*(s0 + 1)*s1" is not (3*s0 + 3)*s1.
    std::vector<SymInt> factors = {first};
    for (;;) {
      bool isQuotient = take("//");
      if (!isQuotient && !take("*"))
        return product(factors);
      TORCHERE_ASSIGN(SymInt next, parseUnary());
      if (isQuotient)
        factors = {pool.make(ExpressionKind::FloorDiv, {product(factors), next})};
      else
        factors.push_back(next);
    }
  }

  SymInt product(const std::vector<SymInt> &factors) {
    return factors.size() == 1 ? factors[0] : pool.make(ExpressionKind::Mul, factors);
  }

  Result<SymInt> parseUnary() {
    if (depth >= maximumDepth)
      return invalidArgument(
          "[expression \"{}...\"] nested too deeply at column {}: expected at most {} levels",
          text.substr(0, 40), position + 1, maximumDepth);
    ++depth;
    Result<SymInt> value = take("-") ? parseNegated() : take("~") ? parseNot() : parsePower();
    --depth;
    return value;
  }

  Result<SymInt> parseNot() {
    TORCHERE_ASSIGN(SymInt value, parseUnary());
    return pool.call("Not", {value});
  }

  Result<SymInt> parseNegated() {
    skipSpaces();
    if (std::isdigit(static_cast<unsigned char>(next())))
      if (!text.substr(digitsEnd()).starts_with("**"))
        return parseNumber(/*negative=*/true);
    TORCHERE_ASSIGN(SymInt value, parseUnary());
    return pool.make(ExpressionKind::Mul, {-1, value});
  }

  Result<SymInt> parsePower() {
    TORCHERE_ASSIGN(SymInt base, parseAtom());
    if (!take("**"))
      return base;
    TORCHERE_ASSIGN(SymInt exponent, parseUnary());
    if (exponent.isConstant() && exponent.constant() < 0)
      return invalidArgument("[expression \"{}\"] a negative exponent: got {}, expected an integer's power",
                             text, exponent.constant());
    return pool.make(ExpressionKind::Pow, {base, exponent});
  }

  size_t digitsEnd() const { return digitsEnd(position); }
  size_t digitsEnd(size_t from) const {
    return std::min(text.find_first_not_of("0123456789", from), text.size());
  }

  /// "0.5", "1e-05"; an int has neither a point nor an exponent.
  Result<SymInt> parseReal(bool negative, size_t end) {
    double value = 0;
    auto read = std::from_chars(text.data() + position, text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr < text.data() + end)
      return failAt("a float of 64 bits");
    position = static_cast<size_t>(read.ptr - text.data());
    return pool.real(negative ? -value : value);
  }

  Result<SymInt> parseNumber(bool negative) {
    size_t end = digitsEnd();
    if (end < text.size() && (text[end] == '.' || text[end] == 'e'))
      return parseReal(negative, end);
    std::string digits = (negative ? "-" : "") + std::string(text.substr(position, end - position));
    int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
      return failAt("an integer of 64 bits");
    position = end;
    return value;
  }

  Result<SymInt> parseAtom() {
    if (take("(")) {
      TORCHERE_ASSIGN(SymInt value, parseChoice());
      if (!take(")"))
        return failAt("')'");
      return value;
    }
    skipSpaces();
    unsigned char first = next();
    if (std::isdigit(first))
      return parseNumber(/*negative=*/false);
    if (!std::isalpha(first) && first != '_')
      return failAt("a number, a symbol or '('");
    size_t start = position;
    while (std::isalnum(static_cast<unsigned char>(next())) || next() == '_')
      ++position;
    std::string_view name = text.substr(start, position - start);
    if (name == "True" || name == "False")
      return name == "True" ? 1 : 0;
    if (!peek("("))
      return pool.symbol(name);
    return name == "Piecewise" ? parsePiecewise() : parseCall(name, start);
  }

  /// Piecewise((value, condition), ..., (value, True)).
  Result<SymInt> parsePiecewise() {
    take("(");
    std::vector<std::pair<SymInt, SymInt>> pieces;
    do {
      TORCHERE_TRY(expect("("));
      TORCHERE_ASSIGN(SymInt value, parseChoice());
      TORCHERE_TRY(expect(","));
      TORCHERE_ASSIGN(SymInt condition, parseChoice());
      TORCHERE_TRY(expect(")"));
      pieces.emplace_back(value, condition);
    } while (take(","));
    TORCHERE_TRY(expect(")"));
    if (pieces.back().second != SymInt(1))
      return failAt("a last piece whose condition is True");
    SymInt result = pieces.back().first;
    for (size_t i = pieces.size() - 1; i-- > 0;)
      result = pool.call(whereFunction, {pieces[i].second, pieces[i].first, result});
    return result;
  }

  Result<SymInt> parseCall(std::string_view name, size_t start) {
    take("(");
    std::vector<SymInt> operands;
    do {
      TORCHERE_ASSIGN(SymInt operand, parseChoice());
      operands.push_back(operand);
    } while (take(","));
    if (!take(")"))
      return failAt("',' or ')'");
    return makeCall(name, start, std::move(operands));
  }

  Result<SymInt> makeCall(std::string_view name, size_t start, std::vector<SymInt> operands) {
    auto isBinary = operands.size() == 2;
    if (isBinary && (name == "FloorDiv" || name == "CleanDiv"))
      return pool.make(ExpressionKind::FloorDiv, std::move(operands));
    if (isBinary && name == "CeilDiv")
      return pool.make(ExpressionKind::CeilDiv, std::move(operands));
    if (isBinary && name == "IntTrueDiv")
      return pool.make(ExpressionKind::IntTrueDiv, std::move(operands));
    if (isBinary && (name == "Mod" || name == "PythonMod"))
      return pool.make(ExpressionKind::Mod, std::move(operands));
    if (isBinary && name == "PowByNatural")
      return pool.make(ExpressionKind::Pow, std::move(operands));
    if (name == "Max" || name == "Min")
      return pool.make(name == "Max" ? ExpressionKind::Max : ExpressionKind::Min, std::move(operands));
    if (name == "ModularIndexing" && operands.size() == 3) {
      SymInt quotient = pool.make(ExpressionKind::FloorDiv, {operands[0], operands[1]});
      return pool.make(ExpressionKind::Mod, {quotient, operands[2]});
    }
    if (operands.size() == 1 && name == "Abs")
      return pool.make(ExpressionKind::Max, {operands[0], pool.make(ExpressionKind::Mul, {-1, operands[0]})});
    if (operands.size() == 1 && name == "CeilToInt")
      return rounded(name, ExpressionKind::CeilDiv, operands[0]);
    if (operands.size() == 1 && name == "FloorToInt")
      return rounded(name, ExpressionKind::FloorDiv, operands[0]);
    if (operands.size() == 1 && name == "TruncToInt")
      return rounded(name, ExpressionKind::TruncDiv, operands[0]);
    if (const ExpressionFunction *function = findFunction(name);
        function && function->operandCount == operands.size())
      return pool.call(name, std::move(operands));
    return fail(ErrorCode::Unimplemented,
                "[expression \"{}\"] unknown function at column {}: got {} of {} operands, expected one of "
                "torch's for sizes and numbers (FloorDiv, Mod, Max, ToFloat, ...)",
                text, start + 1, name, operands.size());
  }

  /// CeilToInt(IntTrueDiv(a, b)) is a quotient rounded up; an int stays what it is.
  SymInt rounded(std::string_view function, ExpressionKind quotient, SymInt operand) {
    if (pool.kindOf(operand) != NumberKind::Float)
      return operand;
    if (pool[operand].kind == ExpressionKind::IntTrueDiv)
      return pool.make(quotient, pool[operand].operands);
    return pool.call(function, {operand});
  }

  ExpressionPool &pool;
  int depth = 0; ///< of nested unary operators and parentheses
};

Result<SymInt> ExpressionPool::parse(std::string_view text) {
  if (text.size() > maximumLength)
    return invalidArgument("[expression \"{}...\"] too long: got {} characters, expected at most {}",
                           text.substr(0, 40), text.size(), maximumLength);
  return ExpressionParser(*this, text).parse();
}

} // namespace torchere::program
