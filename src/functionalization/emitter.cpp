// Emitter: interned ops, types in the program's memory, names as torch.fx gives them.
#include "functionalization/emitter.h"

#include "lowering/op_table.h"
#include "program/argument_list.h"

#include <algorithm>
#include <array>

namespace torchere::functionalization {

using namespace program;

Emitter::Emitter(Program &program, const Graph &source) : program(program) {
  for (const Node &node : source.nodes)
    if (node.label)
      names.emplace(node.label->name);
}

const Op *Emitter::operation(std::string_view name) {
  const Op *&op = operations[std::string(name)];
  if (op)
    return op;
  if (const lowering::OpTable::Row *row = lowering::OpTable::instance().find(name))
    op = program.ops->intern(name, row->schema.source).value();
  else if (name == "aten.sym_size.int")
    op = program.ops->intern(name, "aten::sym_size.int(Tensor self, int dim) -> SymInt").value();
  else if (name == "aten.sym_numel.default")
    op = program.ops->intern(name, "aten::sym_numel(Tensor self) -> SymInt").value();
  else
    op = program.ops->intern(name, std::vector<std::string>{"0", "1"});
  return op;
}

/// torch.fx gives names of Python's builtins a number at once.
static bool isBuiltin(std::string_view name) {
  static constexpr std::array<std::string_view, 10> builtins = {"abs", "all", "any",   "complex", "max",
                                                                "min", "pow", "round", "slice",   "sum"};
  return std::ranges::find(builtins, name) != builtins.end();
}

/// "slice_scatter", then "slice_scatter_1", ... of aten.slice_scatter.default.
std::string Emitter::uniqueName(const std::string &op) {
  size_t begin = op.find('.') + 1, end = op.find('.', begin);
  std::string stem = op.substr(begin, end == std::string::npos ? end : end - begin);
  uint32_t &count = nameCounts.try_emplace(stem, isBuiltin(stem)).first->second;
  for (;; ++count) {
    std::string name = count ? fmt::format("{}_{}", stem, count) : stem;
    if (names.insert(name).second) {
      ++count;
      return name;
    }
  }
}

const Label *Emitter::labelFor(const Op &op, size_t arguments, const Node &like) {
  if (!like.label)
    return nullptr;
  std::vector<uint16_t> keywords;
  for (size_t i = 0; op.schema && i < std::min(arguments, op.schema->arguments.size()); ++i)
    if (op.schema->arguments[i].isKeywordOnly)
      keywords.push_back(static_cast<uint16_t>(i));
  Label label{program.memory.store(std::string_view(uniqueName(op.name))), like.label->stackTrace,
              like.label->moduleStack, program.memory.store(std::span<const uint16_t>(keywords))};
  return program.memory.store(label);
}

NodeId Emitter::append(const Op *op, std::span<const Argument> arguments, Type type, const Node *like) {
  const Label *label = labelFor(*op, arguments.size(), like ? *like : *origin);
  made.push_back({NodeKind::Call, op, program.memory.store(arguments), type, label});
  return static_cast<NodeId>(made.size() - 1);
}

NodeId Emitter::keep(const Node &node, std::span<const Argument> arguments) {
  made.push_back(node);
  bool isSame = std::ranges::equal(node.arguments, arguments, [](const Argument &a, const Argument &b) {
    const auto *left = a.as<NodeReference>(), *right = b.as<NodeReference>();
    return left && right && *left == *right;
  });
  if (!isSame)
    made[made.size() - 1].arguments = program.memory.store(arguments);
  return static_cast<NodeId>(made.size() - 1);
}

NodeId Emitter::call(const Op *op, std::span<const Argument> arguments, Type type, const Node *like) {
  return append(op, arguments, type, like);
}

NodeId Emitter::call(std::string_view op, std::span<const Argument> arguments, Type type, const Node *like) {
  return append(operation(op), arguments, type, like);
}

NodeId Emitter::getItem(NodeId list, int64_t index, Type type, const Node *like) {
  std::array<Argument, 2> arguments = {Argument{NodeReference{list}}, Argument{index}};
  return call("_operator.getitem", arguments, type, like);
}

NodeId Emitter::reshapeLike(NodeId value, NodeId like, Type type) {
  std::array<Argument, 2> arguments = {Argument{NodeReference{value}}, sizes(like)};
  return call("aten.view.default", arguments, type);
}

NodeId Emitter::flatten(NodeId value) {
  int64_t rest = -1;
  std::array<Argument, 2> arguments = {Argument{NodeReference{value}}, integers({&rest, 1})};
  const TensorType &type = tensor(value);
  SymInt count = countOf(type);
  return call("aten.view.default", arguments, tensorType(type.dtype, {&count, 1}, {}, type.device));
}

SymInt Emitter::countOf(const TensorType &type) {
  SymInt count = 1;
  for (SymInt size : type.shape)
    count = program.expressions.make(ExpressionKind::Mul, {count, size});
  return count;
}

NodeId Emitter::sizeNode(const Op *op, std::span<const Argument> arguments, SymInt value) {
  return call(op, arguments, Type(program.memory.store(Type::Data(SymIntType{value}))));
}

Argument Emitter::size(NodeId node, size_t axis) {
  SymInt value = tensor(node).shape[axis];
  if (value.isConstant())
    return {value.constant()};
  std::array<Argument, 2> arguments = {Argument{NodeReference{node}}, Argument{static_cast<int64_t>(axis)}};
  return {NodeReference{sizeNode(operation("aten.sym_size.int"), arguments, value)}};
}

Argument Emitter::sizes(NodeId node) {
  std::vector<Argument> all;
  for (size_t i = 0; i < tensor(node).shape.size(); ++i)
    all.push_back(size(node, i));
  return list(all);
}

Argument Emitter::list(std::span<const Argument> elements, bool isTuple) {
  return program::storeList(program.memory, elements, isTuple);
}

Argument Emitter::integers(std::span<const int64_t> values) {
  std::vector<Argument> elements;
  for (int64_t value : values)
    elements.push_back({value});
  return list(elements);
}

Argument Emitter::dtype(DType dtype) {
  return {&program.literals.emplace_back(Constant{dtype})};
}

Type Emitter::tensorType(DType dtype, std::span<const SymInt> shape, std::span<const SymInt> strides,
                         std::string_view device) {
  Type::Data data = TensorType{dtype, program.memory.store(shape), program.memory.store(strides), device};
  return Type(program.memory.store(data));
}

Type Emitter::withDType(Type type, DType dtype) {
  if (const auto *list = type.as<Type::List>()) {
    std::vector<Type> elements;
    for (const Type &element : *list)
      elements.push_back(withDType(element, dtype));
    return listType(elements);
  }
  const auto *tensor = type.as<TensorType>();
  if (!tensor || tensor->dtype == dtype)
    return type;
  return tensorType(dtype, tensor->shape, tensor->strides, tensor->device);
}

Type Emitter::listType(std::span<const Type> elements) {
  Type::Data data = Type::List(program.memory.store(elements));
  return Type(program.memory.store(data));
}

const TensorType &Emitter::tensor(NodeId node) const {
  return *made[node].type.as<TensorType>();
}

} // namespace torchere::functionalization
