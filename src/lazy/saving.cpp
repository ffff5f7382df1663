// A traced step as an artifact: its arguments are inputs, what it reads besides them are weights, and what it
// writes is state.
#include "lazy/saving.h"

#include "lazy/node.h"
#include "lazy/program_writer.h"
#include "runtime/buffer.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

namespace torchere::lazy {

namespace {

/// What a step takes and gives, as Python found it.
class StepWriter {
public:
  StepWriter(const SavedStep &step, const Graph &graph) : step(step), graph(graph) {
    for (uint32_t i = 0; i < graph.leaves.size(); ++i)
      leaves.emplace(arrayOf(graph.leaves[i]).get(), i);
  }

  Result<program::Program> write() {
    for (size_t i = 0; i < step.weights.size(); ++i)
      TORCHERE_TRY(addWeight(i));
    std::vector<ProgramInput> arguments;
    for (size_t i = 0; i < step.arguments.size(); ++i)
      arguments.push_back(argument(i));
    for (uint32_t leaf = 0; leaf < graph.leaves.size(); ++leaf)
      if (!taken.contains(leaf))
        TORCHERE_TRY(addConstant(leaf));
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    addOutputs();
    TORCHERE_ASSIGN(program::Program program, writeProgram(graph, inputs, outputs));
    program.stateDict = std::move(stateDict);
    program.constants = std::move(constants);
    program.inputTree = step.inputTree;
    program.outputTree = step.outputTree;
    program.argumentNames = step.argumentNames;
    return program;
  }

private:
  static const session::DeviceTensor &arrayOf(const Leaf &leaf) { return leaf.node->arrays[leaf.result]; }

  std::vector<uint32_t> leavesOf(const std::vector<session::DeviceTensor> &arrays) {
    std::vector<uint32_t> numbers;
    for (const session::DeviceTensor &array : arrays)
      if (auto found = leaves.find(array.get()); found != leaves.end())
        if (taken.insert(found->second).second)
          numbers.push_back(found->second);
    return numbers;
  }

  Status addWeight(size_t index) {
    const SavedWeight &weight = step.weights[index];
    ProgramInput input;
    input.spec.kind = weight.isParameter ? program::InputKind::Parameter : program::InputKind::Buffer;
    input.spec.name = fmt::format("weight.{}", index);
    input.spec.target = weight.name;
    input.leaves = leavesOf(weight.arrays);
    input.type = weight.type;
    inputs.push_back(std::move(input));
    TORCHERE_ASSIGN(stateDict[weight.name], onHost(weight.name, weight.arrays.front(), *weight.type));
    return {};
  }

  ProgramInput argument(size_t index) {
    const SavedArgument &given = step.arguments[index];
    ProgramInput input;
    input.spec.name = given.name;
    if (given.array) {
      input.leaves = leavesOf({given.array});
      input.type = given.type;
    } else {
      input.spec.constant = given.constant;
    }
    return input;
  }

  /// An array that the step reads and that has no name: a number, or a tensor made in the step on the host.
  Status addConstant(uint32_t leaf) {
    ProgramInput input;
    input.spec.kind = program::InputKind::ConstantTensor;
    input.spec.name = input.spec.target = fmt::format("constant.{}", constants.size());
    input.leaves = {leaf};
    TORCHERE_ASSIGN(constants[input.spec.target],
                    onHost(input.spec.target, arrayOf(graph.leaves[leaf]), *graph.leaves[leaf].type));
    inputs.push_back(std::move(input));
    return {};
  }

  static Result<program::Weight> onHost(const std::string &name, const session::DeviceTensor &array,
                                        const TensorType &type) {
    TORCHERE_ASSIGN(runtime::HostArray host, runtime::Buffer::toHost(array));
    program::Weight weight;
    weight.name = name;
    TORCHERE_ASSIGN(weight.dtype, programDType(type.dtype));
    weight.shape = type.sizes;
    int64_t stride = 1;
    weight.strides.resize(type.sizes.size());
    for (size_t i = type.sizes.size(); i-- > 0; stride *= std::max<int64_t>(type.sizes[i], 1))
      weight.strides[i] = stride;
    auto storage = std::make_shared<program::Storage>();
    storage->data = static_cast<const std::byte *>(host.data);
    storage->byteSize = static_cast<size_t>(weight.elementCount()) * byteSize(weight.dtype);
    storage->owner = host.owner;
    weight.storage = std::move(storage);
    return weight;
  }

  /// The graph's outputs are the written values, then the results.
  void addOutputs() {
    for (const SavedWrite &write : step.writes) {
      program::OutputSpec output;
      output.value = {program::NotGiven{}};
      if (write.isArgument) {
        output.kind = program::OutputKind::UserInputMutation;
        output.target = step.arguments[write.index].name;
      } else {
        const SavedWeight &weight = step.weights[write.index];
        output.kind =
            weight.isParameter ? program::OutputKind::ParameterMutation : program::OutputKind::BufferMutation;
        output.target = weight.name;
      }
      outputs.push_back(std::move(output));
    }
    for (const program::Argument &result : step.results) {
      program::OutputSpec output;
      output.value = result;
      outputs.push_back(std::move(output));
    }
  }

  const SavedStep &step;
  const Graph &graph;
  std::unordered_map<const void *, uint32_t> leaves; ///< by array
  std::set<uint32_t> taken;
  std::vector<ProgramInput> inputs;
  std::vector<program::OutputSpec> outputs;
  std::unordered_map<std::string, program::Weight> stateDict, constants;
};

} // namespace

Result<program::Program> writeStep(const SavedStep &step, const Graph &graph) {
  return StepWriter(step, graph).write();
}

} // namespace torchere::lazy
