// functionalize(): each graph for itself, then what the main graph has written as outputs.
#include "functionalization/functionalization.h"

#include "functionalization/graph_rewriter.h"
#include "program/weight_memory.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace torchere::functionalization {

using namespace program;

namespace {

/// Whether some op writes, or is one that the pass replaces.
bool needsRewriting(const Program &program) {
  std::unordered_set<const Op *> seen;
  auto isConcerned = [&](const Node &node) {
    return node.kind == NodeKind::Call && seen.insert(node.callee).second && node.callee->schema &&
           functionalForm(node.callee->name, *node.callee->schema).kind != FormKind::Kept;
  };
  auto holdsOne = [&](const Graph &graph) { return std::ranges::any_of(graph.nodes, isConcerned); };
  return holdsOne(program.graph) || std::ranges::any_of(program.subgraphs, holdsOne);
}

bool isState(const InputSpec &input) {
  return input.kind == InputKind::Parameter || input.kind == InputKind::Buffer;
}

/// Null for what is no weight.
const Weight *findWeight(const Program &program, const InputSpec &input) {
  if (!isState(input) && input.kind != InputKind::ConstantTensor)
    return nullptr;
  if (input.kind != InputKind::ConstantTensor)
    if (auto found = program.stateDict.find(input.target); found != program.stateDict.end())
      return &found->second;
  auto found = program.constants.find(input.target);
  return found == program.constants.end() ? nullptr : &found->second;
}

/// For each placeholder the one that has the same memory, in the same order: of names of one tensor (tied
/// weights, a buffer that was captured as a constant as well, a view of all of one in other sizes) the first
/// that is a parameter or a buffer.
std::vector<NodeId> findTies(const Program &program) {
  std::vector<NodeId> ties(program.inputs.size());
  std::iota(ties.begin(), ties.end(), 0);
  using View =
      std::tuple<std::pair<const void *, int64_t>, DType, std::vector<int64_t>, std::vector<int64_t>>;
  std::map<View, NodeId> first;
  for (bool wantsState : {true, false})
    for (NodeId i = 0; i < ties.size(); ++i) {
      const Weight *weight = findWeight(program, program.inputs[i]);
      if (isState(program.inputs[i]) != wantsState || !weight || weight->elementCount() == 0)
        continue;
      View view = {placeOf(*weight), weight->dtype, weight->shape, weight->strides};
      if (weight->isContiguous())
        view = {placeOf(*weight), weight->dtype, {weight->elementCount()}, {1}};
      ties[i] = first.try_emplace(std::move(view), i).first->second;
    }
  return ties;
}

/// The bytes of a weight's storage from its first element to its last.
std::pair<int64_t, int64_t> extentOf(const Weight &weight) {
  int64_t last = weight.storageOffset;
  for (size_t i = 0; i < weight.shape.size(); ++i)
    last += (weight.shape[i] - 1) * weight.strides[i];
  auto size = static_cast<int64_t>(byteSize(weight.dtype));
  return {weight.storageOffset * size, (last + 1) * size};
}

class ProgramRewriter {
public:
  explicit ProgramRewriter(Program &program) : program(program), ties(findTies(program)) {}

  Status run() {
    rewriters.emplace_back(program, program.graph, ties);
    for (const Graph &graph : program.subgraphs)
      rewriters.emplace_back(program, graph);
    for (GraphRewriter &rewriter : rewriters)
      TORCHERE_TRY(rewriter.run());
    TORCHERE_TRY(collectMutations());
    commit();
    return {};
  }

private:
  Status collectMutations() {
    for (NodeId i = 0; i < program.inputs.size(); ++i) {
      const InputSpec &input = program.inputs[i];
      std::optional<NodeId> value = rewriters.front().newValueOf(i);
      if (!value || (ties[i] != i && !isState(input))) // a state is written under each of its names
        continue;
      TORCHERE_TRY(checkSeparate(i));
      OutputSpec mutation{OutputKind::BufferMutation, {NodeReference{*value}}, input.target};
      if (input.kind == InputKind::Parameter)
        mutation.kind = OutputKind::ParameterMutation;
      if (input.kind == InputKind::UserInput) {
        mutation.kind = OutputKind::UserInputMutation;
        mutation.target = input.name;
      }
      if (input.kind == InputKind::ConstantTensor)
        written.push_back(i);
      mutations.push_back(std::move(mutation));
    }
    return {};
  }

