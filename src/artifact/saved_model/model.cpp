// Implements modelOf: which weights are variables, and what each argument, result and output is.
#include "artifact/saved_model/model.h"

#include "artifact/bundle_contents.h"
#include "artifact/function_module.h"
#include "artifact/saved_model/names.h"
#include "artifact/weight_data.h"
#include "passes/compatibility/tensorflow_form.h"
#include "program/weight_memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace torchere::artifact::saved_model {

using namespace program;
using passes::MainType;

namespace {

/// The variables of all functions.
class VariableTable {
public:
  VariableTable(const Bundle &bundle, Model &model) : bundle(bundle), model(model) {}

  /// Sorted by name: the bundle's own order is that of a hash table.
  Status addAll() {
    std::set<std::string> names;
    std::set<size_t> constants;
    for (const Function &function : bundle.functions) {
      for (const EntryInput &input : function.entryPoint.inputs)
        if (input.source == InputSource::Constant)
          constants.insert(static_cast<size_t>(input.position));
        else if (input.source != InputSource::UserInput)
          names.insert(input.name);
      for (const EntryOutput &output : function.entryPoint.outputs)
        if (isState(output))
          names.insert(output.target);
    }
    for (const std::string &name : names)
      TORCHERE_TRY(addWeight(name));
    for (size_t index : constants) {
      const Weight &constant = bundle.constants[index];
      ofConstants[index] = model.variables.size();
      TORCHERE_TRY(add(constantVariableName(index), constant, constant.name));
    }
    return {};
  }

  size_t of(const EntryInput &input) const {
    return input.source == InputSource::Constant ? ofConstants.at(static_cast<size_t>(input.position))
                                                 : ofWeights.at(input.name);
  }
  size_t of(const EntryOutput &output) const { return ofWeights.at(output.target); }

  const Weight &weight(const EntryOutput &output) const { return bundle.stateDict.at(output.target); }

  static bool isState(const EntryOutput &output) {
    return output.destination == OutputDestination::Buffer ||
           output.destination == OutputDestination::Parameter;
  }

private:
  /// Tied weights are one variable.
  Status addWeight(const std::string &name) {
    auto found = bundle.stateDict.find(name);
    if (found == bundle.stateDict.end())
      return fail(ErrorCode::NotFound, "[{}] the weight is missing: the program was saved without it", name);
    const Weight &weight = found->second;
    size_t index = model.variables.size();
    if (weight.elementCount() > 0)
      index = byView.emplace(viewOf(weight), index).first->second;
    ofWeights[name] = index;
    return index < model.variables.size() ? Status() : add(encodedName(name), weight, name);
  }

  Status add(std::string encoded, const Weight &weight, const std::string &name) {
    TORCHERE_TRY(checkHasData(weight, name));
    TORCHERE_ASSIGN(DataType dtype, dataTypeOf(weight.dtype, name));
    model.variables.push_back({std::move(encoded), {dtype, weight.shape}, &weight});
    return {};
  }

  const Bundle &bundle;
  Model &model;
  std::map<View, size_t> byView;
  std::map<std::string, size_t, std::less<>> ofWeights;
  std::map<size_t, size_t> ofConstants;
};

} // namespace

static std::string mainTypeText(std::string_view elementType, const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += size < 0 ? "?x" : fmt::format("{}x", size);
  return fmt::format("{}{}>", text, elementType);
}

/// TensorFlow takes the types that it is told for granted, and would read the bits of others.
static Status checkType(const TensorSignature &type, const MainType &main, std::string_view function,
                        std::string_view what, size_t index) {
  std::vector<int64_t> shape = knownSizes(type.shape);
  std::string_view element = dtypeInfo(type.dtype).mlirName;
  bool fits = main.elementType == element && shape.size() == main.shape.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis)
    fits = shape[axis] < 0 || main.shape[axis] < 0 || shape[axis] == main.shape[axis];
  if (fits)
    return {};
  return invalidArgument("[{}] {} {} of the module is of another type than its description says: got {}, "
                         "expected {}",
                         function, what, index, mainTypeText(main.elementType, main.shape),
                         mainTypeText(element, shape));
}

static Status checkTypes(const EntryPoint &entry, const passes::TensorFlowForm &form) {
  auto checkCount = [&](std::string_view what, size_t got, size_t expected) {
    return got == expected
               ? Status()
               : invalidArgument("[{}] the module has {} {}, expected {}", entry.name, got, what, expected);
  };
  TORCHERE_TRY(checkCount("arguments", form.arguments.size(), entry.inputs.size()));
  TORCHERE_TRY(checkCount("results", form.results.size(), entry.outputs.size()));
  for (size_t index = 0; index < entry.inputs.size(); ++index)
    TORCHERE_TRY(checkType(entry.inputs[index].type, form.arguments[index], entry.name, "argument", index));
  for (size_t index = 0; index < entry.outputs.size(); ++index)
    TORCHERE_TRY(checkType(entry.outputs[index].type, form.results[index], entry.name, "result", index));
  return {};
}

/// The type of a Python number or string as an argument: what PyTorch/XLA's SavedModels take for it.
static std::optional<TensorType> argumentType(const Constant &value) {
  if (auto *number = value.as<int64_t>()) {
    bool fits =
        *number >= std::numeric_limits<int32_t>::min() && *number <= std::numeric_limits<int32_t>::max();
    return TensorType{fits ? DataType::Int32 : DataType::Int64, {}};
  }
  if (value.as<double>())
    return TensorType{DataType::Float, {}};
  if (value.as<bool>())
    return TensorType{DataType::Bool, {}};
  if (value.as<std::string>())
    return TensorType{DataType::String, {}};
  return std::nullopt; // None, a dtype, a device: nothing that a tensor could hold
}

