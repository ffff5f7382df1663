// Multiplies gates of channels (squeeze-and-excitation) into the weights of the convolution behind: of an
// image these are fewer numbers than its pixels, and they are in the cache.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

/// Of an image, for each of which all weights are scaled.
static constexpr int64_t fewestPixels = 512;

/// The pixel of each image that is spread over it; null if its numbers may lie outside of [0, 1], where a
/// product with a weight could leave the range of f32 though that with the input does not.
static Value gateOf(Value spread) {
  auto broadcast = spread.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast || !isKernelCall(broadcast.getOperand().getDefiningOp(), "convolution"))
    return {};
  Value pixel = broadcast.getOperand();
  ConvolutionCall call = convolutionCallIn(pixel.getDefiningOp());
  bool isBounded = (call.activation == Activation::Sigmoid || call.activation == Activation::HardSigmoid) &&
                   !call.hasSlopes && !call.hasFactors && !call.addsResidualLast;
  ArrayRef<int64_t> sizes = dimensionsOf(pixel);
  bool isSpread = sizes.size() == 5 && sizes[2] == 1 && sizes[3] == 1 &&
                  broadcast.getBroadcastDimensions() == ArrayRef<int64_t>({0, 1, 2, 3, 4});
  return isBounded && isSpread ? pixel : Value();
}

static bool takesGate(const ConvolutionCall &call, Isa isa) {
  ConvolutionPlan plan = call.plan(isa);
  return canGate(plan) && plan.shape.outputHeight * plan.shape.outputWidth >= fewestPixels;
}

int64_t fuseGates(func::FuncOp function, Isa isa) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (!isKernelCall(op, "convolution"))
      return;
    ConvolutionCall call = convolutionCallIn(op);
    auto product = op->getOperand(0).getDefiningOp<stablehlo::MulOp>();
    if (!product || !product->hasOneUse() || !takesGate(call, isa))
      return;
    for (unsigned side : {0u, 1u})
      if (Value gate = gateOf(product->getOperand(side))) {
        call.hasGate = true;
        OpBuilder builder(op);
        op->setOperand(0, product->getOperand(1 - side));
        op->insertOperands(op->getNumOperands(), gate);
        op->setAttr("backend_config", builder.getDictionaryAttr(attributesOf(builder, call)));
        product->erase();
        ++count;
        return;
      }
  });
  return count;
}

} // namespace torchere::cpu
