// Islands: the tensors of a function that lie in blocks of channels, while convolutions, and what lies
// between them, are laid out.
#pragma once

#include "cpu/frontend/fusion/blocked_value.h"
#include "cpu/frontend/fusion/convolution_call.h"
#include "cpu/frontend/fusion/convolution_chain.h"
#include "cpu/frontend/fusion/repeated_elements.h"
#include "cpu/frontend/fusion/weight_gradient.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace torchere::cpu {

enum class PoolingKind {
  Maximum,
  Mean,       ///< of all taps, where those on padding are zeros
  MeanOfTaps, ///< of those that meet the input
};

/// A norm over groups of channels that follow each other, with what follows it alone.
struct GroupNorm {
  mlir::Value input; ///< N x C x space
  int64_t groups = 1;
  mlir::Operation *end = nullptr;                    ///< its result is the norm's
  mlir::OpOperand *scale = nullptr, *bias = nullptr; ///< the same all over each channel; or null
  Activation activation = Activation::None;
};

class Islands {
public:
  Islands(mlir::func::FuncOp function, Isa isa)
      : function(function), builder(function.getContext()), blocked(builder, isa), convolutions(function) {}
  /// How many convolutions it has laid out.
  int64_t run();

private:
  void findWanted(mlir::Block &block);
  void visit(mlir::Block &block);
  void rewrite(mlir::Operation *op);
  void rewriteConvolution(const ConvolutionChain &chain);
  void rewriteTranspose(stablehlo::TransposeOp op);
  void rewriteReshape(stablehlo::ReshapeOp op);
  void rewriteInterpolation(mlir::Operation *op, int64_t axis, llvm::SmallVector<mlir::Value> operands);
  void rewriteGather(stablehlo::GatherOp op);
  void rewritePad(stablehlo::PadOp op);
  void rewriteUpsampling(stablehlo::ReshapeOp op, const RepeatedElements &repeated);
  /// Each pixel several times, or, with `fillsZeros`, once and zeros.
  BlockedValue createUpsampling(mlir::Location location, const BlockedValue &input,
                                llvm::ArrayRef<int64_t> factors, const Halo &halo, bool fillsZeros = false);
  void rewriteBroadcast(stablehlo::BroadcastInDimOp op);
  void rewriteSlice(stablehlo::SliceOp op);
  void rewriteConcatenation(stablehlo::ConcatenateOp op);
  bool rewriteShuffle(stablehlo::ReshapeOp op);
  /// Channels of tensors of one order, counted one tensor after the other.
  BlockedValue channelsOf(mlir::Location location, llvm::ArrayRef<BlockedValue> inputs,
                          llvm::ArrayRef<int64_t> channels, const Halo &halo);
  void rewritePooling(stablehlo::ReduceWindowOp op);
  mlir::Operation *createPooling(mlir::Location location, mlir::RankedTensorType type,
                                 const BlockedValue &input, llvm::ArrayRef<int64_t> window,
                                 const DepthWindow &depth, PoolingKind kind, const Halo &halo = {});
  void rewriteSpace(stablehlo::ReduceOp op);
  void rewriteWeightGradient(stablehlo::ConvolutionOp op, const WeightGradient &gradient);
  void rewriteNorm(mlir::Operation *op);
  bool rewriteChannelNorm(mlir::Operation *op);
  std::optional<GroupNorm> groupNormOf(mlir::Operation *op) const;
  void rewriteElementwise(mlir::Operation *op);

  /// The value in blocks, if it is there, for ops in the block of `user`.
  BlockedValue find(mlir::Value planar, mlir::Operation *user) const;
  BlockedValue operandFor(mlir::Value planar, const PlanarOrder &order, mlir::Operation *user);
  BlockedValue elementwiseOperand(mlir::Value operand, const BlockedValue &like, mlir::Operation *user);
  Halo wantedHalo(mlir::Value planar) const;
  /// The value replaces the op's result.
  void replace(mlir::Operation *op, const BlockedValue &value);

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  BlockedBuilder blocked;
  ConvolutionChains convolutions;
  llvm::DenseMap<mlir::Value, BlockedValue> twins;
  /// Values that kernels on blocks take, directly or through ops that may be computed on blocks. Others are
  /// better computed on planes, with one conversion before them.
  llvm::DenseSet<mlir::Value> wanted;
};

} // namespace torchere::cpu
