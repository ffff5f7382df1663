// JSON: bounded parsing with the place of errors, and typed access that names the key that is wrong.
#include "base/json.h"

namespace torchere {

namespace {

/// Builds the document from the parser's events; keeps the first error.
class DocumentBuilder final : public nlohmann::json_sax<Json> {
public:
  DocumentBuilder(Json &document, size_t depthLimit) : document(document), depthLimit(depthLimit) {}

  std::string problem; ///< empty when all is well

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    Json &object = *containers.back();
    if (object.contains(name)) {
      problem = fmt::format("the key \"{}\" stands twice in one object", name);
      return false;
    }
    slot = &object[name];
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // The library's text starts with its own name and the place: keep what follows.
    std::string_view text = error.what();
    size_t colon = text.find(": ");
    if (text.find("column") != std::string_view::npos && colon != std::string_view::npos)
      text.remove_prefix(colon + 2);
    problem = fmt::format("is not JSON: {}, at byte {}", text, position);
    return false;
  }

private:
  Json *place(Json &&value) {
    if (containers.empty()) {
      document = std::move(value);
      return &document;
    }
    if (containers.back()->is_array())
      return &containers.back()->emplace_back(std::move(value));
    *slot = std::move(value);
    return slot;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (containers.size() == depthLimit) {
      problem = fmt::format("nests too deeply: expected at most {} levels", depthLimit);
      return false;
    }
    containers.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    containers.pop_back();
    return true;
  }

  Json &document;
  size_t depthLimit;
  std::vector<Json *> containers; // the open ones; elements do not move while their children are built
  Json *slot = nullptr;           // where the value of the last key goes
};

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view subject, size_t depthLimit) {
  Json document;
  DocumentBuilder builder(document, depthLimit);
  if (!Json::sax_parse(text, &builder))
    return fail(ErrorCode::DataLoss, "[{}] {}", subject, builder.problem);
  return document;
}

static void printTo(std::string &out, const OrderedJson &value, size_t lineDepth, size_t indent) {
  if (lineDepth == 0 || !value.is_structured() || value.empty()) {
    out += value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    return;
  }
  bool isObject = value.is_object();
  out += isObject ? "{" : "[";
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 1, ' ');
    if (isObject)
      out += OrderedJson(item.key()).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + ": ";
    printTo(out, *item, lineDepth - 1, indent + 1);
  }
  out += "\n" + std::string(indent, ' ') + (isObject ? "}" : "]");
}

std::string printJson(const OrderedJson &value, size_t lineDepth) {
  std::string out;
  printTo(out, value, lineDepth, 0);
  return out;
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

tl::unexpected<Error> JsonCursor::invalid(std::string_view what) const {
  return fail(ErrorCode::DataLoss, "[{}] {}{}{}", subject, path, path.empty() ? "" : ": ", what);
}

tl::unexpected<Error> JsonCursor::wrongType(std::string_view expected) const {
  return invalid(fmt::format("got {}, expected {}", typeName(*value), expected));
}

JsonCursor JsonCursor::child(const Json &value, std::string_view key) const {
  return JsonCursor(value, subject, path.empty() ? std::string(key) : fmt::format("{}.{}", path, key));
}

Result<JsonCursor> JsonCursor::member(std::string_view key) const {
  if (!value->is_object())
    return wrongType("an object");
  auto found = value->find(key);
  if (found == value->end())
    return invalid(fmt::format("the key \"{}\" is missing", key));
  return child(*found, key);
}

Result<std::optional<JsonCursor>> JsonCursor::optionalMember(std::string_view key) const {
  if (!value->is_object())
    return wrongType("an object");
  auto found = value->find(key);
  if (found == value->end() || found->is_null())
    return std::optional<JsonCursor>();
  return std::optional<JsonCursor>(child(*found, key));
}

Result<std::vector<JsonCursor>> JsonCursor::elements() const {
  if (!value->is_array())
    return wrongType("an array");
  std::vector<JsonCursor> result;
  result.reserve(value->size());
  for (const Json &element : *value)
    result.push_back(JsonCursor(element, subject, fmt::format("{}[{}]", path, result.size())));
  return result;
}

Result<std::vector<std::pair<std::string, JsonCursor>>> JsonCursor::members() const {
  if (!value->is_object())
    return wrongType("an object");
  std::vector<std::pair<std::string, JsonCursor>> result;
  result.reserve(value->size());
  for (auto item = value->begin(); item != value->end(); ++item)
    result.emplace_back(item.key(), child(*item, item.key()));
  return result;
}

Result<std::string> JsonCursor::asString() const {
  if (const auto *text = value->get_ptr<const Json::string_t *>())
    return *text;
  return wrongType("a string");
}

Result<int64_t> JsonCursor::asInteger() const {
  if (const auto *number = value->get_ptr<const Json::number_unsigned_t *>();
      number && *number > static_cast<uint64_t>(INT64_MAX))
    return invalid(fmt::format("got {}, expected a signed 64-bit integer", *number));
  if (value->is_number_integer())
    return value->get<int64_t>();
  return wrongType("an integer");
}

Result<bool> JsonCursor::asBool() const {
  if (const auto *flag = value->get_ptr<const Json::boolean_t *>())
    return *flag;
  return wrongType("a bool");
}

Result<double> JsonCursor::asFloat() const {
  if (value->is_number())
    return value->get<double>();
  return wrongType("a float");
}

Result<std::string> JsonCursor::string(std::string_view key) const {
  TORCHERE_ASSIGN(JsonCursor found, member(key));
  return found.asString();
}

Result<int64_t> JsonCursor::integer(std::string_view key) const {
  TORCHERE_ASSIGN(JsonCursor found, member(key));
  return found.asInteger();
}

Result<bool> JsonCursor::boolean(std::string_view key) const {
  TORCHERE_ASSIGN(JsonCursor found, member(key));
  return found.asBool();
}

Result<std::vector<JsonCursor>> JsonCursor::array(std::string_view key) const {
  TORCHERE_ASSIGN(JsonCursor found, member(key));
  return found.elements();
}

} // namespace torchere
