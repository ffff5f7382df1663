// Rewrites: ops that alias their argument only sometimes, or change a tensor's sizes or statistics unsaid.
#include "functionalization/graph_rewriter.h"

#include "functionalization/memory_layout.h"

#include <algorithm>
#include <unordered_map>

namespace torchere::functionalization {

using namespace program;

Rewrite findRewrite(std::string_view op) {
  static const std::unordered_map<std::string_view, Rewrite> rewrites = {
      {"aten.reshape.default", &GraphRewriter::takeReshape},
      {"aten.reshape_as.default", &GraphRewriter::takeShapeOfOther},
      {"aten.view_as.default", &GraphRewriter::takeShapeOfOther},
      {"aten.flatten.using_ints", &GraphRewriter::takeFlattened},
      {"aten.unflatten.int", &GraphRewriter::takeUnflattened},
      {"aten.expand_as.default", &GraphRewriter::takeExpanded},
      {"aten.contiguous.default", &GraphRewriter::takeContiguous},
      {"aten.to.dtype", &GraphRewriter::takeConverted},
      {"aten.to.dtype_layout", &GraphRewriter::takeConverted},
      {"aten.to.device", &GraphRewriter::takeConverted},
      {"aten.to.other", &GraphRewriter::takeConverted},
      {"aten.type_as.default", &GraphRewriter::takeConverted},
      {"aten.lift_fresh.default", &GraphRewriter::takeClone},
      {"aten.lift_fresh_copy.default", &GraphRewriter::takeClone},
      {"aten.detach_.default", &GraphRewriter::takeItself},
      {"aten.requires_grad_.default", &GraphRewriter::takeItself},
      {"aten.chunk.default", &GraphRewriter::takeChunks},
      {"aten.unsafe_chunk.default", &GraphRewriter::takeChunks},
      {"aten.unsafe_split.Tensor", &GraphRewriter::takeParts},
      {"aten.unsafe_split_with_sizes.default", &GraphRewriter::takeParts},
      {"aten.as_strided.default", &GraphRewriter::takeStrided},
      {"aten.as_strided_.default", &GraphRewriter::changeStrides},
      {"aten.as_strided_scatter.default", &GraphRewriter::scatterStrided},
      {"aten.squeeze_.default", &GraphRewriter::changeSizes},
      {"aten.squeeze_.dim", &GraphRewriter::changeSizes},
      {"aten.squeeze_.dims", &GraphRewriter::changeSizes},
      {"aten.unsqueeze_.default", &GraphRewriter::changeSizes},
      {"aten.t_.default", &GraphRewriter::changeSizes},
      {"aten.transpose_.default", &GraphRewriter::changeSizes},
      {"aten.swapaxes_.default", &GraphRewriter::changeSizes},
      {"aten.swapdims_.default", &GraphRewriter::changeSizes},
      {"aten.zero_.default", &GraphRewriter::writeZeros},
      {"aten.batch_norm.default", &GraphRewriter::normalizeBatch},
      {"aten.native_batch_norm.default", &GraphRewriter::normalizeBatch},
      {"aten._native_batch_norm_legit.default", &GraphRewriter::normalizeBatch},
      {"aten._assert_tensor_metadata.default", &GraphRewriter::drop},
  };
  auto found = rewrites.find(op);
  return found == rewrites.end() ? nullptr : found->second;
}

// ---- arguments

const Argument *GraphRewriter::argument(const Node &node, std::string_view name) const {
  size_t position = node.callee->schema->position(name);
  bool isGiven = position < node.arguments.size() && node.arguments[position].isGiven() &&
                 !node.arguments[position].isNone();
  return isGiven ? &node.arguments[position] : nullptr;
}

std::optional<int64_t> GraphRewriter::integer(const Node &node, std::string_view name,
                                              int64_t otherwise) const {
  const Argument *given = argument(node, name);
  if (!given)
    return otherwise;
  const auto *value = given->as<int64_t>();
  return value ? std::optional(*value) : std::nullopt;
}

bool GraphRewriter::isFlag(const Node &node, std::string_view name, bool value) const {
  const Argument *given = argument(node, name);
  const auto *flag = given ? given->as<bool>() : nullptr;
  return flag && *flag == value;
}

Argument GraphRewriter::mapped(const Node &node, std::string_view name) {
  const Argument *given = argument(node, name);
  return given ? mapArgument(*given) : Argument{};
}

Result<GraphRewriter::TensorId> GraphRewriter::tensorArgument(const Node &node, size_t position) const {
  const auto *reference =
      position < node.arguments.size() ? node.arguments[position].as<NodeReference>() : nullptr;
  if (!reference || values[reference->node].kind != NodeValue::Kind::Tensor)
    return invalidArgument("[{}] argument {} is no tensor: expected one", node.op(), position);
  return values[reference->node].index;
}

Result<Type> GraphRewriter::resultType(const Node &node) const {
  if (!node.type.as<TensorType>())
    return invalidArgument("[{}] the type of its result is not known: expected that of a tensor", node.op());
  return node.type;
}

bool GraphRewriter::isEval(const Node &node) const {
  const Argument *p = argument(node, "p");
  const auto *real = p ? p->as<double>() : nullptr;
  const auto *whole = p ? p->as<int64_t>() : nullptr;
  return isFlag(node, "train", false) || (real && *real == 0) || (whole && *whole == 0);
}

// ---- views

ViewStep GraphRewriter::stepOf(std::string_view op, std::vector<Argument> arguments) {
  return {.inverse = inverseOf(op),
          .op = emitter.operation(op),
          .arguments = program.memory.store(std::span<const Argument>(arguments)),
          .origin = nullptr};
}

void GraphRewriter::bindView(NodeId id, AliasId of, const ViewStep &step, Type type) {
  NodeId value = takeView(emitter, step, aliases.read(of), type);
  bindNew(id, aliases.addView(of, step, value));
}

/// Of a tensor that is not contiguous, sizes that the strides allow give a view, which is not contiguous
/// either; others give a copy, which is.
Status GraphRewriter::bindReshaped(NodeId id, const Node &node, Argument sizes) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  AliasId alias = aliasOf(self);
  ViewStep step = stepOf("aten.view.default", {{NodeReference{0}}, sizes});
  step.origin = &node;
  ExpressionPool &expressions = program.expressions;
  if (isContiguous(aliases.type(alias), expressions) || !isContiguous(*type.as<TensorType>(), expressions))
    bindView(id, alias, step, type);
  else
    bindResult(id, takeView(emitter, step, aliases.read(alias), type));
  return {};
}

