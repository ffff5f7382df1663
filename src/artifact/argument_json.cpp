// Constants of a call (non-tensor leaves of inputs and outputs) as JSON.
#include "artifact/argument_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

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
  Result<OrderedJson> operator()(const Constant::List &values) const {
    OrderedJson list = OrderedJson::array();
    for (const Constant &value : values) {
      TORCHERE_ASSIGN(OrderedJson json, argumentToJson(value, subject));
      list.push_back(std::move(json));
    }
    return isTuple ? OrderedJson{{"tuple", list}} : list;
  }
  Result<OrderedJson> operator()(const OpReference &) const { return noConstant("an op"); }

  Result<OrderedJson> noConstant(const char *what) const {
    return invalidArgument("[{}] cannot be saved: got a reference to {}, expected a constant", subject, what);
  }
};

} // namespace

Result<OrderedJson> argumentToJson(const Constant &argument, std::string_view subject) {
  return std::visit(ArgumentWriter{subject, argument.isTuple}, argument.value);
}

static Constant listFromJson(const JsonCursor &json, bool isTuple) {
  Constant::List list;
  for (JsonCursor element : json.elements())
    list.push_back(argumentFromJson(element));
  Constant result{std::move(list)};
  result.isTuple = isTuple;
  return result;
}

static double floatFromJson(const JsonCursor &json) {
  if (!json.json().is_object())
    return json.number();
  std::string text = json.text("float");
  if (text == "inf" || text == "-inf")
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  if (text != "nan")
    json.fail("got the float \"{}\", expected nan, inf or -inf", text);
  return std::nan("");
}

static Constant complexFromJson(const JsonCursor &json) {
  JsonElements parts = json.elements();
  if (parts.size() != 2)
    json.fail("got {} parts of a complex number, expected 2", parts.size());
  double real = floatFromJson(parts[0]);
  double imaginary = floatFromJson(parts[1]);
  return Constant{std::complex<double>(real, imaginary)};
}

/// torch's own; the names end up as attributes of the module torch.
static constexpr std::array<std::string_view, 8> layouts = {
    "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"};
static constexpr std::array<std::string_view, 4> memoryFormats = {"contiguous_format", "preserve_format",
                                                                  "channels_last", "channels_last_3d"};

static void checkListed(const JsonCursor &json, const std::string &name,
                        std::span<const std::string_view> names) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    json.fail("got \"{}\", expected one of {}", name, fmt::join(names, ", "));
}

/// An object with one key, which names the type.
static Constant taggedFromJson(const JsonCursor &json) {
  if (size_t size = json.json().size(); size != 1) {
    json.fail("got {} keys, expected one that says the type", size);
    return {};
  }
  std::string key = json.json().begin().key();
  JsonCursor value = json.member(key);
  if (key == "tuple")
    return listFromJson(value, true);
  if (key == "complex")
    return complexFromJson(value);
  if (key == "float")
    return Constant{floatFromJson(json)};
  std::string name = value.text();
  if (key == "device")
    return Constant{Device{name}};
  if (key == "layout") {
    checkListed(value, name, layouts);
    return Constant{Layout{name}};
  }
  if (key == "memory_format") {
    checkListed(value, name, memoryFormats);
    return Constant{MemoryFormat{name}};
  }
  if (key != "dtype")
    json.fail("got the type \"{}\", which is none that a constant can have", key);
  std::optional<DType> dtype = dtypeFromTorchName(name);
  if (!dtype)
    value.fail("got the dtype \"{}\", expected one of torch's", name);
  return Constant{dtype.value_or(DType())};
}

Constant argumentFromJson(const JsonCursor &json) {
  const Json &value = json.json();
  switch (value.type()) {
  case Json::value_t::null:
    return Constant{};
  case Json::value_t::boolean:
    return Constant{value.get<bool>()};
  case Json::value_t::number_float:
    return Constant{value.get<double>()};
  case Json::value_t::string:
    return Constant{value.get<std::string>()};
  case Json::value_t::array:
    return listFromJson(json, false);
  case Json::value_t::object:
    return taggedFromJson(json);
  default:
    return Constant{json.integer()};
  }
}

} // namespace torchere::artifact
