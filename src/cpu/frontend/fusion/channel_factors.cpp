// Makes depthwise convolutions of one pixel of the factors and sums of channels in front of a convolution
// (the batch norms of DenseNet), whose kernel takes the activation between them and writes the halo.
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/convolution_chain.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/fusion/splats.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// The op that makes the value, if nothing else needs it.
Operation *onlyMaker(mlir::Value value) {
  return value.hasOneUse() ? value.getDefiningOp() : nullptr;
}

/// The first of the factors and sums of channels from which a value is made, and the operand that they
/// change.
struct ChannelFactors {
  OpOperand *input = nullptr;
  bool hasFactor = false;
};

ChannelFactors findFactors(mlir::Value value, int64_t channels, FixedValues &fixed) {
  ChannelFactors found;
  for (Operation *op = onlyMaker(value);
       isa_and_nonnull<stablehlo::AddOp, stablehlo::MulOp, stablehlo::SubtractOp>(op);
       op = onlyMaker(found.input->get())) {
    bool isSecond = !isOfChannels(op->getOperand(1), channels) && !isa<stablehlo::SubtractOp>(op);
    mlir::Value operand = op->getOperand(isSecond ? 0 : 1);
    if (!isOfChannels(operand, channels) || !isFixed(operand, fixed))
      break;
    found.input = &op->getOpOperand(isSecond ? 1 : 0);
    found.hasFactor |= isa<stablehlo::MulOp>(op);
  }
  return found;
}

/// Whether it is made by a norm of groups of channels, which are rows of another shape: that takes factors of
/// its channels itself.
bool takesFactors(mlir::Value value) {
  Operation *op = onlyMaker(value);
  if (isa_and_nonnull<stablehlo::ReshapeOp>(op))
    op = onlyMaker(op->getOperand(0));
  return isKernelCall(op, "norm");
}

/// From an order of dimensions to the same.
stablehlo::ConvDimensionNumbersAttr numbersOf(OpBuilder &builder, const PlanarOrder &order) {
  SmallVector<int64_t> spatial, kernelSpatial;
  for (int64_t dimension : {order[4], order[2], order[3]})
    if (dimension >= 0) {
      kernelSpatial.push_back(static_cast<int64_t>(spatial.size()) + 2);
      spatial.push_back(dimension);
    }
  return stablehlo::ConvDimensionNumbersAttr::get(
      builder.getContext(), order[0], order[1], spatial, /*kernelInputFeatureDimension=*/1,
      /*kernelOutputFeatureDimension=*/0, kernelSpatial, order[0], order[1], spatial);
}

} // namespace

int64_t fuseChannelFactors(func::FuncOp function) {
  int64_t count = 0;
  FixedValues fixed;
  const ConvolutionChains convolutions(function);
  function.walk([&](stablehlo::ConvolutionOp convolution) {
    auto found = convolutions.calls.find(convolution);
    if (found == convolutions.calls.end() || found->second.isPlanar)
      return;
    const ConvolutionCall &call = found->second;
    mlir::Value value = convolution.getLhs();
    // The activation may be needed by several convolutions.
    if (auto relu = value.getDefiningOp<stablehlo::MaxOp>(); relu && splatNumber(relu->getOperand(1)) == 0.0)
      value = relu->getOperand(0);
    ChannelFactors factors = findFactors(value, call.inputOrder[1], fixed);
    if (!factors.hasFactor)
      return;
    mlir::Value input = factors.input->get();
    if (convolutions.taken.contains(factors.input->getOwner()) || takesFactors(input))
      return;
    OpBuilder builder(factors.input->getOwner());
    factors.input->set(createUnchangedChannels(builder, cast<RankedTensorType>(input.getType()), input,
                                               numbersOf(builder, call.inputOrder)));
    ++count;
  });
  return count;
}

} // namespace torchere::cpu