Status GraphRewriter::takeReshape(NodeId id, const Node &node) {
  return bindReshaped(id, node, mapped(node, "shape"));
}

Status GraphRewriter::takeShapeOfOther(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId other, tensorArgument(node, 1));
  return bindReshaped(id, node, emitter.sizes(aliases.anyValue(aliasOf(other))));
}

Status GraphRewriter::takeFlattened(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  NodeId value = aliases.anyValue(aliasOf(self));
  auto rank = static_cast<int64_t>(emitter.tensor(value).shape.size());
  int64_t start = integer(node, "start_dim", 0).value_or(0), end = integer(node, "end_dim", -1).value_or(-1);
  start += start < 0 ? rank : 0;
  end += end < 0 ? rank : 0;
  std::vector<Argument> sizes;
  std::span<const SymInt> shape = type.as<TensorType>()->shape;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    int64_t axis = i < start ? i : i + end - start;
    if (shape[i].isConstant())
      sizes.push_back({shape[i].constant()});
    else if (i == start || axis < 0 || axis >= rank)
      sizes.push_back({int64_t(-1)});
    else
      sizes.push_back(emitter.size(value, axis));
  }
  return bindReshaped(id, node, emitter.list(sizes));
}

Status GraphRewriter::takeUnflattened(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  NodeId value = aliases.anyValue(aliasOf(self));
  auto rank = static_cast<int64_t>(emitter.tensor(value).shape.size());
  int64_t dim = integer(node, "dim", 0).value_or(0);
  dim += dim < 0 ? rank : 0;
  std::vector<Argument> sizes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != dim) {
      sizes.push_back(emitter.size(value, i));
      continue;
    }
    Argument inner = mapped(node, "sizes");
    if (const auto *list = inner.as<Argument::List>())
      sizes.insert(sizes.end(), list->begin(), list->end());
  }
  return bindReshaped(id, node, emitter.list(sizes));
}

