// Schemas as text, exactly as torch prints a FunctionSchema.
#include "schema/schema.h"

#include <algorithm>
#include <cmath>

namespace torchere::schema {

const Type &Type::leaf() const {
  const Type *type = this;
  while (type->kind == TypeKind::Optional || type->kind == TypeKind::List)
    type = &type->elements.front();
  return *type;
}

bool Type::isWritten() const {
  if (alias && alias->isWrite)
    return true;
  for (const Type &element : elements)
    if (element.isWritten())
      return true;
  return false;
}

static std::string joined(const std::vector<Type> &types) {
  std::string text;
  for (const Type &type : types)
    text += (text.empty() ? "" : ", ") + type.text();
  return text;
}

static std::string aliasText(const AliasSet &alias) {
  std::string text = fmt::format("({}{}", fmt::join(alias.before, "|"), alias.isWrite ? "!" : "");
  if (alias.after != alias.before)
    text += fmt::format(" -> {}", fmt::join(alias.after, "|"));
  return text + ")";
}

static std::string bareText(const Type &type) {
  switch (type.kind) {
  case TypeKind::Optional:
    return type.elements.front().text() + "?";
  case TypeKind::List:
    return fmt::format("{}[{}]", type.elements.front().text(), type.size ? std::to_string(*type.size) : "");
  case TypeKind::Tuple:
    return fmt::format("({})", joined(type.elements));
  case TypeKind::Generic:
    return fmt::format("{}({})", type.name, joined(type.elements));
  case TypeKind::Tensor:
  case TypeKind::Int:
  case TypeKind::SymInt:
  case TypeKind::Float:
  case TypeKind::Bool:
  case TypeKind::Scalar:
  case TypeKind::String:
  case TypeKind::ScalarType:
  case TypeKind::Opaque:
  case TypeKind::Graph:
  case TypeKind::Any:
  case TypeKind::Other:
    break;
  }
  return type.name;
}

std::string Type::text() const {
  return bareText(*this) + (alias ? aliasText(*alias) : "");
}

static std::string floatText(double value) {
  if (std::abs(value) < 1e10 && std::trunc(value) == value)
    return fmt::format("{}{}.", std::signbit(value) ? "-" : "", static_cast<int64_t>(std::abs(value)));
  return fmt::format("{:.17g}", value);
}

static std::string quoted(std::string_view text) {
  constexpr std::string_view special = "\\'\"\a\b\f\n\r\t\v";
  constexpr std::string_view letters = "\\'\"abfnrtv";
  std::string result = "\"";
  for (char c : text) {
    size_t found = special.find(c);
    if (found != std::string_view::npos)
      result += fmt::format("\\{}", letters[found]);
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return result + "\"";
}

std::string DefaultValue::text() const {
  struct Print {
    std::string operator()(std::monostate) { return "None"; }
    std::string operator()(int64_t number) { return std::to_string(number); }
    std::string operator()(double number) { return floatText(number); }
    std::string operator()(bool flag) { return flag ? "True" : "False"; }
    std::string operator()(const std::string &text) { return quoted(text); }
    std::string operator()(const NamedValue &value) { return value.name; }
    std::string operator()(const List &list) {
      std::string text;
      for (const DefaultValue &element : list)
        text += (text.empty() ? "" : ", ") + element.text();
      return "[" + text + "]";
    }
  };
  return std::visit(Print{}, value);
}

static std::string argumentText(const Argument &argument) {
  std::string text = argument.type.text();
  if (!argument.name.empty())
    text += " " + argument.name;
  if (argument.defaultValue)
    text += "=" + argument.defaultValue->text();
  return text;
}

static std::string resultsText(const Schema &schema) {
  std::string text;
  for (const Argument &result : schema.results)
    text += (text.empty() ? "" : ", ") + argumentText(result);
  if (schema.givesMore)
    text += text.empty() ? "..." : ", ...";
  // A tuple that is the only result would read as several results.
  bool isBare = schema.results.size() + schema.givesMore == 1 && text.front() != '(';
  return isBare ? text : "(" + text + ")";
}

std::string Schema::text() const {
  size_t dot = name.find('.');
  std::string op = name.substr(dot + 1);
  if (overload.empty())
    op.resize(std::min(op.size(), op.find('.'))); // without ".default"
  std::string inside;
  bool inKeywords = false;
  auto add = [&](std::string_view text) { inside += (inside.empty() ? "" : ", ") + std::string(text); };
  for (const Argument &argument : arguments) {
    if (argument.isKeywordOnly && !inKeywords)
      add("*");
    inKeywords |= argument.isKeywordOnly;
    add(argumentText(argument));
  }
  if (takesMore)
    add("...");
  return fmt::format("{}::{}({}) -> {}", name.substr(0, dot), op, inside, resultsText(*this));
}

size_t Schema::position(std::string_view argument) const {
  size_t index = 0;
  while (index < arguments.size() && arguments[index].name != argument)
    ++index;
  return index;
}

} // namespace torchere::schema
