// Windows over the last (spatial) dimensions of [N, C, ...]: shared by convolution and pooling.
#pragma once

#include "lowering/region.h"

namespace torchere::lowering {

/// One number per spatial dimension.
struct Window {
  Integers size;
  Integers stride;
  Integers low;      ///< padding before
  Integers high;     ///< padding after
  Integers dilation; ///< distance between the window's elements
};

/// Low and high padding, as the [n, 2] tensor that StableHLO expects.
mlir::NamedAttribute paddingAttribute(Context &cx, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high);

/// Reduces the windows of tensors of one shape, over their last `window.size.size()` dimensions; the other
/// dimensions stay. `body` gets an accumulator of each tensor, then an element of each. `shape` is the
/// result's.
Values reduceWindows(Context &cx, const Values &values, const Values &initials, const Window &window,
                     llvm::ArrayRef<Dim> shape, RegionFunction body);

/// Reduces the windows of one tensor with Op.
template <class Op>
mlir::Value reduceWindow(Context &cx, mlir::Value value, mlir::Value initial, const Window &window,
                         llvm::ArrayRef<Dim> shape) {
  return reduceWindows(cx, {value}, {initial}, window, shape,
                       [&](mlir::ValueRange operands) { return Values{cx.elementwise<Op>(operands)}; })[0];
}

} // namespace torchere::lowering
