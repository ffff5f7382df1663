// From a program's input and output specs to an entry point.
#include "exporter/signature.h"

#include "exporter/coverage.h"
#include "exporter/uniform_quantization.h"
#include "program/initial_generator.h"
#include "program/weight_memory.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace torchere::exporter {

using program::EntryInput;
using program::EntryOutput;
using program::InputKind;
using program::InputSource;
using program::OutputDestination;
using program::OutputKind;

namespace {

/// Fills the type from a node's; false when it is neither a tensor nor an int.
bool setType(EntryInput &input, const program::Type &type) {
  if (const auto *tensor = type.as<program::TensorType>()) {
    input.type = {tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}};
    return true;
  }
  const auto *integer = type.as<program::SymIntType>();
  input.isSymInt = integer != nullptr;
  input.type = {DType::I64, {}};
  if (integer)
    input.value = integer->value;
  return input.isSymInt;
}

/// The same of an output, which may be a number of any kind.
bool setType(EntryOutput &output, const program::Type &type) {
  if (const auto *tensor = type.as<program::TensorType>()) {
    output.type = {tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}};
    return true;
  }
  std::optional<DType> number = program::numberDType(type);
  output.isNumber = number.has_value();
  output.type = {number.value_or(DType::I64), {}};
  return output.isNumber;
}

const program::Weight *findWeight(const program::Program &program, const program::InputSpec &spec) {
  const auto &weights = spec.kind == InputKind::ConstantTensor ? program.constants : program.stateDict;
  if (auto found = weights.find(spec.target); found != weights.end())
    return &found->second;
  // Non-persistent buffers are stored with the constants.
  auto found = program.constants.find(spec.target);
  return found == program.constants.end() ? nullptr : &found->second;
}

class Planner {
public:
  Planner(const program::Program &program, const Options &options) : program(program), options(options) {}

  Result<SignaturePlan> plan() {
    for (const program::OutputSpec &output : program.outputs)
      mutated.insert(output.target);
    for (size_t i = 0; i < program.inputs.size(); ++i)
      TORCHERE_TRY(addInput(static_cast<program::NodeId>(i), program.inputs[i]));
    TORCHERE_TRY(addGenerator());
    std::stable_sort(result.inputs.begin(), result.inputs.end(), [](const auto &a, const auto &b) {
      return rank(a.entry.source) < rank(b.entry.source);
    });
    for (const program::OutputSpec &output : program.outputs)
      TORCHERE_TRY(addOutput(output));
    fillEntryPoint();
    return std::move(result);
  }

private:
  static int rank(InputSource source) {
    switch (source) {
    case InputSource::Parameter:
      return 0;
    case InputSource::Buffer:
      return 1;
    case InputSource::Constant:
      return 2;
    case InputSource::UserInput:
      return 3;
    }
    return 3;
  }

  Status addInput(program::NodeId node, const program::InputSpec &spec) {
    if (spec.kind == InputKind::UserInput) {
      userPositions[spec.name] = userInputs;
      if (spec.constant) {
        result.entryPoint.constantInputs.push_back({spec.name, userInputs++, *spec.constant});
        return {};
      }
    }
    if (spec.kind == InputKind::CustomObject)
      return tl::unexpected(customObject(node, spec.name));
    PlannedInput input{node, {}, nullptr};
    input.entry.name = spec.target.empty() ? spec.name : spec.target;
    if (!setType(input.entry, program.graph.nodes[node].type))
      return fail(ErrorCode::Unimplemented,
                  "[export] input '{}' cannot be an argument: expected a tensor or an int", spec.name);
    if (spec.kind == InputKind::UserInput && input.entry.type.dtype == DType::C32)
      return tl::unexpected(halfComplex("export", fmt::format("complex32 for input '{}'", input.entry.name)));
    input.entry.isPersistent = spec.persistent;
    TORCHERE_TRY(setSource(input, spec));
    result.inputs.push_back(std::move(input));
    return {};
  }

  /// Lowering decides whether the program needs it.
  Status addGenerator() {
    std::string name(program::generatorBuffer);
    if (program.stateDict.contains(name) || program.constants.contains(name))
      return invalidArgument("[{}] the name is reserved for the state of the random numbers", name);
    PlannedInput input{0, {}, &program::initialGenerator(), false, /*isGenerator=*/true};
    input.entry.source = InputSource::Buffer;
    input.entry.name = std::move(name);
    input.entry.type = {DType::I64, {2}};
    result.inputs.push_back(std::move(input));
    return {};
  }

  /// An object of torch's that is no tensor. Of a generator the error names the op that takes it.
  Error customObject(program::NodeId input, const std::string &name) const {
    for (const program::Node &node : program.graph.nodes)
      for (auto [argument, value] : node.given()) {
        bool isTaken = false;
        forEachReference(value, [&](program::NodeId taken) { isTaken |= taken == input; });
        if (isTaken && argument == "generator")
          return {
              ErrorCode::Unimplemented,
              fmt::format("[{}] a generator of the call's own is not supported: got '{}', expected None, for "
                          "the program's (program.manual_seed)",
                          node.op(), name),
              program.place(node)};
      }
    return {ErrorCode::Unimplemented,
            fmt::format("[export] input '{}' is a custom object: expected a tensor or an int", name),
            {}};
  }

