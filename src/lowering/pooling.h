// Windows of pooling ops, and what an average divides by: what pooling and its gradients share.
#pragma once

#include "lowering/args.h"
#include "lowering/window.h"

namespace torchere::lowering {

/// A pooling op's windows, and what its input needs around it beyond their own padding.
struct Pooling {
  Window window;
  Dims extra; ///< after each spatial dimension: with ceil_mode, so that the last, cut off window counts
};

/// The windows that the arguments describe over the last `spatialRank` dimensions of `in`, whose results have
/// the shape `out`.
Pooling poolingOf(Context &cx, const Args &args, size_t spatialRank, llvm::ArrayRef<Dim> in,
                  llvm::ArrayRef<Dim> out);

/// The value with `extra` more elements at the end of each spatial dimension.
mlir::Value extended(Context &cx, mlir::Value value, mlir::Value element, llvm::ArrayRef<Dim> extra);

/// Folds the windows with Op.
template <class Op>
mlir::Value poolWith(Context &cx, mlir::Value value, mlir::Value initial, const Pooling &pooling,
                     llvm::ArrayRef<Dim> out) {
  return reduceWindow<Op>(cx, extended(cx, value, initial, pooling.extra), initial, pooling.window, out);
}

/// What each window's sum is divided by, in the shape `out` and the dtype of `self`.
mlir::Value averageDivisor(Context &cx, const Args &args, mlir::Value self, const Pooling &pooling,
                           llvm::ArrayRef<Dim> out);

} // namespace torchere::lowering
