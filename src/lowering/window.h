// Windows over the last (spatial) dimensions of [N, C, ...]: what convolution and pooling share.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// One number a spatial dimension.
struct Window {
  Integers size;
  Integers stride;
  Integers low;      ///< padding before
  Integers high;     ///< padding after
  Integers dilation; ///< distance between the window's elements
};

/// Low and high padding, as the [n, 2] tensor that StableHLO wants.
mlir::NamedAttribute paddingAttribute(Context &cx, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

/// Folds each window of the last `window.size.size()` dimensions with Op; the other dimensions stay. `shape`
/// is the result's.
template <class Op>
mlir::Value reduceWindow(Context &cx, mlir::Value value, mlir::Value initial, const Window &window,
                         llvm::ArrayRef<Dim> shape);

} // namespace torchere::lowering
