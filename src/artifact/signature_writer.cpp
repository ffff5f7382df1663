// .signature.json: a complete program::EntryPoint, written.
#include "artifact/signature.h"

#include "artifact/argument_json.h"
#include "artifact/signature_names.h"
#include "base/json.h"

namespace torchere::artifact {

using namespace program;

static OrderedJson sizeToJson(SymInt size, const ExpressionPool &expressions) {
  return size.isConstant() ? OrderedJson(size.constant()) : OrderedJson(expressions.print(size));
}

static void addType(OrderedJson &json, const TensorSignature &type, const ExpressionPool &expressions) {
  json["dtype"] = dtypeInfo(type.dtype).torchName;
  json["shape"] = OrderedJson::array();
  for (SymInt size : type.shape)
    json["shape"].push_back(sizeToJson(size, expressions));
}

static OrderedJson inputsToJson(const std::vector<EntryInput> &inputs, const ExpressionPool &expressions) {
  OrderedJson list = OrderedJson::array();
  for (const EntryInput &input : inputs) {
    OrderedJson json = {{"source", nameOf(inputSourceNames, input.source)}, {"name", input.name}};
    if (input.position >= 0)
      json["position"] = input.position;
    addType(json, input.type, expressions);
    if (input.isSymInt)
      json["sym_int"] = true;
    if (!input.value.isConstant())
      json["value"] = sizeToJson(input.value, expressions);
    if (input.isInShapes)
      json["in_shapes"] = true;
    if (!input.isPersistent)
      json["persistent"] = false;
    list.push_back(std::move(json));
  }
  return list;
}

static OrderedJson outputsToJson(const std::vector<EntryOutput> &outputs, const ExpressionPool &expressions) {
  OrderedJson list = OrderedJson::array();
  for (const EntryOutput &output : outputs) {
    OrderedJson json = {{"destination", nameOf(outputDestinationNames, output.destination)},
                        {"name", output.name}};
    if (!output.target.empty())
      json["target"] = output.target;
    if (output.position >= 0)
      json["position"] = output.position;
    addType(json, output.type, expressions);
    if (output.isNumber)
      json[output.type.dtype == DType::I64 ? "sym_int" : "number"] = true;
    list.push_back(std::move(json));
  }
  return list;
}

static OrderedJson checksToJson(const std::vector<RunTimeCheck> &checks) {
  OrderedJson list = OrderedJson::array();
  for (const RunTimeCheck &check : checks) {
    OrderedJson json = {{"op", check.op}, {"message", check.message}};
    if (!check.where.empty())
      json["where"] = check.where;
    if (check.isFactorization)
      json["factorization"] = true;
    list.push_back(std::move(json));
  }
  return list;
}

static OrderedJson rangesToJson(const EntryPoint &entryPoint) {
  constexpr Range unbounded;
  OrderedJson list = OrderedJson::array();
  for (const RangeConstraint &constraint : entryPoint.rangeConstraints) {
    const Range &range = constraint.range;
    list.push_back({{"expression", sizeToJson(constraint.expression, entryPoint.expressions)},
                    {"min", range.min == unbounded.min ? OrderedJson(nullptr) : OrderedJson(range.min)},
                    {"max", range.max == unbounded.max ? OrderedJson(nullptr) : OrderedJson(range.max)}});
  }
  return list;
}

static Result<OrderedJson> treeToJson(const TreeSpec &tree, std::string_view subject) {
  OrderedJson json = {{"tree", nullptr}, {"torch", nullptr}};
  if (!tree.json.empty()) {
    TORCHERE_ASSIGN(json["tree"], parseJson(tree.json, subject));
  }
  if (!tree.torchText.empty())
    json["torch"] = tree.torchText;
  return json;
}

/// The part that a call needs: it does not grow with the number of weights.
static Result<OrderedJson> callToJson(const EntryPoint &entryPoint) {
  TORCHERE_ASSIGN(OrderedJson inputTree, treeToJson(entryPoint.inputTree, "input tree"));
  TORCHERE_ASSIGN(OrderedJson outputTree, treeToJson(entryPoint.outputTree, "output tree"));
  OrderedJson call = {{"name", entryPoint.name},
                      {"outputs", outputsToJson(entryPoint.outputs, entryPoint.expressions)},
                      {"user_input_count", entryPoint.userInputCount},
                      {"argument_names", entryPoint.argumentNames},
                      {"input_tree", inputTree},
                      {"output_tree", outputTree}};
  return call;
}

Result<std::string> callSignatureText(const EntryPoint &entryPoint) {
  TORCHERE_ASSIGN(OrderedJson call, callToJson(entryPoint));
  return printJson(call, 0);
}

Result<std::string> signatureText(const EntryPoint &entryPoint) {
  const ExpressionPool &expressions = entryPoint.expressions;
  OrderedJson constantInputs = OrderedJson::array(), constantOutputs = OrderedJson::array();
  for (const ConstantInput &input : entryPoint.constantInputs) {
    TORCHERE_ASSIGN(OrderedJson value, argumentToJson(input.value, input.name));
    constantInputs.push_back({{"name", input.name}, {"position", input.position}, {"value", value}});
  }
  for (const ConstantOutput &output : entryPoint.constantOutputs) {
    TORCHERE_ASSIGN(OrderedJson value,
                    argumentToJson(output.value, fmt::format("output {}", output.position)));
    constantOutputs.push_back({{"position", output.position}, {"value", value}});
  }
  TORCHERE_ASSIGN(OrderedJson call, callToJson(entryPoint));
  OrderedJson document = {{"format", signatureFormat},
                          {"name", call["name"]},
                          {"inputs", inputsToJson(entryPoint.inputs, expressions)},
                          {"unused_inputs", inputsToJson(entryPoint.unusedInputs, expressions)},
                          {"constant_inputs", constantInputs},
                          {"outputs", call["outputs"]},
                          {"constant_outputs", constantOutputs},
                          {"user_input_count", call["user_input_count"]},
                          {"user_output_count", entryPoint.userOutputCount},
                          {"range_constraints", rangesToJson(entryPoint)},
                          {"argument_names", call["argument_names"]},
                          {"input_tree", call["input_tree"]},
                          {"output_tree", call["output_tree"]}};
  if (!entryPoint.checks.empty())
    document["checks"] = checksToJson(entryPoint.checks);
  return printJson(document, 2) + "\n";
}

} // namespace torchere::artifact
