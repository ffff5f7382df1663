// The user's custom ops as stablehlo.custom_call.
#include "exporter/custom_call.h"

#include <nlohmann/json.hpp>

namespace torchere::exporter {

namespace {

using Json = nlohmann::ordered_json;

/// A constant argument as JSON. Tensors in it become operands, with null in their places.
Result<Json> configuration(const lowering::Argument &argument, const std::string &op,
                           lowering::Values &operands) {
  struct Convert {
    const std::string &op;
    lowering::Values &operands;
    Result<Json> operator()(std::monostate) { return Json(nullptr); }
    Result<Json> operator()(mlir::Value value) {
      operands.push_back(value);
      return Json(nullptr);
    }
    Result<Json> operator()(const lowering::Dim &) {
      return fail(ErrorCode::Unimplemented,
                  "[{}] a size known only at run time is no argument of a custom call: "
                  "expected constants and tensors",
                  op);
    }
    Result<Json> operator()(int64_t value) { return Json(value); }
    Result<Json> operator()(double value) { return Json(value); }
    Result<Json> operator()(bool value) { return Json(value); }
    Result<Json> operator()(const std::complex<double> &value) { return Json{value.real(), value.imag()}; }
    Result<Json> operator()(const std::string &value) { return Json(value); }
    Result<Json> operator()(DType value) { return Json(std::string(dtypeInfo(value).torchName)); }
    Result<Json> operator()(const lowering::Opaque &value) { return Json(value.text); }
    Result<Json> operator()(const lowering::Subgraph *graph) {
      return fail(ErrorCode::Unimplemented,
                  "[{}] a graph is no argument of a custom call: got '{}', expected constants and tensors",
                  op, graph->name());
    }
    Result<Json> operator()(const lowering::Argument::List &list) {
      Json result = Json::array();
      for (const lowering::Argument &element : list) {
        TORCHERE_ASSIGN(Json value, configuration(element, op, operands));
        result.push_back(std::move(value));
      }
      return result;
    }
  };
  return std::visit(Convert{op, operands}, argument.value);
}

/// Where a result's size is dynamic, the shapes of all results are further operands, which
/// indices_of_shape_operands names: refinement reads the sizes from them, and drops them.
Result<lowering::Values> createCall(lowering::Context &cx, lowering::Values operands,
                                    const std::vector<lowering::TensorType> &types,
                                    llvm::SmallVector<mlir::NamedAttribute> attributes) {
  llvm::SmallVector<mlir::Type> results;
  bool isDynamic = false;
  for (const lowering::TensorType &type : types) {
    mlir::RankedTensorType result = cx.tensorType(type.shape, type.dtype);
    isDynamic |= !result.hasStaticShape();
    results.push_back(result);
  }
  llvm::SmallVector<int64_t> shapeOperands;
  for (size_t i = 0; isDynamic && i < types.size(); ++i) {
    shapeOperands.push_back(static_cast<int64_t>(operands.size()));
    operands.push_back(cx.shapeTensor(types[i].shape));
  }
  if (isDynamic)
    attributes.push_back(
        cx.attribute("indices_of_shape_operands", cx.builder().getI64TensorAttr(shapeOperands)));
  auto call = stablehlo::CustomCallOp::create(cx.builder(), cx.loc(), results, operands, attributes);
  lowering::Values values;
  for (auto [result, type] : llvm::zip(call->getResults(), types))
    values.push_back(cx.withShape(result, type.shape));
  return values;
}

/// The arguments of the op that states every field of a call, by name.
class StatedFields {
public:
  explicit StatedFields(const std::vector<lowering::GivenArgument> &arguments) : arguments(arguments) {}

