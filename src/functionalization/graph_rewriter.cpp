// GraphRewriter: the walk, the values of nodes, views and in-place ops.
#include "functionalization/graph_rewriter.h"

#include "lowering/op_table.h"
#include "lowering/promotion.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace torchere::functionalization {

using namespace program;

GraphRewriter::GraphRewriter(Program &program, const Graph &graph, std::vector<NodeId> ties)
    : program(program), graph(graph), emitter(program, graph), aliases(emitter), ties(std::move(ties)),
      values(graph.nodes.size()) {}

Status GraphRewriter::run() {
  NodeId id = 0;
  for (; id < graph.nodes.size() && graph.nodes[id].kind == NodeKind::Placeholder; ++id)
    addPlaceholder(id, graph.nodes[id]);
  for (NodeId tied = 0; tied < ties.size(); ++tied)
    if (ties[tied] != tied && inputs[tied] && inputs[ties[tied]])
      tie(tied, *inputs[ties[tied]]);
  for (; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    emitter.setOrigin(node);
    Status status = rewrite(id, node);
    if (!status) {
      Error error = std::move(status).error();
      error.where = program.place(node);
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

void GraphRewriter::addPlaceholder(NodeId id, const Node &node) {
  NodeId kept = emitter.keep(node, {});
  values[id] = {NodeValue::Kind::Plain, kept};
  inputs.emplace_back();
  if (!node.type.as<TensorType>())
    return;
  inputs.back() = aliases.addMemory(kept);
  inputCount = *inputs.back() + 1;
  bindNew(id, *inputs.back());
}

/// One of other sizes is read as it came until the memory is written.
void GraphRewriter::tie(NodeId placeholder, AliasId memory) {
  AliasId own = *inputs[placeholder];
  std::span<const SymInt> shape = aliases.type(own).shape;
  bool isSame = std::ranges::equal(shape, aliases.type(memory).shape);
  NodeId value = isSame ? aliases.read(memory) : aliases.anyValue(own);
  ViewStep step;
  if (!isSame)
    step = stepOf("aten.view.default", {reference(value), emitter.sizes(value)});
  inputs[placeholder] = tensors[values[placeholder].index] = aliases.addView(memory, step, value);
}

std::optional<NodeId> GraphRewriter::newValueOf(NodeId placeholder) {
  const std::optional<AliasId> &input = inputs[placeholder];
  if (!input || !aliases.isWritten(aliases.memoryOf(*input)))
    return std::nullopt;
  return aliases.read(*input);
}

std::string GraphRewriter::placeOfWrite(NodeId placeholder) const {
  auto found = firstWrites.find(aliases.memoryOf(*inputs[placeholder]));
  return found == firstWrites.end() ? "" : program.place(*found->second);
}

const OpRule &GraphRewriter::ruleFor(const Op &op) {
  auto found = rules.find(&op);
  return found == rules.end() ? rules.emplace(&op, ruleOf(op)).first->second : found->second;
}

Status GraphRewriter::rewrite(NodeId id, const Node &node) {
  if (node.kind != NodeKind::Call)
    return keep(id, node);
  TORCHERE_ASSIGN(bool isElement, takeElement(id, node));
  if (isElement)
    return {};
  const OpRule &rule = ruleFor(*node.callee);
  switch (rule.form.kind) {
  case FormKind::Kept:
    return rule.viewed ? keepView(id, node, *rule.viewed) : keep(id, node);
  case FormKind::Functional:
    return writeInPlace(id, node, rule.form.op);
  case FormKind::Rewritten:
    return (this->*rule.rewrite)(id, node);
  case FormKind::RemovedInEval:
    if (isEval(node))
      return takeItself(id, node);
    return rule.form.op.empty() ? keep(id, node) : writeInPlace(id, node, rule.form.op);
  case FormKind::Refused:
    break;
  }
  return fail(ErrorCode::Unimplemented,
              "[{}] writes to an argument in a way that has no functional form: got {}, expected an in-place "
              "op that keeps the tensor's size and memory",
              node.op(), node.callee->schema->text());
}

// ---- values

Argument GraphRewriter::mapArgument(const Argument &argument) {
  if (const auto *reference = argument.as<NodeReference>()) {
    const NodeValue &value = values[reference->node];
    switch (value.kind) {
    case NodeValue::Kind::None:
      return {};
    case NodeValue::Kind::Plain:
      return {NodeReference{value.index}};
    case NodeValue::Kind::Tensor:
      return {NodeReference{aliases.read(aliasOf(value.index))}};
    case NodeValue::Kind::List:
      return mapList(lists[value.index]);
    }
  }
  const auto *list = argument.as<Argument::List>();
  if (!list)
    return argument;
  bool isChanged = false;
  std::vector<Argument> elements;
  for (const Argument &element : *list) {
    elements.push_back(mapArgument(element));
    isChanged |= element.as<NodeReference>() || element.as<Argument::List>();
  }
  if (!isChanged)
    return argument;
  return emitter.list(elements, list->isTuple);
}

/// A list that is given as a whole: as its elements, once one of them may have been written.
Argument GraphRewriter::mapList(ListValue &list) {
  bool isWhole = std::ranges::none_of(list.elements, [](const auto &element) { return element.has_value(); });
  if (isWhole && (!list.of || (aliases.isCurrent(*list.of) && aliases.anyValue(*list.of) == list.ofValue)))
    return {NodeReference{list.node}};
  std::vector<Argument> elements;
  for (size_t i = 0; i < list.types.size(); ++i) {
    if (list.types[i].as<TensorType>())
      elements.push_back({NodeReference{aliases.read(aliasOf(elementOf(list, i, nullptr)))}});
    else
      elements.push_back(
          {NodeReference{emitter.getItem(list.node, static_cast<int64_t>(i), list.types[i], list.origin)}});
  }
  return emitter.list(elements);
}

/// Those of a node that computes a size need no value but any of the type.
std::vector<Argument> GraphRewriter::mapArguments(const Node &node, bool needsFirst) {
  bool isSize = node.type.as<SymIntType>() != nullptr;
  std::vector<Argument> arguments;
  for (const Argument &argument : node.arguments) {
    const auto *reference = argument.as<NodeReference>();
    bool isUnread = (isSize || (!needsFirst && arguments.empty())) && reference &&
                    values[reference->node].kind == NodeValue::Kind::Tensor;
    arguments.push_back(
        isUnread ? Argument{NodeReference{aliases.anyValue(aliasOf(values[reference->node].index))}}
                 : mapArgument(argument));
  }
  return arguments;
}

void GraphRewriter::bindNew(NodeId id, AliasId alias) {
  tensors.push_back(alias);
  bind(id, static_cast<TensorId>(tensors.size() - 1));
}

/// A node of the new graph whose results are in memory of their own.
void GraphRewriter::bindResult(NodeId id, NodeId value) {
  const Node &made = emitter[value];
  if (made.type.as<TensorType>())
    bindNew(id, aliases.addMemory(value));
  else if (made.type.as<Type::List>())
    bindList(id, value, std::nullopt, graph.nodes[id]);
  else
    values[id] = {NodeValue::Kind::Plain, value};
}

void GraphRewriter::bindList(NodeId id, NodeId value, std::optional<AliasId> of, const Node &node) {
  ListValue list{.node = value, .types = *node.type.as<Type::List>(), .elements = {}, .of = of};
  list.elements.resize(list.types.size());
  list.ofValue = of ? aliases.anyValue(*of) : 0;
  list.op = emitter[value].callee;
  list.arguments = emitter[value].arguments;
  list.origin = &node;
  lists.push_back(std::move(list));
  values[id] = {NodeValue::Kind::List, static_cast<uint32_t>(lists.size() - 1)};
}

// ---- nodes that stay

Status GraphRewriter::keep(NodeId id, const Node &node) {
  bindResult(id, emitter.keep(node, mapArguments(node)));
  return {};
}

/// Whether the inverse can be built from the arguments.
static bool isPermutation(const ViewStep &step, size_t rank) {
  const auto *dims = step.arguments.size() > 1 ? step.arguments[1].as<Argument::List>() : nullptr;
  std::vector<bool> seen(rank);
  if (!dims || dims->size() != rank)
    return false;
  for (const Argument &argument : *dims) {
    const auto *dim = argument.as<int64_t>();
    auto size = static_cast<int64_t>(rank);
    if (!dim || *dim < -size || *dim >= size || seen[*dim < 0 ? *dim + size : *dim])
      return false;
    seen[*dim < 0 ? *dim + size : *dim] = true;
  }
  return true;
}

Status GraphRewriter::keepView(NodeId id, const Node &node, size_t viewed) {
  auto of = tensorArgument(node, viewed);
  bool isTensor = node.type.as<TensorType>(), isList = node.type.as<Type::List>();
  if (viewed != 0 || !of || !(isTensor || isList))
    return keep(id, node);
  AliasId alias = aliasOf(*of);
  Inverse inverse = inverseOf(node.op());
  if (inverse == Inverse::Identity) {
    bindNew(id, aliases.addView(alias, {}, aliases.read(alias)));
    return {};
  }
  NodeId value = emitter.keep(node, mapArguments(node));
  if (isList) {
    bindList(id, value, alias, node);
    return {};
  }
  ViewStep step{
      .inverse = inverse, .op = node.callee, .arguments = emitter[value].arguments, .origin = &node};
  if (inverse == Inverse::Permute && !isPermutation(step, aliases.type(alias).shape.size()))
    step.inverse = Inverse::ByIndex;
  bindNew(id, aliases.addView(alias, step, value));
  return {};
}

// ---- elements of lists

/// Where an element of a split begins and ends, if that is constant.
std::optional<std::pair<int64_t, int64_t>> GraphRewriter::partOf(const ListValue &list, size_t index,
                                                                 size_t axis) const {
  int64_t start = 0, end = 0;
  for (size_t i = 0; i <= index; ++i) {
    const auto *type = list.types[i].as<TensorType>();
    if (!type || axis >= type->shape.size() || !type->shape[axis].isConstant())
      return std::nullopt;
    start = end;
    end += type->shape[axis].constant();
  }
  return std::pair(start, end);
}

/// Parts of known places are slices, which are taken one by one.
ViewStep GraphRewriter::elementStep(const ListValue &list, size_t index) {
  const std::string &op = list.op->name;
  bool isSplit = op == "aten.split.Tensor" || op == "aten.split_with_sizes.default" ||
                 op == "aten.tensor_split.sections";
  size_t place = isSplit ? 2 : 1;
  const Argument *given = list.arguments.size() > place ? &list.arguments[place] : nullptr;
  const auto *dim = given ? given->as<int64_t>() : nullptr;
  auto rank = static_cast<int64_t>(aliases.type(*list.of).shape.size());
  int64_t axis = dim ? *dim + (*dim < 0 ? rank : 0) : 0;
  ViewStep step{.inverse = Inverse::ByIndex,
                .op = list.op,
                .arguments = list.arguments,
                .listType = list.origin->type,
                .element = static_cast<int64_t>(index),
                .origin = list.origin};
  if (axis < 0 || axis >= rank || !(isSplit || op == "aten.unbind.int"))
    return step;
  std::vector<Argument> arguments = {list.arguments[0], {axis}};
  if (!isSplit) {
    arguments.push_back({static_cast<int64_t>(index)});
    step = stepOf("aten.select.int", arguments);
  } else if (auto part = partOf(list, index, axis)) {
    arguments.insert(arguments.end(), {Argument{part->first}, Argument{part->second}});
    step = stepOf("aten.slice.Tensor", arguments);
  } else {
    step.inverse = Inverse::Element;
  }
  step.origin = list.origin;
  return step;
}

/// The tensor that an element of a list is; `node` takes it out, where there is one.
GraphRewriter::TensorId GraphRewriter::elementOf(ListValue &list, size_t index, const Node *node) {
  if (list.elements[index])
    return *list.elements[index];
  Type type = list.types[index];
  auto take = [&] {
    std::vector<Argument> arguments = {{NodeReference{list.node}}, {static_cast<int64_t>(index)}};
    return node ? emitter.keep(*node, arguments)
                : emitter.getItem(list.node, static_cast<int64_t>(index), type, list.origin);
  };
  AliasId alias = 0;
  if (!list.of) {
    alias = aliases.addMemory(take());
  } else {
    ViewStep step = elementStep(list, index);
    NodeId of = aliases.read(*list.of);
    alias = aliases.addView(*list.of, step, of == list.ofValue ? take() : takeView(emitter, step, of, type));
  }
  tensors.push_back(alias);
  list.elements[index] = static_cast<TensorId>(tensors.size() - 1);
  return *list.elements[index];
}

/// False when the node takes no element of a list.
Result<bool> GraphRewriter::takeElement(NodeId id, const Node &node) {
  const auto *source = node.op() == "_operator.getitem" && node.arguments.size() == 2
                           ? node.arguments[0].as<NodeReference>()
                           : nullptr;
  const auto *index = source ? node.arguments[1].as<int64_t>() : nullptr;
  if (!index || values[source->node].kind != NodeValue::Kind::List)
    return false;
  ListValue &list = lists[values[source->node].index];
  if (*index < 0 || static_cast<size_t>(*index) >= list.types.size())
    return invalidArgument("[_operator.getitem] '{}' does not take an element of a list of results",
                           node.name());
  auto place = static_cast<size_t>(*index);
  if (!list.types[place].as<TensorType>() || !node.type.as<TensorType>()) {
    std::vector<Argument> arguments = {{NodeReference{list.node}}, {*index}};
    values[id] = {NodeValue::Kind::Plain, emitter.keep(node, arguments)};
    return true;
  }
  bind(id, elementOf(list, place, &node));
  return true;
}

// ---- in-place ops

/// Ops whose result does not depend on the elements of their first argument.
static bool overwritesFirst(std::string_view functional) {
  return functional == "aten.copy.default" || functional.starts_with("aten.fill.");
}

/// The dtype in which the functional op gives its result, which eager rounds to the written tensor's.
DType GraphRewriter::computedDType(const Node &node, const std::string &functional) const {
  static const std::unordered_set<std::string_view> comparisons = {
      "eq",          "ne",         "lt",          "le",         "gt",      "ge",
      "equal",       "not_equal",  "less",        "less_equal", "greater", "greater_equal",
      "logical_and", "logical_or", "logical_xor", "logical_not"};
  static const std::unordered_set<std::string_view> promoted = {"self",    "other", "exponent", "tensor1",
                                                                "tensor2", "min",   "max"};
  size_t begin = functional.find('.') + 1;
  if (comparisons.contains(std::string_view(functional).substr(begin, functional.find('.', begin) - begin)))
    return DType::Bool;
  using Rank = lowering::PromotionOperand::Rank;
  std::vector<lowering::PromotionOperand> operands;
  auto typeOf = [&](const Argument &argument) -> const Type * {
    const auto *reference = argument.as<NodeReference>();
    return reference ? &graph.nodes[reference->node].type : nullptr;
  };
  auto add = [&](const Argument &argument) {
    const Type *type = typeOf(argument);
    if (const auto *tensor = type ? type->as<TensorType>() : nullptr)
      operands.push_back({tensor->dtype, tensor->shape.empty() ? Rank::ZeroDim : Rank::Dimensioned});
    else if (argument.as<bool>())
      operands.push_back({DType::Bool, Rank::Number});
    else if (argument.as<int64_t>() || (type && type->as<SymIntType>()))
      operands.push_back({DType::I64, Rank::Number});
    else if (argument.as<double>())
      operands.push_back({DType::F32, Rank::Number});
    else if (argument.as<std::complex<double>>())
      operands.push_back({DType::C64, Rank::Number});
  };
  add(node.arguments.front());
  for (const NamedArgument &argument : node.given())
    if (promoted.contains(argument.name))
      add(argument.value);
  return lowering::resultType(operands);
}

/// The functional op of the in-place op's arguments.
const Op *GraphRewriter::functionalOp(const Node &node, const std::string &functional) {
  const lowering::OpTable::Row *row = lowering::OpTable::instance().find(functional);
  bool isOfSameArguments = row && std::ranges::equal(row->schema.arguments, node.callee->schema->arguments,
                                                     {}, &schema::Argument::name, &schema::Argument::name);
  if (isOfSameArguments)
    return emitter.operation(functional);
  schema::Schema schema = *node.callee->schema;
  schema.name = functional;
  schema.overload = functional.substr(functional.rfind('.') + 1);
  if (schema.overload == "default")
    schema.overload.clear();
  schema.arguments.front().type.alias.reset();
  for (schema::Argument &result : schema.results)
    result.type.alias.reset();
  auto op = program.ops->intern(functional, schema.text());
  return op ? *op : emitter.operation(functional);
}

NodeId GraphRewriter::converted(NodeId value, Type type) {
  DType dtype = type.as<TensorType>()->dtype;
  if (emitter.tensor(value).dtype == dtype)
    return value;
  std::vector<Argument> arguments = {{NodeReference{value}}, emitter.dtype(dtype)};
  return emitter.call("aten._to_copy.default", arguments, type);
}

Status GraphRewriter::write(AliasId alias, NodeId value, const Node &node) {
  if (&graph != &program.graph && aliases.memoryOf(alias) < inputCount)
    return fail(ErrorCode::Unimplemented,
                "[{}] writes to an input of the graph '{}': expected a graph that is called to write to "
                "tensors of its own",
                node.op(), graph.name);
  firstWrites.try_emplace(aliases.memoryOf(alias), &node);
  return aliases.write(alias, value, node.op());
}

/// Gives arguments that only the in-place op has a default for, as bernoulli_ has for p.
static void giveDefaults(const schema::Schema &inPlace, const std::string &functional,
                         std::vector<Argument> &arguments) {
  const lowering::OpTable::Row *row = lowering::OpTable::instance().find(functional);
  for (size_t i = 0; row && i < inPlace.arguments.size(); ++i) {
    const schema::Argument &argument = inPlace.arguments[i];
    size_t position = row->schema.position(argument.name);
    bool isRequired =
        position < row->schema.arguments.size() && !row->schema.arguments[position].defaultValue;
    const double *number = argument.defaultValue ? argument.defaultValue->as<double>() : nullptr;
    if (!isRequired || !number || (i < arguments.size() && arguments[i].isGiven()))
      continue;
    if (i >= arguments.size())
      arguments.resize(i + 1, Argument{NotGiven{}});
    arguments[i] = {*number};
  }
}

Status GraphRewriter::writeInPlace(NodeId id, const Node &node, const std::string &functional) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  Type type = emitter[aliases.anyValue(aliasOf(self))].type;
  std::vector<Argument> arguments = mapArguments(node, !overwritesFirst(functional));
  giveDefaults(*node.callee->schema, functional, arguments);
  NodeId value = emitter.call(functionalOp(node, functional), arguments,
                              emitter.withDType(type, computedDType(node, functional)));
  TORCHERE_TRY(write(aliasOf(self), converted(value, type), node));
  bind(id, self);
  return {};
}

} // namespace torchere::functionalization
