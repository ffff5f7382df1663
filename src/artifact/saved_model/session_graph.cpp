// GraphDef, SaverDef and SignatureDefs. Without the nodes that restore, sessions find variables without
// values.
#include "artifact/saved_model/session_graph.h"

#include "artifact/saved_model/function_definition.h"
#include "artifact/saved_model/names.h"

namespace torchere::artifact::saved_model {

/// Of the graph's form: that of TensorFlow 2.15, the first that runs version 9 of XlaCallModule.
static constexpr int graphVersion = 1645;
static constexpr std::string_view fileNode = "save/filename", savedNode = "save/control_dependency",
                                  restoredNode = "save/restore_all";
static constexpr const char *predictMethod = "tensorflow/serving/predict";

std::string checkpointKey(size_t variable) {
  return fmt::format("_variables/{}/.ATTRIBUTES/VARIABLE_VALUE", variable);
}

static std::string handleNode(size_t variable) {
  return fmt::format("variables/{}", variable);
}

static std::string placeholderNode(const SavedFunction &function, const InputTensor &input) {
  return fmt::format("{}_{}", encodedName(function.signatureKey), input.name);
}

static std::string callNode(size_t index) {
  return index == 0 ? "StatefulPartitionedCall" : fmt::format("StatefulPartitionedCall_{}", index);
}

namespace {

/// Adds the nodes of the graph.
class Graph {
public:
  Graph(const Model &model, const std::string &checkpointObjects)
      : model(model), checkpointObjects(checkpointObjects) {}

  Message make() {
    for (size_t index = 0; index < model.variables.size(); ++index)
      addVariable(index);
    for (size_t index = 0; index < model.functions.size(); ++index)
      addSignature(index);
    addTensorNames();
    addSaving();
    addRestoring();
    Message library;
    for (size_t index = 0; index < model.functions.size(); ++index)
      library.message(1, bodyDefinition(model, index)).message(1, wrapperDefinition(model, index));
    return graph.message(2, library).message(4, Message().number(1, graphVersion));
  }

private:
  void add(const Node &node) { graph.message(1, node.message()); }

  void addVariable(size_t index) {
    const Variable &variable = model.variables[index];
    add({handleNode(index),
         "VarHandleOp",
         {},
         {{"dtype", typeAttribute(variable.type.dtype)},
          {"shape", shapeAttribute(variable.type.shape)},
          {"shared_name", textAttribute(variable.name)}}});
  }

  void addSignature(size_t index) {
    const SavedFunction &function = model.functions[index];
    Node call{callNode(index), "StatefulPartitionedCall", {}, {}};
    for (size_t place : nameOrder(function.inputs)) {
      const InputTensor &input = function.inputs[place];
      std::string name = placeholderNode(function, input);
      add({name,
           "Placeholder",
           {},
           {{"dtype", typeAttribute(input.type.dtype)}, {"shape", shapeAttribute(input.type.shape)}}});
      call.inputs.push_back(name);
    }
    for (size_t variable : function.variables)
      call.inputs.push_back(handleNode(variable));
    call.attributes = callAttributes(function, wrapperName(index), /*inNameOrder=*/true);
    add(call);
  }

  /// The checkpoint's keys: of the variables, then of the objects. These are read as well, though nothing
  /// needs them here, so that damage to any part of the checkpoint is noticed.
  void addTensorNames() {
    std::vector<std::string> keys, slices;
    for (size_t index = 0; index < model.variables.size(); ++index)
      keys.push_back(checkpointKey(index));
    keys.emplace_back(objectGraphKey);
    slices.resize(keys.size());
    add(constantNode("save/tensor_names", DataType::String, textTensor(keys)));
    add(constantNode("save/shapes_and_slices", DataType::String, textTensor(slices)));
    add({std::string(fileNode),
         "Placeholder",
         {},
         {{"dtype", typeAttribute(DataType::String)}, {"shape", shapeAttribute({})}}});
  }

  std::vector<DataType> savedTypes() const {
    std::vector<DataType> types;
    for (const Variable &variable : model.variables)
      types.push_back(variable.type.dtype);
    types.push_back(DataType::String);
    return types;
  }

  Node checkpointNode(std::string name, std::string op) const {
    return {std::move(name),
            std::move(op),
            {std::string(fileNode), "save/tensor_names", "save/shapes_and_slices"},
            {{"dtypes", typesAttribute(savedTypes())}}};
  }

  void addSaving() {
    Node save = checkpointNode("save/SaveV2", "SaveV2");
    for (size_t index = 0; index < model.variables.size(); ++index) {
      std::string name = fmt::format("save/read_{}", index);
      add({name,
           "ReadVariableOp",
           {handleNode(index)},
           {{"dtype", typeAttribute(model.variables[index].type.dtype)}}});
      save.inputs.push_back(name);
    }
    add(constantNode("save/objects", DataType::String, textTensor(checkpointObjects)));
    save.inputs.emplace_back("save/objects");
    add(save);
    add({std::string(savedNode),
         "Identity",
         {std::string(fileNode), "^save/SaveV2"},
         {{"T", typeAttribute(DataType::String)}}});
  }

  void addRestoring() {
    add(checkpointNode("save/RestoreV2", "RestoreV2"));
    Node all{std::string(restoredNode), "NoOp", {"^save/RestoreV2"}, {}};
    for (size_t index = 0; index < model.variables.size(); ++index) {
      std::string name = fmt::format("save/assign_{}", index);
      add({name,
           "AssignVariableOp",
           {handleNode(index), fmt::format("save/RestoreV2:{}", index)},
           {{"dtype", typeAttribute(model.variables[index].type.dtype)}}});
      all.inputs.push_back("^" + name);
    }
    add(all);
  }

  const Model &model;
  const std::string &checkpointObjects;
  Message graph;
};

} // namespace

Message graphDefinition(const Model &model, const std::string &checkpointObjects) {
  return Graph(model, checkpointObjects).make();
}

Message saverDefinition() {
  constexpr int version2 = 2;
  return Message()
      .text(1, fmt::format("{}:0", fileNode))
      .text(2, fmt::format("{}:0", savedNode))
      .text(3, restoredNode)
      .number(7, version2);
}

static Message tensorInfo(const std::string &tensor, const TensorType &type) {
  return Message()
      .text(1, tensor)
      .number(2, static_cast<int>(type.dtype))
      .message(3, shapeMessage(type.shape));
}

Message signatureDefinition(const Model &model, size_t index) {
  const SavedFunction &function = model.functions[index];
  Message signature;
  for (size_t place : nameOrder(function.inputs)) {
    const InputTensor &input = function.inputs[place];
    signature.entry(1, input.name, tensorInfo(placeholderNode(function, input) + ":0", input.type));
  }
  size_t result = 0; // the call gives them in this order
  for (size_t place : nameOrder(function.outputs)) {
    const OutputTensor &output = function.outputs[place];
    signature.entry(2, output.name, tensorInfo(fmt::format("{}:{}", callNode(index), result++), output.type));
  }
  return signature.text(3, predictMethod);
}

} // namespace torchere::artifact::saved_model
