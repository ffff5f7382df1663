// Writes batch norms of inference as arithmetic, which other fusions find.
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/splats.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

/// (x - mean) * (scale / sqrt(variance + epsilon)) + offset, of vectors of the features.
static Value expandedBatchNorm(OpBuilder &builder, stablehlo::BatchNormInferenceOp op) {
  Location location = op.getLoc();
  auto feature = static_cast<int64_t>(op.getFeatureIndex());
  Type type = op.getOperand().getType();
  auto spread = [&](Value vector) {
    return stablehlo::BroadcastInDimOp::create(builder, location, type, vector,
                                               builder.getDenseI64ArrayAttr({feature}))
        ->getResult(0);
  };
  Value epsilon = splatOf(builder, location, cast<RankedTensorType>(op.getVariance().getType()),
                          op.getEpsilon().convertToDouble());
  Value variance = stablehlo::AddOp::create(builder, location, op.getVariance(), epsilon)->getResult(0);
  Value deviation = stablehlo::SqrtOp::create(builder, location, variance)->getResult(0);
  Value factor = stablehlo::DivOp::create(builder, location, op.getScale(), deviation)->getResult(0);
  Value centred =
      stablehlo::SubtractOp::create(builder, location, op.getOperand(), spread(op.getMean()))->getResult(0);
  Value scaled = stablehlo::MulOp::create(builder, location, centred, spread(factor))->getResult(0);
  return stablehlo::AddOp::create(builder, location, scaled, spread(op.getOffset()))->getResult(0);
}

int64_t fuseBatchNorms(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::BatchNormInferenceOp op) {
    Type element = getElementTypeOrSelf(op.getOperand().getType());
    if (!element.isF32() && !element.isF64()) // of others each op would round
      return;
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(expandedBatchNorm(builder, op));
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