Status GraphRewriter::takeExpanded(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(TensorId other, tensorArgument(node, 1));
  TORCHERE_ASSIGN(Type type, resultType(node));
  Argument sizes = emitter.sizes(aliases.anyValue(aliasOf(other)));
  ViewStep step = stepOf("aten.expand.default", {{NodeReference{0}}, sizes});
  step.origin = &node;
  bindView(id, aliasOf(self), step, type);
  return {};
}

/// to() and type_as() give the tensor itself when nothing would change.
Status GraphRewriter::takeConverted(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  const TensorType &to = *type.as<TensorType>();
  if (!isFlag(node, "copy", true) && isSameLayout(aliases.type(aliasOf(self)), to)) {
    bind(id, self);
    return {};
  }
  std::vector<Argument> arguments = {{NodeReference{aliases.read(aliasOf(self))}}, emitter.dtype(to.dtype)};
  bindResult(id, emitter.call("aten._to_copy.default", arguments, type));
  return {};
}

Status GraphRewriter::takeContiguous(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  if (!isSameLayout(aliases.type(aliasOf(self)), *type.as<TensorType>()))
    return takeClone(id, node);
  bind(id, self);
  return {};
}

Status GraphRewriter::takeClone(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  Argument operand{NodeReference{aliases.read(aliasOf(self))}};
  bindResult(id, emitter.call("aten.clone.default", {&operand, 1}, type));
  return {};
}

Status GraphRewriter::takeItself(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  bind(id, self);
  return {};
}

Status GraphRewriter::drop(NodeId, const Node &) {
  return {};
}

// ---- parts

Status GraphRewriter::takeParts(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  if (!node.type.as<Type::List>())
    return invalidArgument("[{}] the types of its results are not known: expected those of tensors",
                           node.op());
  std::string_view op =
      node.op() == "aten.unsafe_split.Tensor" ? "aten.split.Tensor" : "aten.split_with_sizes.default";
  NodeId value = emitter.call(op, mapArguments(node), node.type);
  bindList(id, value, aliasOf(self), node);
  return {};
}

/// A split into parts of the size of the first: the size over the count, rounded up.
Status GraphRewriter::takeChunks(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  const auto *types = node.type.as<Type::List>();
  const auto *first = types && !types->empty() ? types->front().as<TensorType>() : nullptr;
  std::optional<int64_t> dim = integer(node, "dim", 0), count = integer(node, "chunks", 0);
  NodeId value = aliases.read(aliasOf(self));
  auto rank = static_cast<int64_t>(emitter.tensor(value).shape.size());
  int64_t axis = dim.value_or(rank) + (dim.value_or(0) < 0 ? rank : 0);
  if (!first || !count || axis < 0 || axis >= rank || static_cast<int64_t>(first->shape.size()) != rank)
    return invalidArgument("[{}] its parts are not known: expected constant dimensions and tensors",
                           node.op());
  SymInt size = first->shape[axis];
  Argument part{size.isConstant() ? size.constant() : 0};
  if (!size.isConstant()) {
    SymInt added =
        program.expressions.make(ExpressionKind::Add, {emitter.tensor(value).shape[axis], *count - 1});
    std::vector<Argument> operands = {emitter.size(value, axis), {*count - 1}};
    operands = {{NodeReference{emitter.sizeNode(emitter.operation("_operator.add"), operands, added)}},
                {*count}};
    part = {NodeReference{emitter.sizeNode(emitter.operation("_operator.floordiv"), operands, size)}};
  }
  std::vector<Argument> arguments = {{NodeReference{value}}, part, {axis}};
  bindList(id, emitter.call("aten.split.Tensor", arguments, node.type), aliasOf(self), node);
  return {};
}