  Status setSource(PlannedInput &input, const program::InputSpec &spec) {
    switch (spec.kind) {
    case InputKind::UserInput:
      input.entry.source = InputSource::UserInput;
      input.entry.position = userInputs++;
      return {};
    case InputKind::Parameter:
      input.entry.source = InputSource::Parameter;
      return setWeight(input, spec);
    case InputKind::Buffer:
      input.entry.source = InputSource::Buffer;
      return setWeight(input, spec);
    case InputKind::ConstantTensor:
      input.entry.source = InputSource::Constant;
      return setWeight(input, spec);
    case InputKind::CustomObject:
    case InputKind::Token:
      break;
    }
    return fail(ErrorCode::Unimplemented, "[export] input '{}' is a token: expected a tensor or an int",
                spec.name);
  }

  Status setWeight(PlannedInput &input, const program::InputSpec &spec) {
    input.weight = findWeight(program, spec);
    if (!input.weight)
      return invalidArgument("[export] '{}' has no value in the program", spec.target);
    bool isInType = options.quantizedTypes && hasData(*input.weight) && !mutated.contains(spec.target) &&
                    isQuantizationParameter(program.graph, input.node);
    input.isInlined = isInType;
    if (spec.kind != InputKind::ConstantTensor) {
      result.stateDict.try_emplace(spec.target, *input.weight).first->second.name = spec.target;
      return {};
    }
    auto bytes = input.weight->elementCount() * static_cast<int64_t>(byteSize(input.weight->dtype));
    input.isInlined = isInType || (bytes <= options.inlineConstantBytes && hasData(*input.weight) &&
                                   !mutated.contains(spec.target));
    return {};
  }

  Status addOutput(const program::OutputSpec &spec) {
    EntryOutput entry;
    bool isUser = spec.kind == OutputKind::UserOutput || spec.kind == OutputKind::LossOutput;
    if (isUser)
      entry.position = userOutputs++;
    const auto *reference = spec.value.as<program::NodeReference>();
    if (!reference) {
      if (!isUser)
        return fail(ErrorCode::Unimplemented, "[export] the new value of '{}' is not computed by the program",
                    spec.target);
      std::optional<program::Constant> constant = spec.value.constant();
      if (!constant)
        return fail(ErrorCode::Unimplemented,
                    "[export] output {} holds values inside: expected a tensor or a constant",
                    entry.position);
      result.entryPoint.constantOutputs.push_back({entry.position, *std::move(constant)});
      return {};
    }
    TORCHERE_TRY(setDestination(entry, spec));
    const program::Node &node = program.graph.nodes[reference->node];
    entry.name = std::string(node.name());
    entry.target = spec.target;
    if (!setType(entry, node.type))
      return fail(ErrorCode::Unimplemented,
                  "[export] output '{}' cannot be a result: expected a tensor or a number", node.name());
    if (node.kind == program::NodeKind::Placeholder && entry.type.dtype == DType::C32)
      return tl::unexpected(halfComplex("export", fmt::format("complex32 for output '{}'", entry.name)));
    result.outputs.push_back({&spec.value, std::move(entry)});
    return {};
  }

  Status setDestination(EntryOutput &entry, const program::OutputSpec &spec) {
    switch (spec.kind) {
    case OutputKind::UserOutput:
    case OutputKind::LossOutput:
      entry.destination = OutputDestination::UserOutput;
      return {};
    case OutputKind::BufferMutation:
      entry.destination = OutputDestination::Buffer;
      return {};
    case OutputKind::ParameterMutation:
      entry.destination = OutputDestination::Parameter;
      return {};
    case OutputKind::UserInputMutation: {
      entry.destination = OutputDestination::UserInput;
      auto found = userPositions.find(spec.target);
      if (found == userPositions.end())
        return fail(ErrorCode::InvalidArgument, "[export] output writes to '{}', which is no user input",
                    spec.target);
      entry.position = found->second;
      return {};
    }
    case OutputKind::GradientToParameter:
    case OutputKind::GradientToUserInput:
    case OutputKind::Token:
      break;
    }
    return fail(ErrorCode::Unimplemented,
                "[export] output of '{}' is a gradient or a token: expected a user output or "
                "a mutation",
                spec.target);
  }

  void fillEntryPoint() {
    program::EntryPoint &entryPoint = result.entryPoint;
    entryPoint.name = options.name;
    entryPoint.userInputCount = userInputs;
    entryPoint.userOutputCount = userOutputs;
    entryPoint.expressions = program.expressions.renamed(program.dimensionNames);
    entryPoint.rangeConstraints = program.rangeConstraints;
    entryPoint.inputTree = program.inputTree;
    entryPoint.outputTree = program.outputTree;
    entryPoint.argumentNames = program.argumentNames;
    for (const auto &[name, weight] : program.stateDict)
      result.stateDict.try_emplace(name, weight);
  }

  const program::Program &program;
  const Options &options;
  SignaturePlan result;
  std::unordered_set<std::string> mutated;
  std::unordered_map<std::string, int64_t> userPositions;
  int64_t userInputs = 0;
  int64_t userOutputs = 0;
};

} // namespace

Result<SignaturePlan> planSignature(const program::Program &program, const Options &options) {
  return Planner(program, options).plan();
}

} // namespace torchere::exporter
