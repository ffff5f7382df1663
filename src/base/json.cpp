// JSON: bounded parsing with the place of errors, and printing.
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

} // namespace torchere