// ---- strides

/// as_strided counts in the memory, whatever view of it is given.
Result<ViewStep> GraphRewriter::stepInMemory(const Node &node, TensorId tensor) {
  AliasId alias = aliasOf(tensor);
  if (!denseOrder(aliases.type(aliases.memoryOf(alias)), program.expressions))
    return fail(ErrorCode::Unimplemented,
                "[{}] the layout of the memory is not known: expected a tensor that lies there without gaps, "
                "and row by row if its sizes are dynamic",
                node.op());
  Argument offset = mapped(node, "storage_offset");
  std::optional<int64_t> known = aliases.offset(alias);
  if (offset.isNone() && !known)
    return fail(ErrorCode::Unimplemented,
                "[{}] the place of the tensor in its memory is not known: expected a storage_offset",
                node.op());
  if (offset.isNone())
    offset = {*known};
  return stridedStep(node, offset);
}

ViewStep GraphRewriter::stridedStep(const Node &node, Argument offset) {
  std::vector<Argument> arguments = {
      {NodeReference{0}}, mapped(node, "size"), mapped(node, "stride"), offset};
  ViewStep step = stepOf("aten.as_strided.default", arguments);
  step.inverse = Inverse::Strided;
  step.origin = &node;
  return step;
}

Status GraphRewriter::takeStrided(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  TORCHERE_ASSIGN(ViewStep step, stepInMemory(node, self));
  bindView(id, aliases.memoryOf(aliasOf(self)), step, type);
  return {};
}

/// A copy in the tensor's own layout, of which the places of the strides are written.
Status GraphRewriter::scatterStrided(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(TensorId source, tensorArgument(node, 1));
  NodeId value = aliases.read(aliasOf(self));
  std::optional<int64_t> begin = aliases.offset(aliasOf(self));
  Argument offset = mapped(node, "storage_offset");
  if (offset.isNone())
    offset = {int64_t{0}};
  else if (const auto *place = offset.as<int64_t>(); place && begin)
    offset = {*place - *begin};
  else if (begin != 0)
    begin = std::nullopt;
  if (!begin || !denseOrder(emitter.tensor(value), program.expressions))
    return fail(ErrorCode::Unimplemented,
                "[{}] the tensor's layout is not known: expected one that lies in its memory without gaps, "
                "at a known place",
                node.op());
  bindResult(id, putBack(emitter, stridedStep(node, offset), value, aliases.read(aliasOf(source))));
  return {};
}

// ---- tensors that become other views of their memory

static Error inputChanged(const Node &node) {
  return {
      ErrorCode::Unimplemented,
      fmt::format("[{}] changes the sizes of an input in place: expected that of a tensor that the program "
                  "has made",
                  node.op()),
      {}};
}

Status GraphRewriter::changeStrides(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  TORCHERE_ASSIGN(ViewStep step, stepInMemory(node, self));
  if (self < inputCount)
    return tl::unexpected(inputChanged(node));
  AliasId memory = aliases.memoryOf(aliasOf(self));
  NodeId value = takeView(emitter, step, aliases.read(memory), type);
  tensors[self] = aliases.addView(memory, step, value);
  bind(id, self);
  return {};
}

Status GraphRewriter::changeSizes(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  TORCHERE_ASSIGN(Type type, resultType(node));
  if (self < inputCount)
    return tl::unexpected(inputChanged(node));
  std::string op = node.op();
  op.erase(op.find("_."), 1);
  if (op == "aten.transpose.default" || op.starts_with("aten.swap"))
    op = "aten.transpose.int";
  AliasId alias = aliasOf(self);
  ViewStep step = stepOf(op, mapArguments(node));
  step.origin = &node;
  NodeId value = takeView(emitter, step, aliases.read(alias), type);
  tensors[self] = aliases.addView(alias, step, value);
  bind(id, self);
  return {};
}

