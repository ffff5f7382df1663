// Attributes of composites that the user has marked: Python's values as MLIR's.
#include "exporter/composite_attributes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace torchere::exporter {

namespace {

using Json = nlohmann::ordered_json;

std::optional<float> asFloat(const Json &value) {
  if (value.is_number_float())
    return value.get<float>();
  if (!value.is_object() || value.size() != 1 || !value.contains("float"))
    return std::nullopt;
  const Json &name = value["float"];
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return name == "inf"    ? std::optional(infinity)
         : name == "-inf" ? std::optional(-infinity)
         : name == "nan"  ? std::optional(std::numeric_limits<float>::quiet_NaN())
                          : std::nullopt;
}

bool isFloat(const Json &value) {
  return asFloat(value).has_value();
}

/// Whether an int is in the range of i64.
bool isInteger(const Json &value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<uint64_t>() <= std::numeric_limits<int64_t>::max());
}

template <class Element, class Convert>
mlir::Attribute dense(mlir::Type element, const Json &list, Convert convert) {
  llvm::SmallVector<Element> values;
  for (const Json &value : list)
    values.push_back(convert(value));
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<Element>(values));
}

/// Null for values that no attribute holds.
mlir::Attribute convert(mlir::OpBuilder &builder, const Json &value) {
  if (value.is_boolean())
    return builder.getBoolAttr(value.get<bool>());
  if (isInteger(value))
    return builder.getI64IntegerAttr(value.get<int64_t>());
  if (std::optional<float> number = asFloat(value))
    return builder.getF32FloatAttr(*number);
  if (value.is_string())
    return builder.getStringAttr(value.get<std::string>());
  if (!value.is_array())
    return {};
  if (!value.empty() && std::ranges::all_of(value, isInteger))
    return dense<int64_t>(builder.getI64Type(), value, [](const Json &one) { return one.get<int64_t>(); });
  if (!value.empty() && std::ranges::all_of(value, isFloat))
    return dense<float>(builder.getF32Type(), value, [](const Json &one) { return *asFloat(one); });
  if (!value.empty() && std::ranges::all_of(value, &Json::is_boolean))
    return dense<bool>(builder.getI1Type(), value, [](const Json &one) { return one.get<bool>(); });
  llvm::SmallVector<mlir::Attribute> elements;
  for (const Json &element : value) {
    elements.push_back(convert(builder, element));
    if (!elements.back())
      return {};
  }
  return builder.getArrayAttr(elements);
}

} // namespace

Result<llvm::SmallVector<mlir::NamedAttribute>>
compositeAttributes(mlir::OpBuilder &builder, const std::string &composite, const std::string &json) {
  Json attributes = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!attributes.is_object())
    return invalidArgument("[{}] the attributes of the composite: got '{}', expected what "
                           "serialize_composite_attr() gives",
                           composite, json);
  llvm::SmallVector<mlir::NamedAttribute> converted;
  for (const auto &[name, value] : attributes.items()) {
    mlir::Attribute attribute = convert(builder, value);
    if (!attribute || name.empty())
      return invalidArgument("[{}] attribute '{}' of the composite has an unsupported type: got {}, expected "
                             "int, float, str, bool or a list of them",
                             composite, name, value.dump());
    converted.push_back(builder.getNamedAttr(name, attribute));
  }
  return converted;
}

} // namespace torchere::exporter
