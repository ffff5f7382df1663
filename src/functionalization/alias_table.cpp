// AliasTable: reads that take views again, and writes that go back to the memory.
#include "functionalization/alias_table.h"

#include "functionalization/memory_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace torchere::functionalization {

using namespace program;

AliasId AliasTable::addMemory(NodeId value) {
  auto id = static_cast<AliasId>(aliases.size());
  aliases.push_back({.memory = id, .parent = id, .value = value});
  aliases.back().overlaps = hasInternalOverlap(emitter.tensor(value));
  return id;
}

static bool isExpand(const ViewStep &step) {
  return step.op && step.op->name == "aten.expand.default";
}

AliasId AliasTable::addView(AliasId of, ViewStep step, NodeId value) {
  auto id = static_cast<AliasId>(aliases.size());
  const Alias &parent = aliases[of];
  const TensorType &type = emitter.tensor(value);
  Alias alias{.memory = parent.memory, .parent = of, .value = value, .version = parent.version};
  alias.overlaps = parent.overlaps || hasInternalOverlap(type) ||
                   (isExpand(step) && emitter.countOf(type) != emitter.countOf(emitter.tensor(parent.value)));
  alias.offset = offsetOf(parent, step);
  alias.step = std::move(step);
  aliases.push_back(std::move(alias));
  return id;
}

std::vector<AliasId> AliasTable::pathToMemory(AliasId alias) const {
  std::vector<AliasId> path;
  for (; aliases[alias].parent != alias; alias = aliases[alias].parent)
    path.push_back(alias);
  return path;
}

NodeId AliasTable::read(AliasId alias) {
  uint32_t version = versionOf(aliases[alias]);
  std::vector<AliasId> stale;
  for (; aliases[alias].version != version; alias = aliases[alias].parent)
    stale.push_back(alias);
  NodeId value = aliases[alias].value;
  while (!stale.empty()) {
    Alias &next = aliases[stale.back()];
    stale.pop_back();
    value = next.value = takeView(emitter, next.step, value, emitter[next.value].type);
    next.version = version;
  }
  return value;
}

/// As eager: what has one place for two elements cannot be written.
Status AliasTable::checkWritable(AliasId alias, std::string_view op) const {
  const TensorType &type = this->type(alias);
  const TensorType &memory = this->type(aliases[alias].memory);
  for (const TensorType *written : {&type, &memory}) {
    if (!hasInternalOverlap(*written))
      continue;
    std::vector<std::string> sizes, strides;
    for (SymInt size : written->shape)
      sizes.push_back(emitter.target().expressions.print(size));
    for (SymInt stride : written->strides)
      strides.push_back(emitter.target().expressions.print(stride));
    return invalidArgument("[{}] writes to a tensor of which several elements lie in one place: got sizes "
                           "[{}] with strides [{}], expected a place for each (clone it first)",
                           op, fmt::join(sizes, ", "), fmt::join(strides, ", "));
  }
  return {};
}

Status AliasTable::write(AliasId alias, NodeId value, std::string_view op) {
  TORCHERE_TRY(checkWritable(alias, op));
  bool needsIndex = aliases[alias].overlaps;
  for (AliasId view : pathToMemory(alias))
    needsIndex |= aliases[view].step.inverse == Inverse::ByIndex;
  if (needsIndex)
    return writeByIndex(alias, value, op);
  writeThroughViews(alias, value);
  return {};
}

/// Back from view to view; each on the way has its new value then.
void AliasTable::writeThroughViews(AliasId alias, NodeId value) {
  uint32_t version = versionOf(aliases[alias]) + 1;
  std::vector<AliasId> path = pathToMemory(alias);
  for (AliasId view : path) {
    AliasId parent = aliases[view].parent;
    NodeId from = readsOldValue(aliases[view].step.inverse) ? read(parent) : aliases[parent].value;
    aliases[view].value = value;
    aliases[view].version = version;
    value = putBack(emitter, aliases[view].step, from, value);
  }
  Alias &memory = aliases[aliases[alias].memory];
  memory.value = value;
  memory.version = memory.memoryVersion = version;
}

