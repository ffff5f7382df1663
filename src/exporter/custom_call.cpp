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

} // namespace

Result<lowering::Values> customCall(lowering::Context &cx, const program::Node &node,
                                    const std::vector<lowering::GivenArgument> &arguments,
                                    const std::vector<lowering::TensorType> &types) {
  lowering::Values operands;
  Json constants = Json::object();
  for (const lowering::GivenArgument &argument : arguments) {
    size_t before = operands.size();
    TORCHERE_ASSIGN(Json value, configuration(argument.value, node.op(), operands));
    if (operands.size() == before)
      constants[std::string(argument.name)] = std::move(value);
  }
  llvm::SmallVector<mlir::Type> results;
  for (const lowering::TensorType &type : types)
    results.push_back(cx.tensorType(type.shape, type.dtype));
  mlir::OpBuilder &builder = cx.builder();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      cx.attribute("call_target_name", builder.getStringAttr(node.op()))};
  // Strings may hold any bytes; invalid UTF-8 is replaced.
  std::string text = constants.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!constants.empty())
    attributes.push_back(cx.attribute("backend_config", builder.getStringAttr(text)));
  auto call = stablehlo::CustomCallOp::create(builder, cx.loc(), results, operands, attributes);
  lowering::Values values;
  for (auto [result, type] : llvm::zip(call->getResults(), types))
    values.push_back(cx.withShape(result, type.shape));
  return values;
}

} // namespace torchere::exporter