  template <class T> Result<T> get(std::string_view name) const {
    for (const lowering::GivenArgument &argument : arguments)
      if (const T *value = argument.name == name ? argument.value.as<T>() : nullptr)
        return *value;
    return invalidArgument("[stablehlo_custom_call] argument '{}' is missing or of another type", name);
  }
  Result<std::vector<lowering::Argument>> list(std::string_view name) const {
    return get<lowering::Argument::List>(name);
  }

private:
  const std::vector<lowering::GivenArgument> &arguments;
};

/// The attributes of a kernel of XLA's FFI, which the configuration states as a JSON object.
Result<mlir::DictionaryAttr> typedConfiguration(mlir::OpBuilder &builder, const std::string &target,
                                                const std::string &text) {
  Json json = text.empty() ? Json::object() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return invalidArgument("[stablehlo_custom_call] backend_config of '{}', whose api_version is 4: got {}, "
                           "expected a JSON object",
                           target, text);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (const auto &[name, value] : json.items()) {
    mlir::Attribute attribute;
    if (value.is_boolean())
      attribute = builder.getBoolAttr(value.get<bool>());
    else if (value.is_number_integer())
      attribute = builder.getI64IntegerAttr(value.get<int64_t>());
    else if (value.is_number_float())
      attribute = builder.getF32FloatAttr(value.get<float>());
    else if (value.is_string())
      attribute = builder.getStringAttr(value.get<std::string>());
    else
      return invalidArgument("[stablehlo_custom_call] backend_config of '{}': got {} as '{}', expected a "
                             "bool, an int, a float or a string",
                             target, value.dump(), name);
    attributes.push_back(builder.getNamedAttr(name, attribute));
  }
  return builder.getDictionaryAttr(attributes);
}

} // namespace

Result<SplitArguments> splitArguments(const std::string &op,
                                      const std::vector<lowering::GivenArgument> &arguments) {
  SplitArguments split;
  Json constants = Json::object();
  for (const lowering::GivenArgument &argument : arguments) {
    size_t before = split.operands.size();
    TORCHERE_ASSIGN(Json value, configuration(argument.value, op, split.operands));
    if (split.operands.size() == before)
      constants[std::string(argument.name)] = std::move(value);
  }
  // Strings may hold any bytes; invalid UTF-8 is replaced.
  split.json = constants.dump(-1, ' ', false, Json::error_handler_t::replace);
  return split;
}

Result<lowering::Values> customCall(lowering::Context &cx, const program::Node &node,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types) {
  TORCHERE_ASSIGN(SplitArguments split, splitArguments(node.op(), arguments));
  mlir::OpBuilder &builder = cx.builder();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      cx.attribute("call_target_name", builder.getStringAttr(node.op()))};
  if (split.json != "{}")
    attributes.push_back(cx.attribute("backend_config", builder.getStringAttr(split.json)));
  return createCall(cx, split.operands, types, attributes);
}

bool isStatedCall(const program::Node &node) {
  return node.kind == program::NodeKind::Call && node.op() == statedCallOp;
}

bool hasEffect(const program::Node &node) {
  if (!isStatedCall(node))
    return false;
  for (const program::NamedArgument &argument : node.given())
    if (argument.name == "has_side_effect")
      return argument.value.as<bool>() && *argument.value.as<bool>();
  return false;
}

Result<lowering::Values> statedCall(lowering::Context &cx,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types) {
  StatedFields fields(arguments);
  TORCHERE_ASSIGN(std::vector<lowering::Argument> tensors, fields.list("args"));
  lowering::Values operands;
  for (const lowering::Argument &tensor : tensors)
    if (const mlir::Value *value = tensor.as<mlir::Value>())
      operands.push_back(*value);
  TORCHERE_ASSIGN(std::string target, fields.get<std::string>("call_target"));
  TORCHERE_ASSIGN(bool hasEffect, fields.get<bool>("has_side_effect"));
  TORCHERE_ASSIGN(std::string configuration, fields.get<std::string>("backend_config"));
  TORCHERE_ASSIGN(int64_t api, fields.get<int64_t>("api_version"));
  TORCHERE_ASSIGN(std::vector<lowering::Argument> frontend, fields.list("frontend_attributes"));
  auto version = stablehlo::symbolizeCustomCallApiVersion(static_cast<uint32_t>(api));
  if (!version)
    return invalidArgument("[stablehlo_custom_call] api_version of '{}': got {}, expected 0 to 4", target,
                           api);
  mlir::OpBuilder &builder = cx.builder();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      cx.attribute("call_target_name", builder.getStringAttr(target)),
      cx.attribute("has_side_effect", builder.getBoolAttr(hasEffect)),
      cx.attribute("api_version", stablehlo::CustomCallApiVersionAttr::get(builder.getContext(), *version))};
  if (*version == stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI) {
    TORCHERE_ASSIGN(mlir::DictionaryAttr typed, typedConfiguration(builder, target, configuration));
    attributes.push_back(cx.attribute("backend_config", typed));
  } else {
    attributes.push_back(cx.attribute("backend_config", builder.getStringAttr(configuration)));
  }
  llvm::SmallVector<mlir::NamedAttribute> forFrontend;
  for (size_t i = 0; i + 1 < frontend.size(); i += 2)
    if (frontend[i].as<std::string>() && frontend[i + 1].as<std::string>())
      forFrontend.push_back(cx.attribute(*frontend[i].as<std::string>(),
                                         builder.getStringAttr(*frontend[i + 1].as<std::string>())));
  if (!forFrontend.empty())
    attributes.push_back(cx.attribute("mhlo.frontend_attributes", builder.getDictionaryAttr(forFrontend)));
  return createCall(cx, operands, types, attributes);
}

} // namespace torchere::exporter