/// The place of each of the tensor's elements in its memory: the same views, taken of 0, 1, 2, ...
NodeId AliasTable::placesOf(AliasId alias) {
  NodeId base = aliases[aliases[alias].memory].value;
  const TensorType &type = emitter.tensor(base);
  SymInt count = emitter.countOf(type);
  Argument end{count.isConstant() ? count.constant() : 0};
  Argument operand = reference(base);
  if (!count.isConstant())
    end = reference(emitter.sizeNode(emitter.operation("aten.sym_numel.default"), {&operand, 1}, count));
  std::array<Argument, 3> arguments = {Argument{int64_t(0)}, end, Argument{int64_t(1)}};
  NodeId places = emitter.call("aten.arange.start_step", arguments,
                               emitter.tensorType(DType::I64, {&count, 1}, {}, type.device));
  places = emitter.reshapeLike(places, base, emitter.withDType(emitter[base].type, DType::I64));
  std::vector<AliasId> path = pathToMemory(alias);
  while (!path.empty()) {
    const Alias &view = aliases[path.back()];
    path.pop_back();
    places = takeView(emitter, view.step, places, emitter.withDType(emitter[view.value].type, DType::I64));
  }
  return places;
}

Status AliasTable::writeByIndex(AliasId alias, NodeId value, std::string_view op) {
  for (AliasId view : pathToMemory(alias)) {
    const ViewStep &step = aliases[view].step;
    bool isComplex = dtypeInfo(type(view).dtype).isComplex; // an op may conjugate what it gives
    if (type(view).dtype != type(aliases[view].parent).dtype ||
        (isComplex && step.inverse == Inverse::ByIndex))
      return fail(ErrorCode::Unimplemented,
                  "[{}] writes through {}, whose inverse is not known: expected a view that moves elements "
                  "alone",
                  op, step.op->name);
  }
  NodeId base = read(aliases[alias].memory);
  Argument places = reference(emitter.flatten(placesOf(alias)));
  std::array<Argument, 3> arguments = {reference(emitter.flatten(base)), emitter.list({&places, 1}),
                                       reference(emitter.flatten(value))};
  Type flatType = emitter[arguments[0].as<NodeReference>()->node].type;
  NodeId put = emitter.call("aten.index_put.default", arguments, flatType);
  Alias &memory = aliases[aliases[alias].memory];
  memory.value = emitter.reshapeLike(put, base, emitter[base].type);
  memory.version = ++memory.memoryVersion;
  aliases[alias].value = value;
  aliases[alias].version = memory.version;
  return {};
}

/// Slices and selections by constants move the first element; other views of dense memory do not.
std::optional<int64_t> AliasTable::offsetOf(const Alias &parent, const ViewStep &step) const {
  if (!parent.offset)
    return std::nullopt;
  switch (step.inverse) {
  case Inverse::Identity:
  case Inverse::Reshape:
  case Inverse::Permute:
  case Inverse::Same:
    return parent.offset;
  case Inverse::Slice:
  case Inverse::Select:
    break;
  case Inverse::Diagonal:
  case Inverse::Element:
  case Inverse::ViewReal:
  case Inverse::ViewComplex:
  case Inverse::ViewDType:
  case Inverse::Strided:
  case Inverse::ByIndex:
    return std::nullopt;
  }
  const TensorType &type = emitter.tensor(parent.value);
  auto constantAt = [&](size_t index, int64_t otherwise) -> std::optional<int64_t> {
    if (index >= step.arguments.size() || !step.arguments[index].isGiven() || step.arguments[index].isNone())
      return otherwise;
    const auto *value = step.arguments[index].as<int64_t>();
    return value ? std::optional(*value) : std::nullopt;
  };
  auto rank = static_cast<int64_t>(type.shape.size());
  std::optional<int64_t> dim = constantAt(1, 0), index = constantAt(2, 0);
  if (!dim || !index || type.strides.size() != type.shape.size())
    return std::nullopt;
  int64_t axis = *dim < 0 ? *dim + rank : *dim;
  if (axis < 0 || axis >= rank || !type.shape[axis].isConstant() || !type.strides[axis].isConstant())
    return std::nullopt;
  int64_t size = type.shape[axis].constant(), start = *index < 0 ? *index + size : *index, moved = 0;
  if (__builtin_mul_overflow(std::clamp<int64_t>(start, 0, size), type.strides[axis].constant(), &moved) ||
      __builtin_add_overflow(moved, *parent.offset, &moved))
    return std::nullopt;
  return moved;
}

} // namespace torchere::functionalization
