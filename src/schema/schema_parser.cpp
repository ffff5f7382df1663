// Schema::parse: the parser for ATen's schema language.
#include "schema/schema.h"

#include "base/text_cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace torchere::schema {

/// Deeper nesting is rejected, to protect the stack.
static constexpr int maximumDepth = 32;
static constexpr size_t maximumLength = 1 << 14;

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// The kind of a type without element types. A lower-case name that is not one of torch's types is a
/// variable.
static std::optional<TypeKind> kindOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, TypeKind>, 26> kinds = {{
      {"Tensor", TypeKind::Tensor},
      {"int", TypeKind::Int},
      {"SymInt", TypeKind::SymInt},
      {"float", TypeKind::Float},
      {"bool", TypeKind::Bool},
      {"Scalar", TypeKind::Scalar},
      {"str", TypeKind::String},
      {"ScalarType", TypeKind::ScalarType},
      {"Device", TypeKind::Opaque},
      {"Layout", TypeKind::Opaque},
      {"MemoryFormat", TypeKind::Opaque},
      {"Generator", TypeKind::Opaque},
      {"Dimname", TypeKind::Opaque},
      {"Graph", TypeKind::Graph},
      {"Any", TypeKind::Any},
      {"SymBool", TypeKind::Other},
      {"SymFloat", TypeKind::Other},
      {"NoneType", TypeKind::Other},
      {"Storage", TypeKind::Other},
      {"Stream", TypeKind::Other},
      {"QScheme", TypeKind::Other},
      {"Quantizer", TypeKind::Other},
      {"PyObject", TypeKind::Other},
      {"Capsule", TypeKind::Other},
      {"AnyClassType", TypeKind::Other},
      {"AnyEnumType", TypeKind::Other},
  }};
  for (const auto &[text, kind] : kinds)
    if (text == name)
      return kind;
  if (name.starts_with("__torch__.") || (name.front() >= 'a' && name.front() <= 'z'))
    return TypeKind::Other;
  return std::nullopt;
}

/// Whether the ops of a namespace have overloads: higher-order ops, Python's operators and functions of sizes
/// do not.
static bool hasOverloads(std::string_view space) {
  return space != "higher_order" && space != "_operator" && space != "torch";
}

static bool isGeneric(std::string_view name) {
  return name == "Dict" || name == "Future" || name == "Await" || name == "RRef" || name == "Union";
}

namespace {

/// schema: name '(' arguments ')' '->' results; results: result | '(' [result (',' result)*] ')' | '...';
/// argument: type name ['=' default]; result: type [name];
/// type: (word | generic '(' type (',' type)* ')' | '(' types ')') [alias] ('[' [size] ']' [alias] | '?')*;
/// alias: '(' sets ['!'] ['->' sets] ')'; sets: set ('|' set)*.
class Parser : TextCursor {
public:
  explicit Parser(std::string_view text) : TextCursor("schema", text, " ") {}

  Result<Schema> parse() {
    Schema schema;
    schema.source = std::string(text);
    TORCHERE_TRY(parseName(schema));
    TORCHERE_TRY(parseArguments(schema));
    TORCHERE_TRY(expect("->"));
    TORCHERE_TRY(parseResults(schema));
    if (!atEnd())
      return failAt("the end");
    return schema;
  }

private:
  /// Letters, digits and underscores, and inner dots where `dots` says so; empty when there are none.
  std::string_view takeWord(bool dots = false) {
    skipSpaces();
    size_t end = position;
    auto goesOn = [&](size_t at) {
      return at < text.size() && (isLetter(text[at]) || (at > position && isDigit(text[at])));
    };
    while (goesOn(end) ||
           (dots && end > position && end < text.size() && text[end] == '.' && goesOn(end + 1)))
      ++end;
    std::string_view word = text.substr(position, end - position);
    position = end;
    return word;
  }

  Result<std::string_view> word(std::string_view expected, bool dots = false) {
    std::string_view found = takeWord(dots);
    if (found.empty())
      return failAt(expected);
    return found;
  }

