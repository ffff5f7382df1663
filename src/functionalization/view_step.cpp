// View ops and their inverses.
#include "functionalization/view_step.h"

#include "functionalization/memory_layout.h"

#include <algorithm>
#include <unordered_map>

namespace torchere::functionalization {

using namespace program;

Inverse inverseOf(std::string_view op) {
  static const std::unordered_map<std::string_view, Inverse> inverses = {
      {"aten.alias.default", Inverse::Identity},
      {"aten.detach.default", Inverse::Identity},
      {"aten.resolve_conj.default", Inverse::Identity},
      {"aten.resolve_neg.default", Inverse::Identity},
      {"aten.view.default", Inverse::Reshape},
      {"aten._unsafe_view.default", Inverse::Reshape},
      {"aten._reshape_alias.default", Inverse::Reshape},
      {"aten.squeeze.default", Inverse::Reshape},
      {"aten.squeeze.dim", Inverse::Reshape},
      {"aten.squeeze.dims", Inverse::Reshape},
      {"aten.unsqueeze.default", Inverse::Reshape},
      {"aten.expand.default", Inverse::Reshape}, // an expand that repeats elements overlaps: ByIndex
      {"aten.permute.default", Inverse::Permute},
      {"aten.transpose.int", Inverse::Same},
      {"aten.swapaxes.default", Inverse::Same},
      {"aten.swapdims.default", Inverse::Same},
      {"aten.t.default", Inverse::Same},
      {"aten._conj.default", Inverse::Same},
      {"aten.conj.default", Inverse::Same},
      {"aten._neg_view.default", Inverse::Same},
      {"aten.slice.Tensor", Inverse::Slice},
      {"aten.select.int", Inverse::Select},
      {"aten.diagonal.default", Inverse::Diagonal},
      {"aten.view_as_real.default", Inverse::ViewReal},
      {"aten.view_as_complex.default", Inverse::ViewComplex},
      {"aten.view.dtype", Inverse::ViewDType},
  };
  auto found = inverses.find(op);
  return found == inverses.end() ? Inverse::ByIndex : found->second;
}

bool readsOldValue(Inverse inverse) {
  switch (inverse) {
  case Inverse::Slice:
  case Inverse::Select:
  case Inverse::Diagonal:
  case Inverse::Element:
  case Inverse::Strided:
    return true;
  case Inverse::Identity:
  case Inverse::Reshape:
  case Inverse::Permute:
  case Inverse::Same:
  case Inverse::ViewReal:
  case Inverse::ViewComplex:
  case Inverse::ViewDType:
  case Inverse::ByIndex:
    return false;
  }
  return true;
}

/// The memory as a row of elements: what as_strided counts in.
static NodeId flattenMemory(Emitter &emitter, NodeId node) {
  const TensorType &type = emitter.tensor(node);
  std::vector<int64_t> order = *denseOrder(type, emitter.target().expressions);
  if (std::ranges::is_sorted(order))
    return emitter.flatten(node);
  std::vector<SymInt> shape;
  for (int64_t axis : order)
    shape.push_back(type.shape[axis]);
  std::vector<Argument> arguments = {reference(node), emitter.integers(order)};
  return emitter.flatten(emitter.call("aten.permute.default", arguments,
                                      emitter.tensorType(type.dtype, shape, {}, type.device)));
}

/// The row of elements as the tensor that `like` is.
static NodeId unflattenMemory(Emitter &emitter, NodeId flat, NodeId like) {
  Type type = emitter[like].type;
  const TensorType &tensor = emitter.tensor(like);
  std::vector<int64_t> order = *denseOrder(tensor, emitter.target().expressions);
  if (std::ranges::is_sorted(order))
    return emitter.reshapeLike(flat, like, type);
  std::vector<SymInt> shape;
  std::vector<Argument> sizes;
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[order[i]] = static_cast<int64_t>(i);
    shape.push_back(tensor.shape[order[i]]);
    sizes.push_back(emitter.size(like, order[i]));
  }
  std::vector<Argument> arguments = {reference(flat), emitter.list(sizes)};
  NodeId permuted = emitter.call("aten.view.default", arguments,
                                 emitter.tensorType(tensor.dtype, shape, {}, tensor.device));
  arguments = {reference(permuted), emitter.integers(inverse)};
  return emitter.call("aten.permute.default", arguments, type);
}

