// Ops whose result shape is computed at run time.
#include "evaluation/rearrangement.h"
#include "interpreter/convolution.h"
#include "interpreter/gather.h"

namespace torchere::interpreter {

namespace {

/// An operand that holds a shape.
Result<Index> shapeOperand(const Call &call, size_t operand) {
  Index shape = call.operand(operand).integers();
  for (int64_t size : shape)
    if (size < 0)
      return invalidArgument("operand {} holds the size {}, expected at least 0", operand, size);
  return shape;
}

Result<Values> dynamicIota(const Call &call) {
  TORCHERE_ASSIGN(ElementType type, call.resultType());
  TORCHERE_ASSIGN(Index shape, shapeOperand(call, 0));
  return oneResult(iota(type, std::move(shape), call.integer("iota_dimension")));
}

Result<Values> dynamicBroadcastInDim(const Call &call) {
  TORCHERE_ASSIGN(Index shape, shapeOperand(call, 1));
  return oneResult(broadcastInDim(call.operand(0), std::move(shape), call.integers("broadcast_dimensions")));
}

Result<Values> dynamicReshape(const Call &call) {
  TORCHERE_ASSIGN(Index shape, shapeOperand(call, 1));
  // Creates an empty tensor to check that the product of the sizes does not overflow.
  TORCHERE_ASSIGN(Tensor result, Tensor::create(ElementType::Bool, shape));
  const Tensor &operand = call.operand(0);
  if (result.count() != operand.count())
    return invalidArgument("{} cannot take the shape [{}]: the number of elements differs",
                           operand.typeText(), fmt::join(shape, ", "));
  return Values{operand.reshaped(std::move(shape))};
}

Result<Values> dynamicPad(const Call &call) {
  return oneResult(pad(call.operand(0), call.operand(1), call.operand(2).integers(),
                       call.operand(3).integers(), call.operand(4).integers()));
}

Result<Values> realDynamicSlice(const Call &call) {
  return oneResult(slice(call.operand(0), call.operand(1).integers(), call.operand(2).integers(),
                         call.operand(3).integers()));
}

Result<Values> dynamicGather(const Call &call) {
  return gatherBy(call, call.operand(2).integers());
}

Result<Values> dynamicConvolution(const Call &call) {
  return convolve(call, call.operand(2).integers());
}

} // namespace

void addDynamism(EvaluationTable &table) {
  table.add("stablehlo.dynamic_broadcast_in_dim", dynamicBroadcastInDim);
  table.addComputation("stablehlo.dynamic_conv", dynamicConvolution);
  table.add("stablehlo.dynamic_gather", dynamicGather);
  table.addComputation("stablehlo.dynamic_iota", dynamicIota);
  table.add("stablehlo.dynamic_pad", dynamicPad);
  table.add("stablehlo.dynamic_reshape", dynamicReshape);
  table.add("stablehlo.real_dynamic_slice", realDynamicSlice);
}

} // namespace torchere::interpreter