  Status parseName(Schema &schema) {
    TORCHERE_ASSIGN(std::string_view space, word("a namespace"));
    TORCHERE_TRY(expect("::"));
    TORCHERE_ASSIGN(std::string_view op, word("an op's name"));
    schema.name = fmt::format("{}.{}", space, op);
    if (take(".")) {
      TORCHERE_ASSIGN(std::string_view overload, word("an overload's name"));
      schema.overload = std::string(overload);
    }
    if (!schema.overload.empty() || hasOverloads(space))
      schema.name += "." + (schema.overload.empty() ? "default" : schema.overload);
    return {};
  }

  Status parseArguments(Schema &schema) {
    TORCHERE_TRY(expect("("));
    bool inKeywords = false;
    if (take(")"))
      return {};
    do {
      if (take("...")) {
        schema.takesMore = true;
        break;
      }
      if (!inKeywords && take("*")) {
        inKeywords = true;
        continue;
      }
      TORCHERE_ASSIGN(Argument argument, parseArgument());
      argument.isKeywordOnly = inKeywords;
      schema.arguments.push_back(std::move(argument));
    } while (take(","));
    return expect(")");
  }

  Result<Argument> parseArgument() {
    Argument argument;
    TORCHERE_ASSIGN(argument.type, parseType());
    TORCHERE_ASSIGN(std::string_view name, word("an argument's name"));
    argument.name = std::string(name);
    if (take("=")) {
      TORCHERE_ASSIGN(argument.defaultValue, parseDefault());
    }
    return argument;
  }

  Status parseResults(Schema &schema) {
    bool inParentheses = take("(");
    if (inParentheses && take(")"))
      return {};
    do {
      if (take("...")) {
        schema.givesMore = true;
        break;
      }
      Argument result;
      TORCHERE_ASSIGN(result.type, parseType());
      result.name = std::string(takeWord());
      schema.results.push_back(std::move(result));
    } while (inParentheses && take(","));
    return inParentheses ? expect(")") : Status();
  }

  Result<Type> parseType() {
    if (depth == maximumDepth)
      return tooDeep();
    ++depth;
    Result<Type> type = parseSuffixes();
    --depth;
    return type;
  }

  tl::unexpected<Error> tooDeep() {
    return failAt(position, "nesting that goes on", fmt::format("at most {} levels", maximumDepth));
  }

  Result<Type> parseSuffixes() {
    TORCHERE_ASSIGN(Type type, parseBase());
    TORCHERE_ASSIGN(type.alias, parseAlias());
    int levels = depth;
    for (;;) {
      bool isList = take("[");
      if (!isList && !take("?"))
        return type;
      if (levels++ == maximumDepth)
        return tooDeep();
      Type outer;
      outer.kind = isList ? TypeKind::List : TypeKind::Optional;
      outer.elements.push_back(std::move(type));
      if (isList && !take("]")) {
        TORCHERE_ASSIGN(outer.size, parseSize());
        TORCHERE_TRY(expect("]"));
      }
      if (isList) {
        TORCHERE_ASSIGN(outer.alias, parseAlias());
      }
      type = std::move(outer);
    }
  }

  Result<Type> parseBase() {
    Type type;
    skipSpaces();
    size_t place = position;
    if (take("(")) {
      type.kind = TypeKind::Tuple;
      TORCHERE_ASSIGN(type.elements, parseElements());
      return type;
    }
    TORCHERE_ASSIGN(std::string_view name, word("a type", /*dots=*/true));
    type.name = std::string(name);
    if (isGeneric(name)) {
      type.kind = TypeKind::Generic;
      TORCHERE_TRY(expect("("));
      TORCHERE_ASSIGN(type.elements, parseElements());
      return type;
    }
    std::optional<TypeKind> kind = kindOf(name);
    if (!kind)
      return failAt(place, fmt::format("'{}'", name), "a type");
    type.kind = *kind;
    return type;
  }

  /// Parses what follows the opening parenthesis.
  Result<std::vector<Type>> parseElements() {
    std::vector<Type> elements;
    do {
      TORCHERE_ASSIGN(Type element, parseType());
      elements.push_back(std::move(element));
    } while (take(","));
    TORCHERE_TRY(expect(")"));
    return elements;
  }

