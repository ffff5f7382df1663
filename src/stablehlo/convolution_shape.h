// The shape rules that convolution and dynamic_conv share.
#pragma once

#include "stablehlo/dialect.h"
#include "stablehlo/window.h"

namespace torchere::stablehlo {

/// What determines the shape of a convolution's result.
struct ConvolutionShape {
  mlir::RankedTensorType lhs;
  mlir::RankedTensorType rhs;
  ConvDimensionNumbersAttr numbers;
  std::optional<llvm::ArrayRef<int64_t>> strides;
  std::optional<llvm::ArrayRef<int64_t>> lhsDilation;
  std::optional<llvm::ArrayRef<int64_t>> rhsDilation;
  std::optional<llvm::ArrayRef<bool>> reversal;
  mlir::DenseIntElementsAttr padding; ///< null: none
  bool paddingKnown = true;           ///< false for dynamic_conv: spatial sizes are unknown
  int64_t featureGroupCount = 1;
  int64_t batchGroupCount = 1;
  std::optional<mlir::ArrayAttr> precision;
};

/// Everything but the padding.
template <class Op> ConvolutionShape describeConvolution(Op op) {
  ConvolutionShape shape;
  shape.lhs = op.getLhs().getType();
  shape.rhs = op.getRhs().getType();
  shape.numbers = op.getDimensionNumbers();
  shape.strides = op.getWindowStrides();
  shape.lhsDilation = op.getLhsDilation();
  shape.rhsDilation = op.getRhsDilation();
  shape.reversal = op.getWindowReversal();
  shape.featureGroupCount = op.getFeatureGroupCount();
  shape.batchGroupCount = op.getBatchGroupCount();
  shape.precision = op.getPrecisionConfig();
  return shape;
}

/// The result's sizes, once the constraints of the operands and attributes hold.
llvm::FailureOr<llvm::SmallVector<int64_t>> inferConvolution(const Reporter &reporter,
                                                             const ConvolutionShape &convolution);

llvm::LogicalResult verifyConvolution(const Reporter &reporter, const ConvolutionShape &convolution,
                                      mlir::RankedTensorType result);

} // namespace torchere::stablehlo
