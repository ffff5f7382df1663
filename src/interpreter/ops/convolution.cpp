// convolution with constant padding.
#include "interpreter/convolution.h"

namespace torchere::interpreter {

static Result<Values> convolution(const Call &call) {
  size_t rank = call.operand(0).shape().size() - 2;
  return convolve(call, call.integers("padding", 2 * rank, 0));
}

void addConvolution(EvaluationTable &table) {
  table.addComputation("stablehlo.convolution", convolution);
}

} // namespace torchere::interpreter
