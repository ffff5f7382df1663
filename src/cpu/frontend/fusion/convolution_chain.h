// ConvolutionChain: a convolution with the ops after it that its kernel can compute as well.
#pragma once

#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/kernels/epilogue.h"
#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

/// What is known of values that depend on arguments and constants alone.
using FixedValues = llvm::DenseMap<mlir::Value, bool>;

/// In this order: factors and sums of channels (a batch norm, a bias), a residual, an activation, and behind
/// that slopes of channels, factors and sums again, and the residual if there was none. Transposes may lie
/// between: they only give the dimensions other places.
struct ConvolutionChain {
  // Operands are kept, not values, which may be replaced before the chain is.
  enum class ChannelOp { Add, Subtract, SubtractFrom, Multiply, Divide };
  struct ChannelStep {
    ChannelOp op;
    mlir::OpOperand *operand; ///< of the result's elements, the same all over each channel
    int64_t channelDimension;
    bool scales() const { return op != ChannelOp::Add && op != ChannelOp::Subtract; }
  };
  stablehlo::ConvolutionOp convolution;
  llvm::SmallVector<ChannelStep> steps;
  mlir::OpOperand *residual = nullptr;
  PlanarOrder residualOrder{};
  Activation activation = Activation::None;
  std::optional<ChannelStep> slopes;        ///< a product, of what is not above zero
  llvm::SmallVector<ChannelStep> lastSteps; ///< behind the activation and the slopes
  bool addsResidualLast = false;            ///< behind those
  mlir::Operation *end = nullptr;           ///< its result is the chain's
  PlanarOrder order{};                      ///< of that
};

/// Whether the value depends on arguments and constants alone, by few ops.
bool isFixed(mlir::Value value, FixedValues &fixed, int depth = 0);

/// Whether the value is the same all over each channel.
bool isOfChannels(mlir::Value value, int64_t dimension);

/// Such a value as a vector of the channels.
mlir::Value channelVectorOf(mlir::OpBuilder &builder, mlir::Value value, int64_t dimension);

/// The step that the op makes of the value; none if it does something else.
std::optional<ConvolutionChain::ChannelStep> channelStepOf(mlir::Operation *op, mlir::Value value,
                                                           int64_t channelDimension);

/// The dimensions of a value after a transpose of it.
PlanarOrder transposedOrder(PlanarOrder order, llvm::ArrayRef<int64_t> permutation);

/// The convolutions of a function that kernels compute, each with the longest chain whose values before the
/// last are used nowhere else. Channels are scaled only where the scaled weights stay the same from call to
/// call.
struct ConvolutionChains {
  explicit ConvolutionChains(mlir::func::FuncOp function);
  llvm::DenseMap<mlir::Operation *, ConvolutionCall> calls;   ///< by the convolution
  llvm::DenseMap<mlir::Operation *, ConvolutionChain> chains; ///< by their last op
  llvm::DenseSet<mlir::Operation *> taken;                    ///< ops of chains
};

/// The chain's weights, and vectors of the channels: its bias, and what follows the activation. Null for
/// none; shifts go with factors.
struct FoldedChannels {
  mlir::Value weights, bias, slopes, factors, shifts;
};
/// Builds them: the kernels of each output channel are multiplied by its factor.
FoldedChannels foldChannels(mlir::OpBuilder &builder, const ConvolutionChain &chain);

} // namespace torchere::cpu
