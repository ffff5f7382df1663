// Program::verify: the invariants that every consumer of a program may rely on.
#include "program/program.h"

#include <algorithm>

namespace torchere::program {

class ProgramVerifier {
public:
  explicit ProgramVerifier(const Program &program) : program(program) {}

  Status verify() {
    TORCHERE_TRY(verifyGraph(program.graph, 0));
    for (size_t i = 0; i < program.subgraphs.size(); ++i)
      TORCHERE_TRY(verifyGraph(program.subgraphs[i], i + 1));
    TORCHERE_TRY(verifyInputs());
    TORCHERE_TRY(verifyOutputs());
    for (const auto *weights : {&program.stateDict, &program.constants})
      for (const auto &[name, weight] : *weights)
        TORCHERE_TRY(verifyWeight(name, weight));
    return {};
  }

private:
  /// `firstChild` is the smallest index that a child may have; children come after their parents, so graphs
  /// form a tree.
  Status verifyGraph(const Graph &graph, size_t firstChild) {
    bool placeholdersDone = false;
    for (NodeId i = 0; i < graph.nodes.size(); ++i) {
      const Node &node = graph.nodes[i];
      placeholdersDone |= node.kind != NodeKind::Placeholder;
      if (placeholdersDone && node.kind == NodeKind::Placeholder)
        return invalidArgument("[{}] a placeholder after other nodes: got node {}, expected all before",
                               node.name(), i);
      if (node.stackTrace() >= program.stackTraces.size() ||
          node.moduleStack() >= program.moduleStacks.size())
        return invalidArgument("[{}] unknown stack: got trace {} and modules {}, expected below {} and {}",
                               node.name(), node.stackTrace(), node.moduleStack(), program.stackTraces.size(),
                               program.moduleStacks.size());
      if (node.kind != NodeKind::Placeholder && !node.callee)
        return invalidArgument("[{}] a node that calls nothing: got no op", graph.nameOf(i));
      TORCHERE_TRY(verifyArguments(node, i));
      if (node.kind == NodeKind::GetAttr && !namesChild(graph, node))
        return invalidArgument("[{}] names no graph: expected one of the {} that '{}' holds", node.name(),
                               graph.children.size(), graph.name);
      TORCHERE_TRY(verifyType(node.type, node.name()));
    }
    for (const Argument &output : graph.outputs)
      TORCHERE_TRY(verifyArgument(output, graph.nodes.size(), graph.name, "output"));
    for (uint32_t child : graph.children)
      if (child < firstChild || child >= program.subgraphs.size())
        return invalidArgument("[{}] unknown child graph: got {}, expected {} to {}", graph.name, child,
                               firstChild, program.subgraphs.size());
    return {};
  }

  /// A node may use only subgraphs of its own graph, so that nesting ends.
  static bool namesChild(const Graph &graph, const Node &node) {
    const auto *child = node.arguments.size() == 1 ? node.arguments[0].as<GraphReference>() : nullptr;
    return child &&
           std::find(graph.children.begin(), graph.children.end(), child->index) != graph.children.end();
  }

  Status verifyArguments(const Node &node, size_t before) {
    size_t known = node.callee ? node.callee->argumentNames.size() : 0;
    if (node.arguments.size() > known)
      return invalidArgument("[{}] too many arguments: got {}, expected at most {}", node.name(),
                             node.arguments.size(), known);
    for (const NamedArgument &argument : node.given())
      TORCHERE_TRY(verifyArgument(argument.value, before, node.name(), argument.name));
    if (!node.label)
      return {};
    for (uint16_t position : node.label->keywords)
      if (position >= node.arguments.size())
        return invalidArgument("[{}] unknown keyword: got position {}, expected below {}", node.name(),
                               position, node.arguments.size());
    return {};
  }

  Status verifyArgument(const Argument &argument, size_t before, std::string_view subject,
                        std::string_view name) {
    if (const auto *reference = argument.as<NodeReference>(); reference && reference->node >= before)
      return invalidArgument("[{}] argument '{}' is not computed yet: got node {}, expected one below {}",
                             subject, name, reference->node, before);
    if (const auto *graph = argument.as<GraphReference>(); graph && graph->index >= program.subgraphs.size())
      return invalidArgument("[{}] argument '{}' is no graph: got {}, expected one below {}", subject, name,
                             graph->index, program.subgraphs.size());
    if (const auto *list = argument.as<Argument::List>())
      for (const Argument &item : *list)
        TORCHERE_TRY(verifyArgument(item, before, subject, name));
    return {};
  }