// ---- writes

Status GraphRewriter::writeZeros(NodeId id, const Node &node) {
  TORCHERE_ASSIGN(TensorId self, tensorArgument(node));
  NodeId value = aliases.anyValue(aliasOf(self));
  Argument operand{NodeReference{value}};
  NodeId zeros = emitter.call("aten.zeros_like.default", {&operand, 1}, emitter[value].type);
  TORCHERE_TRY(write(aliasOf(self), zeros, node));
  bind(id, self);
  return {};
}

/// Training writes the running statistics, which no schema but one says.
Status GraphRewriter::normalizeBatch(NodeId id, const Node &node) {
  bool isTraining = isFlag(node, "training", true);
  TORCHERE_ASSIGN(TensorId input, tensorArgument(node));
  bool hasStatistics = argument(node, "running_mean") && argument(node, "running_var");
  if (!isTraining && (!hasStatistics || !isFlag(node, "training", false)))
    return invalidArgument(
        "[{}] has no statistics to normalize by: expected running_mean and running_var, or "
        "training",
        node.op());
  const auto *given = node.type.as<Type::List>();
  std::vector<Type> types = given ? std::vector<Type>(given->begin(), given->end()) : std::vector{node.type};
  const TensorType &from = aliases.type(aliasOf(input));
  if (!types.front().as<TensorType>() || from.shape.size() < 2)
    return invalidArgument("[{}] got an input of {} dimensions, expected at least 2", node.op(),
                           from.shape.size());
  SymInt channels = isTraining ? from.shape[1] : SymInt(0);
  while (types.size() < 3)
    types.push_back(emitter.tensorType(from.dtype, {&channels, 1}, {}, from.device));
  std::vector<Argument> arguments;
  auto add = [&](std::initializer_list<std::string_view> names) {
    for (std::string_view name : names)
      arguments.push_back(mapped(node, name));
  };
  add({"input", "weight", "bias"});
  if (hasStatistics)
    add({"running_mean", "running_var"});
  if (isTraining)
    arguments.push_back({true});
  add({"momentum", "eps"});
  NodeId value = 0;
  if (!isTraining) {
    value =
        emitter.call("aten._native_batch_norm_legit_no_training.default", arguments, emitter.listType(types));
  } else if (!hasStatistics) {
    value = emitter.call("aten._native_batch_norm_legit.no_stats", arguments, emitter.listType(types));
  } else {
    TORCHERE_ASSIGN(value, normalizeTraining(node, arguments, types));
  }
  if (given)
    bindList(id, value, std::nullopt, node);
  else
    bindResult(id, emitter.getItem(value, 0, types.front()));
  return {};
}

/// Gives the running statistics their new values.
Result<NodeId> GraphRewriter::normalizeTraining(const Node &node, std::span<const Argument> arguments,
                                                std::vector<Type> types) {
  const schema::Schema &schema = *node.callee->schema;
  std::vector<TensorId> statistics;
  for (std::string_view name : {"running_mean", "running_var"}) {
    TORCHERE_ASSIGN(TensorId statistic, tensorArgument(node, schema.position(name)));
    statistics.push_back(statistic);
    types.push_back(emitter[aliases.anyValue(aliasOf(statistic))].type);
  }
  NodeId value =
      emitter.call("aten._native_batch_norm_legit_functional.default", arguments, emitter.listType(types));
  for (size_t i = 0; i < statistics.size(); ++i)
    TORCHERE_TRY(write(aliasOf(statistics[i]),
                       emitter.getItem(value, static_cast<int64_t>(3 + i), types[3 + i]), node));
  return value;
}

} // namespace torchere::functionalization