NodeId takeView(Emitter &emitter, const ViewStep &step, NodeId from, Type type) {
  if (step.inverse == Inverse::Identity)
    return from;
  std::vector<Argument> arguments(step.arguments.begin(), step.arguments.end());
  arguments[0] = reference(step.inverse == Inverse::Strided ? flattenMemory(emitter, from) : from);
  if (!step.listType.as<Type::List>())
    return emitter.call(step.op, arguments, type, step.origin);
  DType dtype = type.as<TensorType>()->dtype;
  NodeId list = emitter.call(step.op, arguments, emitter.withDType(step.listType, dtype), step.origin);
  return emitter.getItem(list, step.element, type, step.origin);
}

static NodeId inversePermutation(Emitter &emitter, const ViewStep &step, NodeId value, Type type) {
  const auto *dims = step.arguments[1].as<Argument::List>();
  auto rank = static_cast<int64_t>(dims->size());
  std::vector<int64_t> inverse(rank);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim = *(*dims)[i].as<int64_t>();
    inverse[dim < 0 ? dim + rank : dim] = i;
  }
  std::vector<Argument> arguments = {reference(value), emitter.integers(inverse)};
  return emitter.call("aten.permute.default", arguments, type);
}

/// X_scatter(from, value, ...) of X(from, ...).
static NodeId scatter(Emitter &emitter, std::string_view op, const ViewStep &step, NodeId from,
                      NodeId value) {
  std::vector<Argument> arguments = {reference(from), reference(value)};
  arguments.insert(arguments.end(), step.arguments.begin() + 1, step.arguments.end());
  return emitter.call(op, arguments, emitter[from].type);
}

/// The parts joined again, one of them by its new value.
static NodeId join(Emitter &emitter, const ViewStep &step, NodeId from, NodeId value) {
  std::vector<Argument> arguments(step.arguments.begin(), step.arguments.end());
  arguments[0] = reference(from);
  NodeId parts = emitter.call(step.op, arguments, step.listType, step.origin);
  const Type::List &types = *step.listType.as<Type::List>();
  std::vector<Argument> joined;
  for (size_t i = 0; i < types.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    joined.push_back(reference(index == step.element ? value : emitter.getItem(parts, index, types[i])));
  }
  Argument dim = arguments.size() > 2 && arguments[2].isGiven() ? arguments[2] : Argument{int64_t(0)};
  std::vector<Argument> operands = {emitter.list(joined), dim};
  return emitter.call("aten.cat.default", operands, emitter[from].type);
}

static NodeId scatterStrided(Emitter &emitter, const ViewStep &step, NodeId from, NodeId value) {
  NodeId flat = flattenMemory(emitter, from);
  return unflattenMemory(emitter, scatter(emitter, "aten.as_strided_scatter.default", step, flat, value),
                         from);
}

NodeId putBack(Emitter &emitter, const ViewStep &step, NodeId from, NodeId value) {
  Type type = emitter[from].type;
  std::vector<Argument> arguments(step.arguments.begin(), step.arguments.end());
  if (!arguments.empty())
    arguments[0] = reference(value);
  switch (step.inverse) {
  case Inverse::Identity:
  case Inverse::ByIndex:
    return value;
  case Inverse::Reshape:
    return emitter.reshapeLike(value, from, type);
  case Inverse::Permute:
    return inversePermutation(emitter, step, value, type);
  case Inverse::Same:
    return emitter.call(step.op, arguments, type);
  case Inverse::Slice:
    return scatter(emitter, "aten.slice_scatter.default", step, from, value);
  case Inverse::Select:
    return scatter(emitter, "aten.select_scatter.default", step, from, value);
  case Inverse::Diagonal:
    return scatter(emitter, "aten.diagonal_scatter.default", step, from, value);
  case Inverse::Element:
    return join(emitter, step, from, value);
  case Inverse::ViewReal:
    return emitter.call("aten.view_as_complex.default", arguments, type);
  case Inverse::ViewComplex:
    return emitter.call("aten.view_as_real.default", arguments, type);
  case Inverse::ViewDType:
    arguments.resize(2);
    arguments[1] = emitter.dtype(type.as<TensorType>()->dtype);
    return emitter.call(step.op, arguments, type);
  case Inverse::Strided:
    return scatterStrided(emitter, step, from, value);
  }
  return value;
}

} // namespace torchere::functionalization