  Status verifySymInt(SymInt value, std::string_view subject) {
    if (!value.isConstant() && value.id() >= program.expressions.size())
      return invalidArgument("[{}] unknown expression in the type: got {}, expected one below {}", subject,
                             value.id(), program.expressions.size());
    return {};
  }

  Status verifyType(const Type &type, std::string_view subject) {
    if (const auto *tensor = type.as<TensorType>()) {
      for (SymInt size : tensor->shape)
        TORCHERE_TRY(verifySymInt(size, subject));
      for (SymInt stride : tensor->strides)
        TORCHERE_TRY(verifySymInt(stride, subject));
    }
    if (const auto *symInt = type.as<SymIntType>())
      TORCHERE_TRY(verifySymInt(symInt->value, subject));
    if (const auto *list = type.as<Type::List>())
      for (const Type &item : *list)
        TORCHERE_TRY(verifyType(item, subject));
    return {};
  }

  Status verifyInputs() {
    size_t count = 0;
    for (const Node &node : program.graph.nodes)
      count += node.kind == NodeKind::Placeholder;
    if (program.inputs.size() != count)
      return invalidArgument("[signature] every placeholder needs an input spec: got {}, expected {}",
                             program.inputs.size(), count);
    for (size_t i = 0; i < count; ++i) {
      const InputSpec &input = program.inputs[i];
      if (input.name != program.graph.nameOf(static_cast<NodeId>(i)))
        return invalidArgument("[signature] input spec {} names another placeholder: got '{}', expected '{}'",
                               i, input.name, program.graph.nameOf(static_cast<NodeId>(i)));
      bool inState = program.stateDict.contains(input.target),
           inConstants = program.constants.contains(input.target);
      bool isKnown = true;
      if (input.kind == InputKind::Parameter)
        isKnown = inState;
      else if (input.kind == InputKind::Buffer) // non-persistent buffers are stored with the constants
        isKnown = inState || inConstants;
      else if (input.kind == InputKind::ConstantTensor)
        isKnown = inConstants;
      if (!isKnown)
        return fail(ErrorCode::NotFound,
                    "[{}] the weight is missing: got no '{}' in the state dict or constants", input.name,
                    input.target);
    }
    return {};
  }

  Status verifyOutputs() {
    if (program.outputs.size() != program.graph.outputs.size())
      return invalidArgument("[signature] every output needs a spec: got {}, expected {}",
                             program.outputs.size(), program.graph.outputs.size());
    for (const OutputSpec &output : program.outputs)
      TORCHERE_TRY(verifyArgument(output.value, program.graph.nodes.size(), "signature", "output"));
    return {};
  }

  static Status verifyWeight(const std::string &name, const Weight &weight) {
    if (weight.shape.size() != weight.strides.size())
      return invalidArgument("[weight '{}'] rank of the strides: got {}, expected {}", name,
                             weight.strides.size(), weight.shape.size());
    if (weight.storageOffset < 0)
      return invalidArgument("[weight '{}'] negative storage offset: got {}", name, weight.storageOffset);
    bool isEmpty = false, fits = true;
    int64_t last = weight.storageOffset, count = 1;
    for (size_t i = 0; i < weight.shape.size(); ++i) {
      int64_t reach = 0;
      if (weight.shape[i] < 0 || weight.strides[i] < 0)
        return invalidArgument("[weight '{}'] negative size or stride in dimension {}: got {} and {}", name,
                               i, weight.shape[i], weight.strides[i]);
      isEmpty |= weight.shape[i] == 0;
      fits &= !__builtin_mul_overflow(weight.shape[i] - 1, weight.strides[i], &reach) &&
              !__builtin_add_overflow(last, reach, &last) &&
              !__builtin_mul_overflow(count, weight.shape[i], &count);
    }
    if (isEmpty)
      return {};
    if (!weight.storage)
      return invalidArgument("[weight '{}'] no storage", name);
    int64_t capacity = static_cast<int64_t>(weight.storage->byteSize / byteSize(weight.dtype));
    if (!fits || last >= capacity)
      return fail(ErrorCode::OutOfRange,
                  "[weight '{}'] reaches outside its storage: got element {}, expected below {}", name,
                  fits ? std::to_string(last) : "of more than 64 bits", capacity);
    return {};
  }

  const Program &program;
};

Status Program::verify() const {
  return ProgramVerifier(*this).verify();
}

} // namespace torchere::program
