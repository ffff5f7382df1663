// Implements evenly spaced numbers.
#include "lowering/spacing.h"

#include "lowering/elements.h"

#include <algorithm>

namespace torchere::lowering {

mlir::Value evenlySpaced(Context &cx, mlir::Value first, mlir::Value last, int64_t steps) {
  Dims shape = {Dim(steps)};
  Elements index(cx, cx.iota(shape, Context::dtype(first), 0));
  Elements begin = index.with(cx.broadcastTo(first, shape)), end = index.with(cx.broadcastTo(last, shape));
  if (steps == 1)
    return begin;
  double intervals = static_cast<double>(steps) - 1.0;
  Elements step = (end - begin) / std::max(intervals, 1.0);
  mlir::Value isNearFirst = cx.compare(stablehlo::ComparisonDirection::LT, cx.iota(shape, DType::I64, 0),
                                       cx.full(steps / 2, DType::I64, shape));
  return cx.select(isNearFirst, begin + step * index, end - step * (intervals - index));
}

} // namespace torchere::lowering
