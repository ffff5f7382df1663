// ConvolutionChain: a convolution with the ops after it that its kernel can compute as well.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace torchere::cpu {

/// What is known of values that depend on arguments and constants alone.
using FixedValues = llvm::DenseMap<mlir::Value, bool>;

/// In this order: factors and sums of channels (a batch norm, a bias), a residual, an activation.
struct ConvolutionChain {
  // Operands are kept, not values, which may be replaced before the chain is.
  enum class ChannelOp { Add, Subtract, SubtractFrom, Multiply, Divide };
  struct ChannelStep {
    ChannelOp op;
    mlir::OpOperand *operand; ///< of the convolution's shape, the same all over each channel
  };
  stablehlo::ConvolutionOp convolution;
  llvm::SmallVector<ChannelStep> steps;
  mlir::OpOperand *residual = nullptr;
  Activation activation = Activation::None;
  mlir::Operation *end = nullptr; ///< its result is the chain's

  int64_t channelDimension() const {
    return stablehlo::ConvolutionOp(convolution).getDimensionNumbers().getOutputFeatureDimension();
  }
};

/// The longest chain, whose values before the last are used nowhere else. Ops that are `taken` belong to
/// another chain; those of this one are added. Channels are scaled only where the scaled weights stay the
/// same from call to call.
ConvolutionChain findChain(stablehlo::ConvolutionOp convolution, llvm::DenseSet<mlir::Operation *> &taken,
                           FixedValues &fixed);

/// The chain's weights, and its bias, a vector of the channels; null for none.
struct FoldedChannels {
  mlir::Value weights, bias;
};
/// Builds them: the kernels of each output channel are multiplied by its factor.
FoldedChannels foldChannels(mlir::OpBuilder &builder, const ConvolutionChain &chain);

} // namespace torchere::cpu
