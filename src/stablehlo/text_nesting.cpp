// Implements checkNesting: one pass over the tokens of MLIR's text.
//
// MLIR reads the text within the <> of a dialect's attribute or type twice: as bare characters, to
// find its end, and as tokens. The two differ only in text hidden by a comment, so comments are not skipped
// there.
#include "stablehlo/text_nesting.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace torchere::stablehlo {

namespace {

bool isNameCharacter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '$' || character == '.';
}

bool isSpace(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r' || character == '\0';
}

class TextNesting {
public:
  TextNesting(std::string_view text, std::string_view name) : text(text), name(name) {}

  Status check() {
    while (position < text.size())
      TORCHERE_TRY(readToken());
    return {};
  }

private:
  /// What an attribute or type is made of.
  struct Extent {
    int64_t depth = 0;
    int64_t size = 1;
  };
  struct Level {
    char open;
    bool isBody;           ///< between the <> of a dialect's attribute or type, or within such
    int64_t operators = 0; ///< since the last comma: each may be an operand of the next
  };
  struct Definition {
    std::string_view alias;
    size_t level;    ///< number of open brackets around it
    int64_t nesting; ///< around it
    Extent extent;
    bool isComplete = false; ///< unless a colon, an arrow or a bracket continues it
  };

  Status readToken() {
    char character = text[position];
    if (isSpace(character)) {
      ++position;
      return {};
    }
    if (character == '/' && peek(1) == '/')
      return skipComment();
    if (character == '"' || character == '#' || character == '!' || isSigil(character) ||
        isNameCharacter(character))
      return readWord(character);
    ++position;
    return readPunctuation(character);
  }

  char peek(size_t ahead) const { return position + ahead < text.size() ? text[position + ahead] : '\0'; }
  static bool isSigil(char character) { return character == '%' || character == '@' || character == '^'; }

  Status skipComment() {
    if (levels.back().isBody)
      return invalid("a comment between the <> of an attribute or type cannot be read");
    position = std::min(text.find_first_of("\r\n", position), text.size());
    return {};
  }

  void skipString() {
    for (++position; position < text.size() && text[position] != '"'; ++position)
      if (text[position] == '\\')
        ++position;
    ++position;
  }

  /// A name. One with a sigil may have dashes; the arrow after it is no part of it.
  std::string_view readName(bool hasDashes) {
    size_t start = position++;
    while (isNameCharacter(peek(0)) || (hasDashes && peek(0) == '-' && peek(1) != '>'))
      ++position;
    return text.substr(start, position - start);
  }

  Status readWord(char first) {
    if (definition && definition->isComplete && levels.size() == definition->level)
      finishDefinition();
    if (definition)
      definition->isComplete = true;
    if (first == '"') {
      skipString();
      return {};
    }
    if (first == '%')
      forgetOperators();
    if (first == '#' || first == '!')
      return readAlias();
    std::string_view word = readName(isSigil(first));
    bool isOperator = word == "mod" || word == "floordiv" || word == "ceildiv";
    return isOperator ? countOperator() : Status();
  }

  /// The name of an alias where it is defined or used, or of a dialect's attribute or type.
  Status readAlias() {
    std::string_view alias = readName(/*hasDashes=*/true);
    if (peek(0) == '<') {
      ++position;
      return open('<', /*isBody=*/true);
    }
    if (isDefined()) {
      finishDefinition();
      definition = Definition{alias, levels.size(), nesting, {}};
      return {};
    }
    auto found = aliases.find(alias);
    return found == aliases.end() ? Status() : deepen(found->second);
  }

  /// Whether an equals sign comes next, which it does after no other name with a # or !.
  bool isDefined() const {
    size_t next = position;
    while (next < text.size()) {
      if (isSpace(text[next]))
        ++next;
      else if (text.substr(next).starts_with("//"))
        next = std::min(text.find_first_of("\r\n", next), text.size());
      else
        break;
    }
    return next < text.size() && text[next] == '=';
  }

  void finishDefinition() {
    if (definition)
      aliases[definition->alias] = definition->extent;
    definition.reset();
  }

  Status readPunctuation(char character) {
    switch (character) {
    case '(':
    case '[':
    case '{':
    case '<':
      return open(character, levels.back().isBody);
    case ')':
      return close('(');
    case ']':
      return close('[');
    case '}':
      return close('{');
    case '>':
      // Of a comparison, unless a < is the innermost bracket.
      return levels.back().open == '<' ? close('<') : Status();
    case ',':
    case '=':
      forgetOperators();
      break;
    case '-':
      if (peek(0) != '>')
        return countOperator();
      ++position;
      break;
    case '+':
    case '*':
      return countOperator();
    default:
      break;
    }
    if (definition)
      definition->isComplete = false;
    return {};
  }

  Status open(char bracket, bool isBody) {
    levels.push_back({bracket, isBody});
    ++nesting;
    return deepen({});
  }

  /// Closes what is open within the bracket as well: the < of comparisons. A bracket too many is for MLIR to
  /// refuse.
  Status close(char bracket) {
    while (levels.size() > 1) {
      char closed = levels.back().open;
      nesting -= 1 + levels.back().operators;
      levels.pop_back();
      if (closed == bracket)
        break;
    }
    if (definition)
      definition->isComplete = true;
    return {};
  }

  Status countOperator() {
    ++levels.back().operators;
    ++nesting;
    if (definition)
      definition->isComplete = false;
    return deepen({});
  }

  void forgetOperators() {
    nesting -= levels.back().operators;
    levels.back().operators = 0;
  }

  /// Counts a part at the current position.
  Status deepen(Extent part) {
    int64_t depth = nesting + part.depth;
    if (depth > deepestText)
      return invalid(fmt::format("nested more than {} deep", deepestText));
    if (!definition)
      return {};
    Extent &whole = definition->extent;
    whole.depth = std::max(whole.depth, depth - definition->nesting);
    whole.size += part.size;
    if (whole.size > largestAlias)
      return invalid(fmt::format("alias {} stands for more than {} parts", definition->alias, largestAlias));
    return {};
  }

  tl::unexpected<Error> invalid(std::string_view what) const {
    std::string_view before = text.substr(0, position);
    size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    size_t column = before.size() - (before.rfind('\n') + 1);
    return invalidArgument("[{}] not a valid StableHLO module: {}:{}:{}: {}", name, name, line, column, what);
  }

  std::string_view text, name;
  size_t position = 0;
  std::vector<Level> levels = {{'\0', false}};
  int64_t nesting = 0; ///< of open brackets and of operators
  std::unordered_map<std::string_view, Extent> aliases;
  std::optional<Definition> definition; ///< that is being read
};

} // namespace

Status checkNesting(std::string_view text, std::string_view name) {
  return TextNesting(text, name).check();
}

} // namespace torchere::stablehlo
