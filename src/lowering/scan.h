// Running folds along an axis: what cumulative ops and ops that number elements share.
#pragma once

#include "lowering/window.h"

namespace torchere::lowering {

/// The fold of `earlier` and `later` elements, which must be associative.
using Combine = llvm::function_ref<Values(const Values &earlier, const Values &later)>;

/// Element i becomes the fold of elements 0 to i: in a loop of log2(n) rounds, each of which doubles how far
/// an element has seen, so that the length need not be known.
Values scan(Context &cx, const Values &values, int64_t axis, Combine combine);

/// The window as long as the axis that ends at each element.
Window windowBefore(mlir::Value value, int64_t axis, int64_t length);

/// Sums of a flat tensor's elements up to each one, also where there is none.
mlir::Value partialSums(Context &cx, mlir::Value value);

/// For each element of a flat mask, how many before it are set.
mlir::Value numberOfSet(Context &cx, mlir::Value mask);

/// The running fold of one tensor with Op, whose neutral element is `initial`: by windows where the length is
/// known, which is what compilers know best, else by a scan.
template <class Op>
mlir::Value runningFold(Context &cx, mlir::Value value, mlir::Value initial, int64_t axis) {
  Dim length = cx.size(value, axis);
  if (!length.isConstant())
    return scan(cx, {value}, axis, [&](const Values &earlier, const Values &later) {
      return Values{cx.elementwise<Op>({earlier[0], later[0]})};
    })[0];
  if (length.constant() <= 1)
    return value;
  return reduceWindow<Op>(cx, value, initial, windowBefore(value, axis, length.constant()), cx.shape(value));
}

} // namespace torchere::lowering
