// Program::structuralHash: a 128-bit hash of what a program computes.
#include "program/program.h"
#include "program/word_hash.h"

#include <array>
#include <bit>
#include <utility>

namespace torchere::program {

namespace {

class ProgramHasher {
public:
  explicit ProgramHasher(const Program &program) : program(program) {}

  StructuralHash run() {
    hashExpressions();
    addGraph(program.graph);
    hash.add(program.subgraphs.size());
    for (const Graph &graph : program.subgraphs)
      addGraph(graph);
    addSignature();
    hash.add(program.rangeConstraints.size());
    for (const RangeConstraint &constraint : program.rangeConstraints) {
      addSize(constraint.expression);
      hash.add(static_cast<uint64_t>(constraint.range.min));
      hash.add(static_cast<uint64_t>(constraint.range.max));
    }
    return hash.value();
  }

private:
  /// Operands come before the expressions that contain them.
  void hashExpressions() {
    for (uint32_t id = 0; id < program.expressions.size(); ++id) {
      const Expression &expression = program.expressions[SymInt::expression(id)];
      WordHash own;
      own.add(static_cast<uint64_t>(expression.kind));
      own.add(expression.symbol);
      for (SymInt operand : expression.operands)
        own.add(wordOf(operand));
      expressions.push_back(own.value()[0]);
    }
  }

  uint64_t wordOf(SymInt size) const {
    return size.isConstant() ? static_cast<uint64_t>(size.constant()) : expressions[size.id()];
  }
  void addSize(SymInt size) { hash.add(wordOf(size)); }

  /// Marks the kind of what follows, with a small number.
  void addTag(size_t tag, uint64_t number = 0) { hash.add(static_cast<uint64_t>(tag) << 56 | number); }

  void addGraph(const Graph &graph) {
    hash.add(graph.nodes.size());
    for (const Node &node : graph.nodes) {
      addTag(static_cast<size_t>(node.kind), node.arguments.size());
      if (node.kind == NodeKind::Call)
        hash.add(node.callee->hash);
      for (const Argument &argument : node.arguments)
        addArgument(argument);
      addType(node.type);
    }
    hash.add(graph.outputs.size());
    for (const Argument &output : graph.outputs)
      addArgument(output);
  }

  void addArgument(const Argument &argument) {
    size_t tag = argument.value.index();
    if (const auto *reference = argument.as<NodeReference>())
      return addTag(tag, reference->node);
    if (const auto *graph = argument.as<GraphReference>())
      return addTag(tag, graph->index);
    if (const auto *list = argument.as<Argument::List>()) {
      addTag(tag, list->size());
      for (const Argument &element : *list)
        addArgument(element);
      return;
    }
    addTag(tag);
    if (argument.isGiven())
      addConstant(*argument.constant());
  }

  void addConstant(const Constant &constant) {
    addTag(constant.value.index());
    struct Add {
      ProgramHasher &hasher;
      void operator()(std::monostate) {}
      void operator()(int64_t number) { hasher.hash.add(static_cast<uint64_t>(number)); }
      void operator()(double number) { hasher.hash.add(std::bit_cast<uint64_t>(number)); }
      void operator()(bool flag) { hasher.hash.add(static_cast<uint64_t>(flag)); }
      void operator()(const std::complex<double> &number) {
        (*this)(number.real());
        (*this)(number.imag());
      }
      void operator()(const std::string &text) { hasher.hash.add(text); }
      void operator()(DType dtype) { hasher.hash.add(static_cast<uint64_t>(dtype)); }
      void operator()(const Device &device) { hasher.hash.add(device.name); }
      void operator()(const Layout &layout) { hasher.hash.add(layout.name); }
      void operator()(const MemoryFormat &format) { hasher.hash.add(format.name); }
      void operator()(const OpReference &op) { hasher.hash.add(op.name); }
      void operator()(const Constant::List &list) {
        hasher.hash.add(list.size());
        for (const Constant &element : list)
          hasher.addConstant(element);
      }
    };
    std::visit(Add{*this}, constant.value);
  }

  /// Nodes share types, so a type's hash is kept for the next node.
  void addType(const Type &type) {
    KnownType &known = knownTypes[reinterpret_cast<uintptr_t>(type.address()) / 16 % knownTypes.size()];
    if (known.type != type || !known.isFilled) {
      WordHash outer = std::exchange(hash, WordHash());
      addContents(type);
      known = {type, true, std::exchange(hash, outer).value()};
    }
    hash.add(known.hash[0]);
    hash.add(known.hash[1]);
  }

  void addContents(const Type &type) {
    constexpr size_t tensor = 1, symInt = 2, symFloat = 3, symBool = 4, list = 5;
    if (const auto *own = type.as<TensorType>()) {
      addTag(tensor, static_cast<uint64_t>(own->dtype) << 48 | own->shape.size() << 24 | own->strides.size());
      for (SymInt size : own->shape)
        addSize(size);
      for (SymInt stride : own->strides)
        addSize(stride);
      hash.add(own->device);
    } else if (const auto *integer = type.as<SymIntType>()) {
      addTag(symInt);
      addSize(integer->value);
    } else if (const auto *number = type.as<SymFloatType>()) {
      addTag(symFloat);
      hash.add(number->text);
    } else if (const auto *flag = type.as<SymBoolType>()) {
      addTag(symBool);
      hash.add(flag->text);
    } else if (const auto *types = type.as<Type::List>()) {
      addTag(list, types->size());
      for (const Type &element : *types)
        addType(element);
    } else {
      addTag(0);
    }
  }

  /// It matters which input an output is written to, but not what the input is called.
  void addSignature() {
    std::unordered_map<std::string_view, size_t> targets;
    hash.add(program.inputs.size());
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const InputSpec &input = program.inputs[i];
      targets.emplace(input.target.empty() ? input.name : input.target, i);
      addTag(static_cast<size_t>(input.kind), input.constant.has_value());
      if (input.constant)
        addConstant(*input.constant);
    }
    hash.add(program.outputs.size());
    for (const OutputSpec &output : program.outputs) {
      auto target = targets.find(output.target);
      addTag(static_cast<size_t>(output.kind), target == targets.end() ? 0 : target->second + 1);
    }
  }

  struct KnownType {
    Type type;
    bool isFilled = false;
    StructuralHash hash = {};
  };

  const Program &program;
  WordHash hash;
  std::array<KnownType, 64>
      knownTypes; ///< by the type's address; a new entry overwrites another in its place
  std::vector<uint64_t> expressions;
};

} // namespace

StructuralHash Program::structuralHash() const {
  return ProgramHasher(*this).run();
}

} // namespace torchere::program