  Result<int64_t> parseSize() {
    skipSpaces();
    int64_t size = 0;
    auto [end, error] = std::from_chars(text.data() + position, text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      return failAt("a list's size");
    position = static_cast<size_t>(end - text.data());
    return size;
  }

  /// A parenthesis that opens right after a type.
  Result<std::optional<AliasSet>> parseAlias() {
    if (next() != '(')
      return std::nullopt;
    ++position;
    AliasSet alias;
    TORCHERE_ASSIGN(alias.before, parseSets());
    alias.isWrite = take("!");
    alias.after = alias.before;
    if (take("->")) {
      TORCHERE_ASSIGN(alias.after, parseSets());
    }
    TORCHERE_TRY(expect(")"));
    return alias;
  }

  Result<std::vector<std::string>> parseSets() {
    std::vector<std::string> sets;
    do {
      if (take("*")) {
        sets.push_back("*");
        continue;
      }
      TORCHERE_ASSIGN(std::string_view name, word("an alias set"));
      sets.push_back(std::string(name));
    } while (take("|"));
    return sets;
  }

  Result<DefaultValue> parseDefault() {
    skipSpaces();
    if (next() == '"' || next() == '\'')
      return parseString();
    if (take("["))
      return parseList();
    if (isLetter(next()))
      return parseNamed();
    return parseNumber();
  }

  Result<DefaultValue> parseList() {
    if (depth == maximumDepth)
      return tooDeep();
    DefaultValue::List list;
    if (take("]"))
      return DefaultValue{std::move(list)};
    ++depth;
    do {
      TORCHERE_ASSIGN(DefaultValue element, parseDefault());
      list.push_back(std::move(element));
    } while (take(","));
    --depth;
    TORCHERE_TRY(expect("]"));
    return DefaultValue{std::move(list)};
  }

  DefaultValue parseNamed() {
    std::string_view name = takeWord();
    if (name == "None")
      return {};
    if (name == "True" || name == "False")
      return {name == "True"};
    if (name == "inf")
      return {HUGE_VAL};
    if (name == "nan")
      return {std::nan("")};
    return {NamedValue{std::string(name)}};
  }

  /// An integer if the whole text is one that fits in 64 bits, otherwise a float.
  Result<DefaultValue> parseNumber() {
    const char *begin = text.data() + position, *end = text.data() + text.size();
    int64_t integer = 0;
    double number = 0;
    auto [integerEnd, integerError] = std::from_chars(begin, end, integer);
    auto [numberEnd, numberError] = std::from_chars(begin, end, number);
    if (numberError != std::errc())
      return failAt("a default value");
    position = static_cast<size_t>(numberEnd - text.data());
    if (integerError == std::errc() && integerEnd == numberEnd)
      return DefaultValue{integer};
    return DefaultValue{number};
  }

  Result<DefaultValue> parseString() {
    char quote = text[position++];
    std::string value;
    while (position < text.size() && text[position] != quote) {
      if (text[position] != '\\') {
        value += text[position++];
        continue;
      }
      TORCHERE_ASSIGN(char escaped, parseEscape());
      value += escaped;
    }
    TORCHERE_TRY(expect(std::string_view(&quote, 1)));
    return DefaultValue{std::move(value)};
  }

  Result<char> parseEscape() {
    constexpr std::string_view letters = "\\'\"abfnrtv";
    constexpr std::string_view meanings = "\\'\"\a\b\f\n\r\t\v";
    std::string_view rest = text.substr(++position, 3);
    if (size_t found = rest.empty() ? rest.npos : letters.find(rest.front()); found != letters.npos) {
      ++position;
      return meanings[found];
    }
    unsigned code = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), code, 8);
    if (rest.size() != 3 || error != std::errc() || end != rest.data() + 3 || code > 255)
      return failAt("a character that can be escaped");
    position += 3;
    return static_cast<char>(code);
  }

  int depth = 0;
};

} // namespace

Result<Schema> Schema::parse(std::string_view text) {
  if (text.size() > maximumLength)
    return invalidArgument("[schema \"{}...\"] too long: got {} characters, expected at most {}",
                           text.substr(0, 40), text.size(), maximumLength);
  return Parser(text).parse();
}

} // namespace torchere::schema
