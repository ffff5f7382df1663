// Schema: the reader of ATen's schema language.
#include "lowering/schema.h"

#include <array>
#include <charconv>
#include <cstdlib>

namespace torchere::lowering {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// Splits at commas that are outside of brackets and quotes.
std::vector<std::string_view> splitArguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"')
      quoted = !quoted;
    if (quoted)
      continue;
    if (c == '[' || c == '(')
      ++depth;
    if (c == ']' || c == ')')
      --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (std::string_view last = trim(text.substr(start)); !last.empty())
    parts.push_back(last);
  return parts;
}

std::optional<TypeKind> kindOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, TypeKind>, 13> kinds = {{
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
  }};
  for (const auto &[text, kind] : kinds)
    if (text == name)
      return kind;
  return std::nullopt;
}

/// "Tensor(a!)", "int[2]?", "Tensor?[]", "ScalarType?".
Result<SchemaType> parseType(std::string_view text, std::string_view schema) {
  SchemaType type;
  std::string_view rest = text;
  size_t end = rest.find_first_of("([?");
  std::string_view base = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
  auto kind = kindOf(base);
  if (!kind)
    return invalidArgument("[{}] unknown type in schema: got '{}'", schema, text);
  type.kind = *kind;
  if (!rest.empty() && rest.front() == '(') { // alias annotation
    size_t close = rest.find(')');
    if (close == std::string_view::npos)
      return invalidArgument("[{}] unclosed alias annotation: got '{}'", schema, text);
    rest.remove_prefix(close + 1);
  }
  bool optionalBeforeList = !rest.empty() && rest.front() == '?';
  if (optionalBeforeList)
    rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == '[') {
    type.isList = true;
    type.hasOptionalElements = optionalBeforeList;
    size_t close = rest.find(']');
    if (close == std::string_view::npos)
      return invalidArgument("[{}] unclosed list type: got '{}'", schema, text);
    rest.remove_prefix(close + 1);
    type.isOptional = rest == "?";
  } else {
    type.isOptional = optionalBeforeList;
  }
  return type;
}

Argument parseDefault(std::string_view text) {
  if (text == "None")
    return {};
  if (text == "True" || text == "False")
    return {text == "True"};
  if (text == "[]")
    return {Argument::List{}};
  if (text.front() == '[') {
    Argument::List list;
    for (std::string_view element : splitArguments(text.substr(1, text.size() - 2)))
      list.push_back(parseDefault(element));
    return {std::move(list)};
  }
  if (text.front() == '"' || text.front() == '\'')
    return {std::string(text.substr(1, text.size() - 2))};
  int64_t integer = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error == std::errc() && end == text.data() + text.size())
    return {integer};
  std::string number(text);
  char *stop = nullptr;
  double value = std::strtod(number.c_str(), &stop);
  if (stop == number.c_str() + number.size())
    return {value};
  if (text == "Mean") // at::Reduction::Mean
    return {int64_t{1}};
  return {Opaque{number}}; // contiguous_format and its like
}

Result<SchemaArgument> parseArgument(std::string_view text, std::string_view schema) {
  size_t equals = text.find('=');
  std::string_view declaration = trim(text.substr(0, equals));
  size_t space = declaration.rfind(' '); // the type may hold spaces: Tensor(a -> *) self
  if (space == std::string_view::npos)
    return invalidArgument("[{}] argument without a name: got '{}'", schema, text);
  SchemaArgument argument;
  TORCHERE_ASSIGN(argument.type, parseType(trim(declaration.substr(0, space)), schema));
  argument.name = std::string(declaration.substr(space + 1));
  if (equals != std::string_view::npos)
    argument.defaultValue = parseDefault(trim(text.substr(equals + 1)));
  return argument;
}

} // namespace

Result<Schema> Schema::parse(std::string_view text) {
  Schema schema;
  schema.text = std::string(text);
  size_t open = text.find('(');
  size_t arrow = text.rfind(") -> ");
  size_t colons = text.find("::");
  if (open == std::string_view::npos || arrow == std::string_view::npos || colons > open)
    return invalidArgument("[{}] malformed schema: expected 'namespace::name.overload(arguments) -> results'",
                           text);
  std::string_view qualified = text.substr(0, open);
  std::string_view op = qualified.substr(colons + 2);
  schema.name = std::string(qualified.substr(0, colons)) + "." + std::string(op);
  if (op.find('.') == std::string_view::npos)
    schema.name += ".default";
  for (std::string_view part : splitArguments(text.substr(open + 1, arrow - open - 1))) {
    if (part == "*")
      continue;
    TORCHERE_ASSIGN(SchemaArgument argument, parseArgument(part, schema.name));
    schema.arguments.push_back(std::move(argument));
  }
  return schema;
}

} // namespace torchere::lowering
