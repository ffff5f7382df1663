// Constants, and ops that rearrange elements.
#include "interpreter/ops/elementwise.h"
#include "interpreter/rearrangement.h"
#include "interpreter/reducer.h"

namespace torchere::interpreter {

namespace {

Result<Values> constant(const Call &call) {
  auto value = call.attribute<mlir::ElementsAttr>("value");
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, tensorOf(value));
  if (result.type() == type)
    return Values{std::move(result)};
  // The integers of a quantized constant may be written without the sign that its type gives them.
  auto asStored = [=](const Element &element) { return Element::integer(type, element.asUnsigned()); };
  TORCHERE_ASSIGN(Tensor stored, mapElements(result, type, asStored));
  return Values{std::move(stored)};
}

Result<Values> iota(const Call &call) {
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return iotaOf(call, std::move(shape));
}

Result<Values> broadcastInDim(const Call &call) {
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return broadcastTo(call, std::move(shape));
}

/// The new dimensions come first.
Result<Values> broadcast(const Call &call) {
  const Tensor &operand = call.operand(0);
  Index shape = call.integers("broadcast_sizes");
  size_t added = shape.size();
  shape.insert(shape.end(), operand.shape().begin(), operand.shape().end());
  return take(operand, std::move(shape),
              [&](IndexView index) { return flatten(index.subspan(added), operand.shape()); });
}

Result<Values> reshape(const Call &call) {
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return Values{call.operand(0).reshaped(std::move(shape))};
}

Result<Values> transpose(const Call &call) {
  const Tensor &operand = call.operand(0);
  Index permutation = call.integers("permutation"), shape;
  for (int64_t dimension : permutation)
    shape.push_back(operand.shape()[dimension]);
  Index from(permutation.size());
  return take(operand, std::move(shape), [&](IndexView index) {
    for (size_t dimension = 0; dimension < from.size(); ++dimension)
      from[permutation[dimension]] = index[dimension];
    return flatten(from, operand.shape());
  });
}

Result<Values> reverse(const Call &call) {
  const Tensor &operand = call.operand(0);
  Index dimensions = call.integers("dimensions"), from;
  return take(operand, operand.shape(), [&](IndexView index) {
    from.assign(index.begin(), index.end());
    for (int64_t dimension : dimensions)
      from[dimension] = operand.shape()[dimension] - 1 - from[dimension];
    return flatten(from, operand.shape());
  });
}

Result<Values> concatenate(const Call &call) {
  std::vector<Tensor> inputs = tensorOperands(call, 0, call.operandCount());
  TORCHERE_ASSIGN(Tensor result, concatenateAlong(call.integer("dimension"), inputs));
  return Values{std::move(result)};
}

Result<Values> pad(const Call &call) {
  return padBy(call, call.integers("edge_padding_low"), call.integers("edge_padding_high"),
               call.integers("interior_padding"));
}

Result<Values> getDimensionSize(const Call &call) {
  int64_t size = call.operand(0).shape()[call.integer("dimension")];
  return Values{Tensor::scalar(Element::integer(ElementType::I32, static_cast<uint64_t>(size)))};
}

/// Cuts the dimension off. What lies beyond its declared bound does not exist, so that it cannot grow.
Result<Values> setDimensionSize(const Call &call) {
  const Tensor &operand = call.operand(0);
  int64_t dimension = call.integer("dimension"), size = call.operand(1).at(int64_t(0)).asSigned();
  Index shape = operand.shape();
  if (size < 0 || size > shape[dimension])
    return invalidArgument("size of dimension {}: got {}, expected it in [0, {}]", dimension, size,
                           shape[dimension]);
  shape[dimension] = size;
  return take(operand, std::move(shape), [&](IndexView index) { return flatten(index, operand.shape()); });
}

} // namespace

void addShape(EvaluationTable &table) {
  table.add("stablehlo.broadcast", broadcast);
  table.add("stablehlo.broadcast_in_dim", broadcastInDim);
  table.add("stablehlo.concatenate", concatenate);
  table.add("stablehlo.constant", constant);
  table.add("stablehlo.get_dimension_size", getDimensionSize);
  table.addComputation("stablehlo.iota", iota);
  table.add("stablehlo.pad", pad);
  table.add("stablehlo.reshape", reshape);
  table.add("stablehlo.reverse", reverse);
  table.add("stablehlo.set_dimension_size", setDimensionSize);
  table.add("stablehlo.transpose", transpose);
}

} // namespace torchere::interpreter
