// Convolutions in any number of spatial dimensions: what the op and its gradients share.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

struct Convolution {
  mlir::Value input;  ///< [N, C, spatial...]
  mlir::Value weight; ///< [out, in / groups, spatial...]; transposed: [in, out / groups, spatial...]
  Integers stride, dilation;
  Dims low, high; ///< padding of what the kernel slides over: if transposed, of the stretched input
  int64_t groups = 1;
  /// One of the input stretched by the stride, with the mirrored kernel.
  bool isTransposed = false;
};

/// How far a kernel reaches beyond its first element, along each spatial dimension.
Dims reachOf(Context &cx, mlir::Value weight, llvm::ArrayRef<int64_t> dilation);

/// The convolution, of the given shape.
mlir::Value convolve(Context &cx, const Convolution &convolution, llvm::ArrayRef<Dim> shape);

/// The gradient of a plain convolution's weight, of the given shape: its input convolved with the gradient of
/// its output, which takes the place of the kernel.
mlir::Value convolveToWeight(Context &cx, const Convolution &convolution, mlir::Value gradient,
                             llvm::ArrayRef<Dim> shape);

} // namespace torchere::lowering
