// Constants of a call (the leaves of inputs and outputs that are no tensors) as JSON.
#include "artifact/argument_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace torchere::artifact {

using namespace program;

static OrderedJson floatToJson(double value) {
  if (std::isfinite(value))
    return value;
  return {{"float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

namespace {

struct ArgumentWriter {
  std::string_view subject;
  bool isTuple;

  Result<OrderedJson> operator()(std::monostate) const { return OrderedJson(nullptr); }
  Result<OrderedJson> operator()(int64_t value) const { return OrderedJson(value); }
  Result<OrderedJson> operator()(double value) const { return floatToJson(value); }
  Result<OrderedJson> operator()(bool value) const { return OrderedJson(value); }
  Result<OrderedJson> operator()(const std::string &value) const { return OrderedJson(value); }
  Result<OrderedJson> operator()(const std::complex<double> &value) const {
    return OrderedJson{{"complex", {floatToJson(value.real()), floatToJson(value.imag())}}};
  }
  Result<OrderedJson> operator()(DType value) const {
    return OrderedJson{{"dtype", dtypeInfo(value).torchName}};
  }
  Result<OrderedJson> operator()(const Device &value) const { return OrderedJson{{"device", value.name}}; }
  Result<OrderedJson> operator()(const Layout &value) const { return OrderedJson{{"layout", value.name}}; }
  Result<OrderedJson> operator()(const MemoryFormat &value) const {
    return OrderedJson{{"memory_format", value.name}};
  }
  Result<OrderedJson> operator()(const Argument::List &values) const {
    OrderedJson list = OrderedJson::array();
    for (const Argument &value : values) {
      TORCHERE_ASSIGN(OrderedJson json, argumentToJson(value, subject));
      list.push_back(std::move(json));
    }
    return isTuple ? OrderedJson{{"tuple", list}} : list;
  }
  Result<OrderedJson> operator()(const NodeReference &) const { return noConstant("a node"); }
  Result<OrderedJson> operator()(const GraphReference &) const { return noConstant("a graph"); }
  Result<OrderedJson> operator()(const OpReference &) const { return noConstant("an op"); }

  Result<OrderedJson> noConstant(const char *what) const {
    return invalidArgument("[{}] cannot be saved: got a reference to {}, expected a constant", subject, what);
  }
};

} // namespace

Result<OrderedJson> argumentToJson(const Argument &argument, std::string_view subject) {
  return std::visit(ArgumentWriter{subject, argument.isTuple}, argument.value);
}

static Result<Argument> listFromJson(const JsonCursor &json, bool isTuple) {
  TORCHERE_ASSIGN(auto elements, json.elements());
  Argument::List list;
  for (const JsonCursor &element : elements) {
    TORCHERE_ASSIGN(Argument value, argumentFromJson(element));
    list.push_back(std::move(value));
  }
  Argument result{std::move(list)};
  result.isTuple = isTuple;
  return result;
}

static Result<double> floatFromJson(const JsonCursor &json) {
  if (!json.json().is_object())
    return json.asFloat();
  TORCHERE_ASSIGN(std::string text, json.string("float"));
  if (text == "nan")
    return std::nan("");
  if (text == "inf" || text == "-inf")
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  return json.invalid(fmt::format("got the float \"{}\", expected nan, inf or -inf", text));
}

static Result<Argument> complexFromJson(const JsonCursor &json) {
  TORCHERE_ASSIGN(auto parts, json.elements());
  if (parts.size() != 2)
    return json.invalid(fmt::format("got {} parts of a complex number, expected 2", parts.size()));
  TORCHERE_ASSIGN(double real, floatFromJson(parts[0]));
  TORCHERE_ASSIGN(double imaginary, floatFromJson(parts[1]));
  return Argument{std::complex<double>(real, imaginary)};
}

/// torch's own; the names end up as attributes of the module torch.
static constexpr std::array<std::string_view, 8> layouts = {
    "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"};
static constexpr std::array<std::string_view, 4> memoryFormats = {"contiguous_format", "preserve_format",
                                                                  "channels_last", "channels_last_3d"};

template <size_t count>
static Status checkListed(const JsonCursor &json, const std::string &name,
                          const std::array<std::string_view, count> &names) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    return json.invalid(fmt::format("got \"{}\", expected one of {}", name, fmt::join(names, ", ")));
  return {};
}

/// An object of one key, which says the type.
static Result<Argument> taggedFromJson(const JsonCursor &json) {
  TORCHERE_ASSIGN(auto members, json.members());
  if (members.size() != 1)
    return json.invalid(fmt::format("got {} keys, expected one that says the type", members.size()));
  const auto &[key, value] = members.front();
  if (key == "tuple")
    return listFromJson(value, true);
  if (key == "complex")
    return complexFromJson(value);
  if (key == "float") {
    TORCHERE_ASSIGN(double number, floatFromJson(json));
    return Argument{number};
  }
  TORCHERE_ASSIGN(std::string name, value.asString());
  if (key == "device")
    return Argument{Device{name}};
  if (key == "layout") {
    TORCHERE_TRY(checkListed(value, name, layouts));
    return Argument{Layout{name}};
  }
  if (key == "memory_format") {
    TORCHERE_TRY(checkListed(value, name, memoryFormats));
    return Argument{MemoryFormat{name}};
  }
  if (key != "dtype")
    return json.invalid(fmt::format("got the type \"{}\", which is none that a constant can have", key));
  std::optional<DType> dtype = dtypeFromTorchName(name);
  if (!dtype)
    return value.invalid(fmt::format("got the dtype \"{}\", expected one of torch's", name));
  return Argument{*dtype};
}

Result<Argument> argumentFromJson(const JsonCursor &json) {
  switch (json.json().type()) {
  case Json::value_t::null:
    return Argument{};
  case Json::value_t::boolean:
    return Argument{json.json().get<bool>()};
  case Json::value_t::number_float:
    return Argument{json.json().get<double>()};
  case Json::value_t::string:
    return Argument{json.json().get<std::string>()};
  case Json::value_t::array:
    return listFromJson(json, false);
  case Json::value_t::object:
    return taggedFromJson(json);
  default:
    break;
  }
  TORCHERE_ASSIGN(int64_t integer, json.asInteger());
  return Argument{integer};
}

} // namespace torchere::artifact
