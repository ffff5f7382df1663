// Implements which segment a place is in.
#include "lowering/segments.h"

#include "lowering/sorting.h"

namespace torchere::lowering {

mlir::Value segmentsOf(Context &cx, mlir::Value offsets, Dim count) {
  Dims shape = cx.shape(offsets);
  shape.back() = count;
  mlir::Value places = cx.iota(shape, DType::I64, static_cast<int64_t>(shape.size()) - 1);
  mlir::Value begun = numberBefore(cx, cx.convert(offsets, DType::I64), places, /*isRight=*/true);
  return cx.elementwise<stablehlo::SubtractOp>({begun, cx.fullLike(int64_t{1}, begun)});
}

} // namespace torchere::lowering
