// Constants, and ops that rearrange elements.
#include "evaluation/constants.h"
#include "evaluation/elementwise.h"
#include "evaluation/rearrangement.h"
#include "interpreter/reducer.h"

namespace torchere::interpreter {

namespace {

Result<Values> constant(const Call &call) {
  auto value = call.attribute<mlir::ElementsAttr>("value");
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Tensor result, tensorOf(value));
  if (result.type() == type)
    return Values{std::move(result)};
  // The integers of a quantized constant may be written without the signedness that its type implies.
  auto asStored = [=](const Element &element) { return Element::integer(type, element.asUnsigned()); };
  return oneResult(mapElements(result, type, asStored));
}

Result<Values> iotaOf(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return oneResult(iota(type, std::move(shape), call.integer("iota_dimension")));
}

Result<Values> broadcastInDimOf(const Call &call) {
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return oneResult(broadcastInDim(call.operand(0), std::move(shape), call.integers("broadcast_dimensions")));
}

/// The new dimensions come first.
Result<Values> broadcast(const Call &call) {
  const Tensor &operand = call.operand(0);
  Index shape = call.integers("broadcast_sizes"), dimensions;
  for (size_t dimension = 0; dimension < operand.shape().size(); ++dimension) {
    dimensions.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(operand.shape()[dimension]);
  }
  return oneResult(broadcastInDim(operand, std::move(shape), dimensions));
}

Result<Values> reshape(const Call &call) {
  TORCHERE_ASSIGN(Index shape, call.resultShape());
  return Values{call.operand(0).reshaped(std::move(shape))};
}

Result<Values> transposeOf(const Call &call) {
  return oneResult(transpose(call.operand(0), call.integers("permutation")));
}

Result<Values> reverseOf(const Call &call) {
  return oneResult(reverse(call.operand(0), call.integers("dimensions")));
}

Result<Values> concatenateOf(const Call &call) {
  std::vector<Tensor> inputs = tensorOperands(call, 0, call.operandCount());
  return oneResult(concatenate(call.integer("dimension"), inputs));
}

Result<Values> padOf(const Call &call) {
  return oneResult(pad(call.operand(0), call.operand(1), call.integers("edge_padding_low"),
                       call.integers("edge_padding_high"), call.integers("interior_padding")));
}

Result<Values> getDimensionSize(const Call &call) {
  int64_t size = call.operand(0).shape()[call.integer("dimension")];
  return Values{Tensor::scalar(Element::integer(ElementType::I32, static_cast<uint64_t>(size)))};
}

/// Truncates the dimension. It cannot grow: nothing exists beyond the declared bound.
Result<Values> setDimensionSize(const Call &call) {
  const Tensor &operand = call.operand(0);
  int64_t dimension = call.integer("dimension"), size = call.operand(1).at(int64_t(0)).asSigned();
  Index shape = operand.shape();
  if (size < 0 || size > shape[dimension])
    return invalidArgument("size of dimension {}: got {}, expected it in [0, {}]", dimension, size,
                           shape[dimension]);
  shape[dimension] = size;
  return oneResult(
      take(operand, std::move(shape), [&](IndexView index) { return flatten(index, operand.shape()); }));
}

} // namespace

void addShape(EvaluationTable &table) {
  table.add("stablehlo.broadcast", broadcast);
  table.add("stablehlo.broadcast_in_dim", broadcastInDimOf);
  table.add("stablehlo.concatenate", concatenateOf);
  table.add("stablehlo.constant", constant);
  table.add("stablehlo.get_dimension_size", getDimensionSize);
  table.addComputation("stablehlo.iota", iotaOf);
  table.add("stablehlo.pad", padOf);
  table.add("stablehlo.reshape", reshape);
  table.add("stablehlo.reverse", reverseOf);
  table.add("stablehlo.set_dimension_size", setDimensionSize);
  table.add("stablehlo.transpose", transposeOf);
}

} // namespace torchere::interpreter