  /// Weights that share a part of what is written cannot follow.
  Status checkSeparate(NodeId writtenInput) {
    const Weight *weight = findWeight(program, program.inputs[writtenInput]);
    if (!weight || weight->elementCount() == 0)
      return {};
    if (byStorage.empty())
      for (NodeId i = 0; i < program.inputs.size(); ++i)
        if (const Weight *other = findWeight(program, program.inputs[i]); other && other->elementCount() > 0)
          byStorage[memoryOf(*other->storage)].push_back(i);
    auto [begin, end] = extentOf(*weight);
    for (NodeId i : byStorage[memoryOf(*weight->storage)]) {
      auto [otherBegin, otherEnd] = extentOf(*findWeight(program, program.inputs[i]));
      if (ties[i] == ties[writtenInput] || begin >= otherEnd || otherBegin >= end)
        continue;
      return tl::unexpected(
          Error{ErrorCode::Unimplemented,
                fmt::format("[{}] is written and shares memory with '{}': expected weights of their own "
                            "memory, or of all of one in its order",
                            program.inputs[writtenInput].target, program.inputs[i].target),
                rewriters.front().placeOfWrite(writtenInput)});
    }
    return {};
  }

  void commit() {
    for (NodeId i : written) {
      program.inputs[i].kind = InputKind::Buffer;
      program.inputs[i].persistent = false;
    }
    for (OutputSpec &output : program.outputs) {
      output.value = rewriters.front().mapArgument(output.value);
      mutations.push_back(std::move(output));
    }
    program.outputs = std::move(mutations);
    std::vector<std::vector<Argument>> outputs(rewriters.size());
    for (const OutputSpec &output : program.outputs)
      outputs[0].push_back(output.value);
    for (size_t i = 0; i < program.subgraphs.size(); ++i)
      for (const Argument &output : program.subgraphs[i].outputs)
        outputs[i + 1].push_back(rewriters[i + 1].mapArgument(output));
    for (size_t i = 0; i < rewriters.size(); ++i) {
      Graph &graph = i == 0 ? program.graph : program.subgraphs[i - 1];
      graph.outputs = std::move(outputs[i]);
      graph.nodes = rewriters[i].takeNodes();
    }
  }

  Program &program;
  std::vector<NodeId> ties;
  std::deque<GraphRewriter> rewriters; ///< of the main graph, then of the subgraphs
  std::vector<OutputSpec> mutations;
  std::vector<NodeId> written; ///< constants
  std::unordered_map<const void *, std::vector<NodeId>> byStorage;
};

Status verifyFunctional(const Program &program) {
  auto verifyGraph = [&](const Graph &graph) -> Status {
    for (const Node &node : graph.nodes)
      if (node.kind == NodeKind::Call && node.callee->schema && writes(*node.callee->schema) &&
          functionalForm(node.op(), *node.callee->schema).kind != FormKind::Kept)
        return tl::unexpected(
            Error{ErrorCode::Internal,
                  fmt::format("[{}] still writes to an argument: expected a functional op", node.op()),
                  program.place(node)});
    return {};
  };
  TORCHERE_TRY(verifyGraph(program.graph));
  for (const Graph &graph : program.subgraphs)
    TORCHERE_TRY(verifyGraph(graph));
  return {};
}

} // namespace

Status functionalize(Program &program) {
  if (!needsRewriting(program))
    return {};
  TORCHERE_TRY(ProgramRewriter(program).run());
  return verifyFunctional(program);
}

} // namespace torchere::functionalization
