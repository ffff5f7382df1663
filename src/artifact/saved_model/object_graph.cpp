// SavedObjectGraph and TrackableObjectGraph, which number the same objects.
#include "artifact/saved_model/object_graph.h"

#include "artifact/saved_model/function_definition.h"
#include "artifact/saved_model/names.h"
#include "artifact/saved_model/session_graph.h"

#include <set>

namespace torchere::artifact::saved_model {

namespace {

/// The numbers of the objects, which stand in this order.
struct Numbering {
  static constexpr size_t root = 0, variableList = 1, signatures = 2, firstFunction = 3;
  size_t functionCount;

  size_t function(size_t index) const { return firstFunction + 2 * index; }
  size_t signature(size_t index) const { return function(index) + 1; }
  size_t variable(size_t index) const { return firstFunction + 2 * functionCount + index; }
};

using Children = std::vector<std::pair<std::string, size_t>>;

} // namespace

/// The root has each function by its name, and the first as "f" as well.
static Children rootChildren(const Model &model, const Numbering &numbers) {
  Children children = {{"_variables", Numbering::variableList}, {"signatures", Numbering::signatures}};
  std::set<std::string_view> names;
  for (size_t index = 0; index < model.functions.size(); ++index)
    if (const std::string &name = model.functions[index].name; canBeAttribute(name)) {
      children.emplace_back(name, numbers.function(index));
      names.insert(name);
    }
  if (!names.contains("f"))
    children.emplace_back("f", numbers.function(0));
  return children;
}

static Children variableChildren(const Model &model, const Numbering &numbers) {
  Children children;
  for (size_t index = 0; index < model.variables.size(); ++index)
    children.emplace_back(std::to_string(index), numbers.variable(index));
  return children;
}

static Children signatureChildren(const Model &model, const Numbering &numbers) {
  Children children;
  for (size_t index = 0; index < model.functions.size(); ++index)
    children.emplace_back(model.functions[index].signatureKey, numbers.signature(index));
  return children;
}

/// An object with its children, which both graphs have as field 1.
static Message objectWith(const Children &children) {
  Message object;
  for (const auto &[name, number] : children)
    object.message(1, Message().number(1, static_cast<int64_t>(number)).text(2, name));
  return object;
}

// StructuredValues: Python values of tensors' types.

static Message none() {
  return Message().message(1, Message());
}
static Message textValue(std::string_view text) {
  return Message().text(13, text);
}
static Message tensorSpec(const std::string &name, const TensorType &type) {
  Message spec =
      Message().text(1, name).message(2, shapeMessage(type.shape)).number(3, static_cast<int>(type.dtype));
  return Message().message(33, spec);
}
static Message sequence(uint32_t field, const std::vector<Message> &values) {
  Message list;
  for (const Message &value : values)
    list.message(1, value);
  return Message().message(field, list);
}
static Message listValue(const std::vector<Message> &values) {
  return sequence(51, values);
}
static Message tupleValue(const std::vector<Message> &values) {
  return sequence(52, values);
}
template <class Tensor> static Message specTuple(const std::vector<Tensor> &tensors) {
  std::vector<Message> specs;
  for (const Tensor &tensor : tensors)
    specs.push_back(tensorSpec(tensor.name, tensor.type));
  return tupleValue(specs);
}
template <class Tensor> static Message specDict(const std::vector<Tensor> &tensors) {
  Message fields;
  for (size_t place : nameOrder(tensors))
    fields.entry(1, tensors[place].name, tensorSpec(tensors[place].name, tensors[place].type));
  return Message().message(53, fields);
}

/// A FunctionSpec of a Python function with these parameters.
static Message functionSpec(const std::vector<std::string> &positional,
                            const std::vector<std::string> &keywords, const Message &inputSignature) {
  auto names = [](const std::vector<std::string> &parameters) {
    std::vector<Message> values;
    for (const std::string &parameter : parameters)
      values.push_back(textValue(parameter));
    return listValue(values);
  };
  Message tuple;
  tuple.text(1, "FullArgSpec");
  auto add = [&](std::string_view field, const Message &value) { tuple.entry(2, field, value); };
  add("args", names(positional));
  add("varargs", none());
  add("varkw", none());
  add("defaults", none());
  add("kwonlyargs", names(keywords));
  add("kwonlydefaults", none());
  add("annotations", Message().message(53, Message()));
  return Message().message(1, Message().message(54, tuple)).message(5, inputSignature);
}

static std::vector<std::string> inputNames(const SavedFunction &function, bool inNameOrder) {
  std::vector<std::string> names;
  for (const InputTensor &input : function.inputs)
    names.push_back(input.name);
  if (inNameOrder)
    std::ranges::sort(names);
  return names;
}

static Message functionObject(const SavedFunction &function, size_t index) {
  Message spec = functionSpec(inputNames(function, false), {}, specTuple(function.inputs));
  return Message().message(6, Message().text(1, bodyName(function, index)).message(2, spec));
}

static Message signatureObject(const SavedFunction &function, size_t index) {
  std::vector<std::string> names = inputNames(function, true);
  Message bare;
  bare.text(1, wrapperName(index));
  for (const std::string &name : names)
    bare.text(2, name);
  return Message().message(8, bare.message(4, functionSpec({}, names, none())));
}

static Message variableObject(const Variable &variable) {
  return Message().message(7, Message()
                                  .number(1, static_cast<int>(variable.type.dtype))
                                  .message(2, shapeMessage(variable.type.shape))
                                  .text(6, variable.name));
}

static Message userObject(const Children &children, std::string_view identifier) {
  Message version = Message().number(1, 1).number(2, 1);
  return objectWith(children).message(4, Message().text(1, identifier).message(2, version));
}

/// A SavedConcreteFunction: the variables that it takes after its inputs, and its types as Python values.
static Message concreteFunction(const SavedFunction &function, const Numbering &numbers,
                                const Message &arguments, const Message &results) {
  std::vector<int64_t> bound;
  for (size_t variable : function.variables)
    bound.push_back(static_cast<int64_t>(numbers.variable(variable)));
  return Message().numbers(2, bound).message(3, arguments).message(4, results);
}

Message objectGraph(const Model &model) {
  Numbering numbers{model.functions.size()};
  Message graph;
  graph.message(1, userObject(rootChildren(model, numbers), "_generic_user_object"))
      .message(1, userObject(variableChildren(model, numbers), "trackable_list_wrapper"))
      .message(1, userObject(signatureChildren(model, numbers), "signature_map"));
  for (size_t index = 0; index < model.functions.size(); ++index)
    graph.message(1, functionObject(model.functions[index], index))
        .message(1, signatureObject(model.functions[index], index));
  for (const Variable &variable : model.variables)
    graph.message(1, variableObject(variable));
  Message noArguments = tupleValue({}), noKeywords = Message().message(53, Message());
  for (size_t index = 0; index < model.functions.size(); ++index) {
    const SavedFunction &function = model.functions[index];
    graph.entry(2, bodyName(function, index),
                concreteFunction(function, numbers, tupleValue({specTuple(function.inputs), noKeywords}),
                                 specTuple(function.outputs)));
    graph.entry(2, wrapperName(index),
                concreteFunction(function, numbers, tupleValue({noArguments, specDict(function.inputs)}),
                                 specDict(function.outputs)));
  }
  return graph;
}

Message checkpointObjectGraph(const Model &model) {
  Numbering numbers{model.functions.size()};
  Message graph;
  graph.message(1, objectWith(rootChildren(model, numbers)))
      .message(1, objectWith(variableChildren(model, numbers)))
      .message(1, objectWith(signatureChildren(model, numbers)));
  for (size_t count = 0; count < 2 * model.functions.size(); ++count)
    graph.message(1, Message());
  for (size_t index = 0; index < model.variables.size(); ++index) {
    Message value;
    value.text(1, "VARIABLE_VALUE").text(2, model.variables[index].name).text(3, checkpointKey(index));
    graph.message(1, Message().message(2, value));
  }
  return graph;
}

} // namespace torchere::artifact::saved_model
