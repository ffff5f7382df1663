// FunctionDefs, node by node.
#include "artifact/saved_model/function_definition.h"

#include <cctype>
#include <cmath>
#include <set>

namespace torchere::artifact::saved_model {

/// XlaCallModule's own version: the first that refines unknown sizes in marked modules alone is 8; 9 asks for
/// the platforms.
static constexpr int64_t callVersion = 9;

static std::string variableName(size_t index) {
  return fmt::format("variable_{}", index);
}

std::string bodyName(const SavedFunction &function, size_t index) {
  std::string name = function.name;
  std::ranges::replace_if(
      name, [](unsigned char letter) { return letter >= 0x80 || !(std::isalnum(letter) || letter == '_'); },
      '_');
  return fmt::format("__inference_{}_{}", name, index);
}

std::string wrapperName(size_t index) {
  return fmt::format("__inference_signature_wrapper_{}", index);
}

namespace {

/// Gathers the parts of a FunctionDef and of its OpDef.
class Definition {
public:
  explicit Definition(std::string_view name) { signature.text(1, name); }

  void addInput(const std::string &name, const TensorType &type) {
    signature.message(2, Message().text(1, name).number(3, static_cast<int>(type.dtype)));
  }
  /// With what the handle's variable holds, so that the shapes of reads are known.
  void addVariable(size_t index, const TensorType &type) {
    Message held = Message().number(1, static_cast<int>(type.dtype)).message(2, shapeMessage(type.shape));
    signature.message(2, Message()
                             .text(1, variableName(index))
                             .number(3, static_cast<int>(DataType::Resource))
                             .message(7, held));
  }
  /// An output is given once the effects took place, by a node of its own.
  void addOutput(const std::string &name, DataType dtype, const std::string &source) {
    signature.message(3, Message().text(1, name).number(3, static_cast<int>(dtype)));
    std::string node = "result_" + name;
    add({node, "Identity", {source, "^effects"}, {{"T", typeAttribute(dtype)}}});
    results.emplace_back(name, node + ":output:0");
  }
  /// A node that has to run, whoever reads the outputs.
  void addEffect(const Node &node) {
    effects.push_back(node.name);
    add(node);
  }
  void add(const Node &node) { nodes.push_back(node.message()); }

  Message finish() {
    Node all{"effects", "NoOp", {}, {}};
    for (const std::string &effect : effects) {
      signature.text(20, effect);
      all.inputs.push_back("^" + effect);
    }
    add(all);
    Message definition;
    definition.message(1, signature.number(17, true));
    for (const Message &node : nodes)
      definition.message(3, node);
    for (const auto &[name, source] : results)
      definition.entry(4, name, source);
    for (const std::string &effect : effects)
      definition.entry(6, effect, effect);
    return definition;
  }

private:
  Message signature;
  std::vector<Message> nodes;
  std::vector<std::string> effects;
  std::vector<std::pair<std::string, std::string>> results;
};

/// The body of one function.
class Body {
public:
  Body(const Model &model, size_t index)
      : model(model), function(model.functions[index]), definition(bodyName(function, index)) {}

  Message make() {
    for (const InputTensor &input : function.inputs)
      definition.addInput(input.name, input.type);
    for (size_t index = 0; index < function.variables.size(); ++index)
      definition.addVariable(index, typeOf(index));
    for (const InputTensor &input : function.inputs)
      if (input.expected)
        addCheck(input);
    addCall();
    for (const Assignment &assignment : function.assignments)
      addAssignment(assignment);
    for (const OutputTensor &output : function.outputs)
      addOutput(output);
    return definition.finish();
  }

private:
  const TensorType &typeOf(size_t variable) const {
    return model.variables[function.variables[variable]].type;
  }

  /// Asserts that the input has the value that the module holds in its place.
  void addCheck(const InputTensor &input) {
    DataType dtype = input.type.dtype;
    std::string expected = "expected_" + input.name, equal = "equal_" + input.name,
                message = "message_" + input.name, check = "check_" + input.name;
    const double *number = input.expected->as<double>();
    Message type = typeAttribute(dtype);
    if (number && std::isnan(*number)) {
      definition.add({equal, "IsNan", {input.name}, {{"T", type}}});
    } else {
      definition.add(constantNode(expected, dtype, numberTensor(dtype, *input.expected)));
      definition.add({equal, "Equal", {input.name, expected + ":output:0"}, {{"T", type}}});
    }
    std::string text = fmt::format("[{}] another value than the program was exported with; got:", input.name);
    definition.add(constantNode(message, DataType::String, textTensor(text)));
    std::string condition = number && std::isnan(*number) ? equal + ":y:0" : equal + ":z:0";
    definition.addEffect({check,
                          "Assert",
                          {condition, message + ":output:0", input.name},
                          {{"T", typesAttribute({DataType::String, dtype})}}});
    checks.push_back("^" + check);
  }

