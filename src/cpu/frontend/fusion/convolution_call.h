// ConvolutionCall: a call of the kernel of blocked convolutions, as attributes.
//
// Its operands are the input (blocked, or planar in the first layer), the weights, then the bias (a whole
// number of blocks), the residual (blocked), what lies behind the activation (each like the bias): slopes,
// factors and shifts, and the gate of the input (a pixel of its blocks); if there are such. Its result is
// blocked.
//
// A call of the kernel of pairs has the attributes of both, as `first` and `depthwise`, and the operands of
// the first one, then those of the depthwise one behind its input.
#pragma once

#include "cpu/frontend/fusion/blocked_value.h"
#include "cpu/kernels/convolution.h"

#include "stablehlo/dialect.h"

#include <string>

namespace torchere::cpu {

struct ConvolutionCall {
  ConvolutionShape shape;
  PlanarOrder inputOrder{};
  PlanarOrder outputOrder{};
  PlanarOrder weightsOrder{}; ///< O, I, H, W, D
  bool isPlanar = false;      ///< the input
  bool mayUseWinograd = false;
  bool isMirrored = false; ///< the weights, along all axes of space
  /// The kernel's input has zeros between the pixels of the convolution's, and behind the last ones.
  int64_t inputDilation[2] = {1, 1};
  bool hasBias = false;
  bool hasResidual = false;
  bool hasSlopes = false;        ///< behind the activation
  bool hasFactors = false;       ///< and shifts, behind those
  bool addsResidualLast = false; ///< behind those
  bool hasGate = false;
  Halo inputHalo;
  Halo residualHalo;
  Halo outputHalo;
  Activation activation = Activation::None;

  unsigned operandCount() const { return 2u + hasBias + hasResidual + hasSlopes + 2u * hasFactors + hasGate; }
  bool isDilated() const { return inputDilation[0] * inputDilation[1] > 1; }
  ConvolutionPlan plan(Isa isa) const { return planConvolution(shape, isa, isPlanar, mayUseWinograd); }
};

/// Few enough channels that the kernel reads planes.
inline constexpr int64_t mostPlanarChannels = 4;

/// The call, without what may be fused into it, that computes a convolution; none if no kernel does.
std::optional<ConvolutionCall> convolutionCallOf(stablehlo::ConvolutionOp op);

/// At low and high, by axis.
llvm::SmallVector<int64_t> paddingOf(stablehlo::ConvolutionOp op);
mlir::DenseIntElementsAttr paddingAttribute(mlir::Builder &builder, llvm::ArrayRef<int64_t> padding);

/// Whether all entries are this one, as they are of a list that is not there.
bool isAll(std::optional<llvm::ArrayRef<int64_t>> list, int64_t value);

/// A convolution with a window of one pixel.
mlir::Value createPointConvolution(mlir::OpBuilder &builder, mlir::Type type, mlir::Value input,
                                   mlir::Value weights, stablehlo::ConvDimensionNumbersAttr numbers,
                                   int64_t groups, mlir::Attribute precision = {});

/// One of each channel by itself and by ones, which changes nothing: factors and sums after it are folded
/// into its weights and bias.
mlir::Value createUnchangedChannels(mlir::OpBuilder &builder, mlir::RankedTensorType type, mlir::Value input,
                                    stablehlo::ConvDimensionNumbersAttr numbers);

llvm::SmallVector<mlir::NamedAttribute> attributesOf(mlir::OpBuilder &builder, const ConvolutionCall &call);
ConvolutionCall convolutionCallIn(KernelAttributes call);

/// The form of a call, and what is fused into it.
std::string describeConvolution(mlir::Operation *op, Isa isa);

/// What a window does across images, as the attribute `depth` of a kernel call.
mlir::NamedAttribute depthAttribute(mlir::Builder &builder, const DepthWindow &depth);
DepthWindow depthIn(KernelAttributes call);

} // namespace torchere::cpu
