// Builder: nodes, and the data they refer to, in the program's memory.
#include "program/builder.h"

#include "program/argument_list.h"

#include <algorithm>
#include <bit>

namespace torchere::program {

Builder::Builder(std::shared_ptr<OpInterner> ops) {
  made.ops = std::move(ops);
  made.graph.name = "forward";
}

GraphBuilder Builder::addSubgraph(const GraphBuilder &parent, std::string name) {
  size_t index = made.subgraphs.size();
  made.subgraphs.emplace_back().name = std::move(name);
  GraphBuilder(parent).target().children.push_back(static_cast<uint32_t>(index));
  return {*this, index + 1};
}

Argument Builder::constant(Constant value) {
  if (value.isNone())
    return {};
  if (const auto *number = value.as<int64_t>())
    return {*number};
  if (const auto *number = value.as<double>())
    return {*number};
  if (const auto *flag = value.as<bool>())
    return {*flag};
  if (const auto *elements = value.as<Constant::List>()) {
    std::vector<Argument> arguments;
    for (const Constant &element : *elements)
      arguments.push_back(constant(element));
    return list(arguments, value.isTuple);
  }
  return {&made.literals.emplace_back(std::move(value))};
}

Argument Builder::list(std::span<const Argument> elements, bool isTuple) {
  return storeList(made.memory, elements, isTuple);
}

std::string_view Builder::device(std::string_view name) {
  if (name != lastDevice)
    lastDevice = made.memory.store(name);
  return lastDevice;
}

static uint64_t hashOf(const TensorType &type) {
  auto wordOf = [](SymInt size) {
    return size.isConstant() ? static_cast<uint64_t>(size.constant()) : ~uint64_t{size.id()};
  };
  uint64_t hash = static_cast<uint64_t>(type.dtype) + (type.shape.size() << 8) + (type.strides.size() << 16);
  for (std::span<const SymInt> sizes : {type.shape, type.strides})
    for (SymInt size : sizes)
      hash = std::rotl(hash * 0x9e3779b97f4a7c15 + wordOf(size), 29);
  return hash * 0x9e3779b97f4a7c15;
}

static bool isEqual(const TensorType &left, const TensorType &right) {
  return left.dtype == right.dtype && std::ranges::equal(left.shape, right.shape) &&
         std::ranges::equal(left.strides, right.strides) && left.device == right.device;
}

Type Builder::tensorType(DType dtype, std::span<const SymInt> shape, std::span<const SymInt> strides,
                         std::string_view device) {
  TensorType type{dtype, shape, strides, device};
  uint64_t hash = hashOf(type);
  if (2 * typeCount >= types.size())
    growTypes();
  size_t place = hash >> 32 & (types.size() - 1);
  for (; types[place].data; place = (place + 1) & (types.size() - 1))
    if (types[place].hash == hash && isEqual(std::get<TensorType>(*types[place].data), type))
      return Type(types[place].data);
  Type::Data stored =
      TensorType{dtype, made.memory.store(shape), made.memory.store(strides), this->device(device)};
  types[place] = {hash, made.memory.store(stored)};
  ++typeCount;
  return Type(types[place].data);
}

void Builder::growTypes() {
  std::vector<KnownType> grown(std::max<size_t>(16, 2 * types.size()));
  for (const KnownType &known : types) {
    if (!known.data)
      continue;
    size_t place = known.hash >> 32 & (grown.size() - 1);
    while (grown[place].data)
      place = (place + 1) & (grown.size() - 1);
    grown[place] = known;
  }
  types = std::move(grown);
}

Type Builder::type(const Type::Data &data) {
  if (const auto *tensor = std::get_if<TensorType>(&data))
    return tensorType(tensor->dtype, tensor->shape, tensor->strides, tensor->device);
  Type::Data stored = data;
  if (auto *number = std::get_if<SymFloatType>(&stored))
    number->text = made.memory.store(number->text);
  if (auto *flag = std::get_if<SymBoolType>(&stored))
    flag->text = made.memory.store(flag->text);
  if (auto *types = std::get_if<Type::List>(&stored))
    *types = made.memory.store(*types);
  return Type(made.memory.store(stored));
}

const Label *Builder::label(const Label &label) {
  Label stored = label;
  stored.name = made.memory.store(label.name);
  stored.keywords = made.memory.store(label.keywords);
  return made.memory.store(stored);
}

uint32_t Builder::addStackTrace(std::string text) {
  made.stackTraces.push_back(std::move(text));
  return static_cast<uint32_t>(made.stackTraces.size() - 1);
}

uint32_t Builder::addModuleStack(std::vector<ModuleFrame> frames) {
  made.moduleStacks.push_back(std::move(frames));
  return static_cast<uint32_t>(made.moduleStacks.size() - 1);
}

Status Builder::addOutput(OutputKind kind, std::string target) {
  size_t index = made.outputs.size();
  if (index >= made.graph.outputs.size())
    return invalidArgument("[signature] an output spec too many: expected {}", index);
  made.outputs.push_back({kind, made.graph.outputs[index], std::move(target)});
  return {};
}

Graph &GraphBuilder::target() {
  return index == 0 ? builder->made.graph : builder->made.subgraphs[index - 1];
}

NodeId GraphBuilder::append(const Node &node) {
  NodeList &nodes = target().nodes;
  nodes.push_back(node);
  return static_cast<NodeId>(nodes.size() - 1);
}

NodeId GraphBuilder::placeholder(Type type, const Label *label) {
  return append({NodeKind::Placeholder, nullptr, {}, type, label});
}

NodeId GraphBuilder::call(const Op *op, std::span<const Argument> arguments, Type type, const Label *label) {
  return append({NodeKind::Call, op, builder->made.memory.store(arguments), type, label});
}

Result<NodeId> GraphBuilder::call(std::string_view op, std::string_view schema,
                                  std::span<const Argument> positional,
                                  std::span<const KeywordArgument> keywords, Type type, Label label) {
  std::vector<Argument> arranged;
  std::vector<uint16_t> positions;
  TORCHERE_ASSIGN(const Op *found,
                  arrange(op, schema, positional, keywords, label.name, arranged, positions));
  label.keywords = positions;
  return call(found, arranged, type, builder->label(label));
}

/// The arguments at their positions in the schema, and the positions of those given by keyword.
Result<const Op *> GraphBuilder::arrange(std::string_view op, std::string_view schema,
                                         std::span<const Argument> positional,
                                         std::span<const KeywordArgument> keywords, std::string_view subject,
                                         std::vector<Argument> &arranged, std::vector<uint16_t> &positions) {
  OpInterner &ops = *builder->made.ops;
  arranged.assign(positional.begin(), positional.end());
  if (schema.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < positional.size(); ++i)
      names.push_back(std::to_string(i));
    for (const KeywordArgument &keyword : keywords) {
      positions.push_back(static_cast<uint16_t>(arranged.size()));
      arranged.push_back(keyword.value);
      names.push_back(keyword.name);
    }
    return ops.intern(op, std::move(names));
  }
  TORCHERE_ASSIGN(const Op *found, ops.intern(op, schema));
  if (positional.size() > found->argumentNames.size())
    return invalidArgument("[{}] too many arguments: got {}, expected those of {}", subject,
                           positional.size(), schema);
  for (const KeywordArgument &keyword : keywords) {
    size_t position = found->schema->position(keyword.name);
    if (position == found->argumentNames.size())
      return invalidArgument("[{}] unknown argument: got '{}', expected those of {}", subject, keyword.name,
                             schema);
    if (position >= arranged.size())
      arranged.resize(position + 1, Argument{NotGiven{}});
    if (arranged[position].isGiven())
      return invalidArgument("[{}] argument '{}' is given twice", subject, keyword.name);
    arranged[position] = keyword.value;
    positions.push_back(static_cast<uint16_t>(position));
  }
  return found;
}

NodeId GraphBuilder::graph(std::string_view attribute, const GraphBuilder &subgraph, const Label *label) {
  Argument argument{GraphReference{static_cast<uint32_t>(subgraph.index - 1)}};
  const Op *op = builder->made.ops->intern(attribute, std::vector<std::string>{"graph"});
  std::span<const Argument> arguments = builder->made.memory.store(std::span<const Argument>(&argument, 1));
  return append({NodeKind::GetAttr, op, arguments, Type(), label});
}

void GraphBuilder::setOutputs(std::span<const Argument> outputs, bool isBare) {
  Graph &graph = target();
  graph.outputs.assign(outputs.begin(), outputs.end());
  graph.returnsOneValue = isBare;
}

} // namespace torchere::program