  void addCall() {
    Node call{"call", "XlaCallModule", {}, {}};
    std::vector<DataType> types;
    std::set<size_t> read;
    for (const ModuleArgument &argument : function.arguments) {
      const TensorType &type =
          argument.isVariable ? typeOf(argument.index) : function.inputs[argument.index].type;
      types.push_back(type.dtype);
      std::string node = fmt::format("read_{}", argument.index);
      call.inputs.push_back(argument.isVariable ? node + ":value:0" : function.inputs[argument.index].name);
      if (argument.isVariable && read.insert(argument.index).second)
        definition.add(
            {node, "ReadVariableOp", {variableName(argument.index)}, {{"dtype", typeAttribute(type.dtype)}}});
    }
    call.inputs.insert(call.inputs.end(), checks.begin(), checks.end());
    std::vector<DataType> resultTypes;
    std::vector<std::vector<int64_t>> shapes;
    for (const TensorType &type : function.results) {
      resultTypes.push_back(type.dtype);
      shapes.push_back(type.shape);
    }
    call.attributes = {{"version", numberAttribute(callVersion)},
                       {"module", textAttribute(function.module)},
                       {"Tin", typesAttribute(types)},
                       {"Tout", typesAttribute(resultTypes)},
                       {"Sout", shapesAttribute(shapes)},
                       // The module is made for no platform: the one named is not insisted on.
                       {"platforms", textsAttribute({"CPU"})},
                       {"disabled_checks", textsAttribute({"platform"})}};
    definition.add(call);
  }

  void addAssignment(const Assignment &assignment) {
    definition.addEffect({fmt::format("assign_{}", assignment.variable),
                          "AssignVariableOp",
                          {variableName(assignment.variable), resultOf(assignment.result)},
                          {{"dtype", typeAttribute(typeOf(assignment.variable).dtype)}}});
  }

  void addOutput(const OutputTensor &output) {
    if (auto *result = std::get_if<ResultIndex>(&output.value)) {
      definition.addOutput(output.name, output.type.dtype, resultOf(result->index));
      return;
    }
    std::string node = "constant_" + output.name;
    const auto &value = std::get<program::Constant>(output.value);
    definition.add(constantNode(node, output.type.dtype, numberTensor(output.type.dtype, value)));
    definition.addOutput(output.name, output.type.dtype, node + ":output:0");
  }

  static std::string resultOf(size_t index) { return fmt::format("call:output:{}", index); }

  const Model &model;
  const SavedFunction &function;
  Definition definition;
  std::vector<std::string> checks;
};

} // namespace

Message bodyDefinition(const Model &model, size_t index) {
  return Body(model, index).make();
}

std::map<std::string, Message> callAttributes(const SavedFunction &function, const std::string &callee,
                                              bool inNameOrder) {
  std::vector<DataType> inputs, outputs;
  for (const InputTensor &input : function.inputs)
    inputs.push_back(input.type.dtype);
  for (const OutputTensor &output : function.outputs)
    outputs.push_back(output.type.dtype);
  auto inOrder = [&](std::vector<DataType> &types, const std::vector<size_t> &order) {
    std::vector<DataType> sorted;
    for (size_t index : order)
      sorted.push_back(types[index]);
    types = std::move(sorted);
  };
  if (inNameOrder) {
    inOrder(inputs, nameOrder(function.inputs));
    inOrder(outputs, nameOrder(function.outputs));
  }
  std::set<size_t> written;
  for (const Assignment &assignment : function.assignments)
    written.insert(assignment.variable);
  std::vector<int64_t> readOnly; // calls that only read a variable need not wait for each other
  for (size_t index = 0; index < function.variables.size(); ++index) {
    if (!written.contains(index))
      readOnly.push_back(static_cast<int64_t>(function.inputs.size() + index));
    inputs.push_back(DataType::Resource);
  }
  return {{"f", functionAttribute(callee)},
          {"Tin", typesAttribute(inputs)},
          {"Tout", typesAttribute(outputs)},
          {"_read_only_resource_inputs", numbersAttribute(readOnly)}};
}

Message wrapperDefinition(const Model &model, size_t index) {
  const SavedFunction &function = model.functions[index];
  Definition definition(wrapperName(index));
  for (size_t input : nameOrder(function.inputs))
    definition.addInput(function.inputs[input].name, function.inputs[input].type);
  Node call{"call", "StatefulPartitionedCall", {}, {}};
  for (const InputTensor &input : function.inputs)
    call.inputs.push_back(input.name);
  for (size_t variable = 0; variable < function.variables.size(); ++variable) {
    definition.addVariable(variable, model.variables[function.variables[variable]].type);
    call.inputs.push_back(variableName(variable));
  }
  call.attributes = callAttributes(function, bodyName(function, index), /*inNameOrder=*/false);
  definition.addEffect(call);
  for (size_t output : nameOrder(function.outputs))
    definition.addOutput(function.outputs[output].name, function.outputs[output].type.dtype,
                         fmt::format("call:output:{}", output));
  return definition.finish();
}

} // namespace torchere::artifact::saved_model