/// The type of one that is returned: that of torch's tensor of the number.
static std::optional<TensorType> resultType(const Constant &value) {
  std::optional<TensorType> type = argumentType(value);
  if (type && value.as<int64_t>())
    type->dtype = DataType::Int64;
  if (type && value.as<double>())
    type->dtype = DataType::Double;
  return type;
}

namespace {

/// Describes one function.
class FunctionModel {
public:
  FunctionModel(const EntryPoint &entry, const VariableTable &table) : entry(entry), table(table) {}

  Result<SavedFunction> make() {
    made.name = entry.name;
    TORCHERE_TRY(addInputs());
    TORCHERE_TRY(addArguments());
    TORCHERE_TRY(addOutputs());
    return std::move(made);
  }

private:
  Status addInputs() {
    std::map<int64_t, InputTensor> byPosition;
    for (const auto *inputs : {&entry.inputs, &entry.unusedInputs})
      for (const EntryInput &input : *inputs)
        if (input.source == InputSource::UserInput) {
          TORCHERE_ASSIGN(DataType dtype, dataTypeOf(input.type.dtype, input.name));
          byPosition[input.position] = {nameOf(input.position), {dtype, knownSizes(input.type.shape)}};
        }
    for (const ConstantInput &input : entry.constantInputs)
      if (std::optional<TensorType> type = argumentType(input.value))
        byPosition[input.position] = {nameOf(input.position), *type, input.value};
    for (auto &[position, input] : byPosition) {
      ofPositions[position] = made.inputs.size();
      made.inputs.push_back(std::move(input));
    }
    return {};
  }

  Status addArguments() {
    for (const EntryInput &input : entry.inputs)
      if (input.source == InputSource::UserInput)
        made.arguments.push_back({false, ofPositions.at(input.position)});
      else
        made.arguments.push_back({true, use(table.of(input))});
    return {};
  }

  Status addOutputs() {
    std::map<int64_t, OutputTensor> byPosition;
    std::vector<OutputTensor> written;
    for (size_t index = 0; index < entry.outputs.size(); ++index) {
      const EntryOutput &output = entry.outputs[index];
      TORCHERE_ASSIGN(DataType dtype, dataTypeOf(output.type.dtype, output.name));
      TensorType type{dtype, knownSizes(output.type.shape)};
      made.results.push_back(type);
      if (VariableTable::isState(output)) {
        TORCHERE_TRY(checkState(output));
        made.assignments.push_back({use(table.of(output)), index});
      } else if (output.destination == OutputDestination::Check)
        continue; // TensorFlow's function leaves the status out
      else if (output.destination == OutputDestination::UserInput)
        written.push_back({nameOf(output.position) + "_after", type, ResultIndex{index}});
      else
        byPosition[output.position] = {fmt::format("output_{}", output.position), type, ResultIndex{index}};
    }
    for (const ConstantOutput &output : entry.constantOutputs)
      if (std::optional<TensorType> type = resultType(output.value))
        byPosition[output.position] = {fmt::format("output_{}", output.position), *type, output.value};
    for (auto &[position, output] : byPosition)
      made.outputs.push_back(std::move(output));
    std::ranges::move(written, std::back_inserter(made.outputs));
    return {};
  }

  /// TensorFlow would let the variable take another shape.
  Status checkState(const EntryOutput &output) const {
    if (isOfType(table.weight(output), output.type))
      return {};
    return invalidArgument("[{}] function \"{}\" writes another type than the weight has: got {} {}",
                           output.target, entry.name, dtypeInfo(output.type.dtype).torchName,
                           shapeText(output.type.shape, entry.expressions));
  }

  static std::string nameOf(int64_t position) { return fmt::format("args_{}", position); }

  size_t use(size_t variable) {
    auto [place, isNew] = ofVariables.emplace(variable, made.variables.size());
    if (isNew)
      made.variables.push_back(variable);
    return place->second;
  }

  const EntryPoint &entry;
  const VariableTable &table;
  SavedFunction made;
  std::map<int64_t, size_t> ofPositions;
  std::map<size_t, size_t> ofVariables;
};

} // namespace

static Result<passes::TensorFlowForm> formOf(const Function &function) {
  TORCHERE_ASSIGN(auto shared, readModule(function));
  return shared->read([&](const stablehlo::Module &module) {
    return passes::tensorFlowForm(module, function.entryPoint.name);
  });
}

Result<Model> modelOf(const Bundle &bundle, std::string_view servingKey, std::string_view functionAlias) {
  TORCHERE_TRY(verifyContents(bundle));
  if (!functionAlias.empty())
    TORCHERE_TRY(checkText(functionAlias, "function_alias"));
  Model model;
  model.functionAlias = functionAlias;
  VariableTable table(bundle, model);
  TORCHERE_TRY(table.addAll());
  std::set<std::string> keys;
  for (const Function &function : bundle.functions) {
    const EntryPoint &entry = function.entryPoint;
    TORCHERE_ASSIGN(passes::TensorFlowForm form, formOf(function));
    TORCHERE_TRY(checkTypes(entry, form));
    TORCHERE_ASSIGN(SavedFunction made, FunctionModel(entry, table).make());
    made.signatureKey = model.functions.empty() ? std::string(servingKey) : entry.name;
    TORCHERE_TRY(checkSignatureKey(made.signatureKey));
    if (!keys.insert(made.signatureKey).second)
      return invalidArgument("[serving_key] two functions have the key \"{}\": expected one that no other "
                             "function has as its name",
                             made.signatureKey);
    made.module = std::move(form.bytecode);
    model.functions.push_back(std::move(made));
  }
  return model;
}

} // namespace torchere::artifact::saved_model
