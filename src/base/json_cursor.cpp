// JsonCursor: typed reads of a JSON document that name the key that is wrong; the first failure is sticky.
#include "base/json_cursor.h"

namespace torchere {

/// What cursors stand at after a failure.
static const Json &nullJson() {
  static const Json null;
  return null;
}

static std::string_view typeName(const Json &value) {
  switch (value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::object:
    return "an object";
  case Json::value_t::array:
    return "an array";
  case Json::value_t::string:
    return "a string";
  case Json::value_t::boolean:
    return "a bool";
  case Json::value_t::number_float:
    return "a float";
  default:
    return "an integer";
  }
}

/// Puts the steps from `from` to `value` before `path`: ".input_signature[2].dtype". They are searched for
/// only when a read fails, so that cursors need not keep them. parseJson's limit bounds the recursion.
static bool prependPath(std::string &path, const Json &from, const Json &value) {
  if (&from == &value)
    return true;
  if (!from.is_structured())
    return false;
  for (auto item = from.begin(); item != from.end(); ++item) {
    if (!prependPath(path, *item, value))
      continue;
    path.insert(0, from.is_array() ? fmt::format("[{}]", item - from.begin()) : "." + item.key());
    return true;
  }
  return false;
}

JsonDocument::JsonDocument(std::string_view text, std::string_view subject) : subject(subject) {
  value = root().take(parseJson(text, subject));
}

JsonCursor JsonDocument::root() {
  return JsonCursor(*this, value);
}

const Json &JsonCursor::json() const {
  return failed() ? nullJson() : *value;
}

Status JsonCursor::finish() const {
  if (failed())
    return tl::unexpected(*document->failure);
  return {};
}

void JsonCursor::failWith(std::string_view what) const {
  std::string path;
  prependPath(path, document->value, *value);
  if (path.starts_with('.'))
    path.erase(0, 1);
  document->failure =
      Error{ErrorCode::DataLoss,
            fmt::format("[{}] {}{}{}", document->subject, path, path.empty() ? "" : ": ", what),
            {}};
}

void JsonCursor::failWithType(std::string_view expected) const {
  fail("got {}, expected {}", typeName(*value), expected);
}

JsonCursor JsonCursor::member(std::string_view key) const {
  if (!json().is_object()) {
    failWithType("an object");
  } else if (auto found = value->find(key); found != value->end()) {
    return JsonCursor(*document, *found);
  } else {
    fail("the key \"{}\" is missing", key);
  }
  return JsonCursor(*document, nullJson());
}

std::optional<JsonCursor> JsonCursor::optional(std::string_view key) const {
  if (!json().is_object()) {
    failWithType("an object");
    return std::nullopt;
  }
  auto found = value->find(key);
  return found == value->end() || found->is_null() ? std::nullopt
                                                   : std::optional(JsonCursor(*document, *found));
}

JsonElements JsonCursor::elements() const {
  if (json().is_array())
    return JsonElements(*this);
  failWithType("an array");
  return JsonElements(JsonCursor(*document, nullJson()));
}

std::string JsonCursor::text() const {
  if (json().is_string())
    return value->get<std::string>();
  failWithType("a string");
  return {};
}

int64_t JsonCursor::integer() const {
  const auto *number = json().get_ptr<const Json::number_unsigned_t *>();
  if (number && *number > static_cast<uint64_t>(INT64_MAX)) {
    fail("got {}, expected a signed 64-bit integer", *number);
    return 0;
  }
  if (json().is_number_integer())
    return value->get<int64_t>();
  failWithType("an integer");
  return 0;
}

bool JsonCursor::boolean() const {
  if (json().is_boolean())
    return value->get<bool>();
  failWithType("a bool");
  return false;
}

double JsonCursor::number() const {
  if (json().is_number())
    return value->get<double>();
  failWithType("a float");
  return 0;
}

JsonElements JsonCursor::array(std::string_view key) const {
  return member(key).elements();
}

std::string JsonCursor::text(std::string_view key, std::string_view fallback) const {
  std::optional<JsonCursor> found = optional(key);
  return found ? found->text() : std::string(fallback);
}

int64_t JsonCursor::integer(std::string_view key, int64_t fallback) const {
  std::optional<JsonCursor> found = optional(key);
  return found ? found->integer() : fallback;
}

bool JsonCursor::boolean(std::string_view key, bool fallback) const {
  std::optional<JsonCursor> found = optional(key);
  return found ? found->boolean() : fallback;
}

JsonCursor JsonElements::operator[](size_t index) const {
  return JsonCursor(*array.document, index < size() ? array.json()[index] : nullJson());
}

} // namespace torchere
