// Implements which bag an index is in.
#include "lowering/embedding_bags.h"

namespace torchere::lowering {

mlir::Value bagsOf(Context &cx, mlir::Value offsets, Dim count) {
  Dims pairs = {count, cx.size(offsets, 0)};
  mlir::Value places = cx.iota(pairs, DType::I64, 0);
  mlir::Value starts = cx.broadcastInDim(cx.convert(offsets, DType::I64), pairs, {1});
  mlir::Value isAfter =
      cx.convert(cx.compare(stablehlo::ComparisonDirection::LE, starts, places), DType::I64);
  mlir::Value begun = cx.reduceWith<stablehlo::AddOp>(isAfter, cx.constant(int64_t{0}, DType::I64), {1});
  return cx.elementwise<stablehlo::SubtractOp>({begun, cx.fullLike(int64_t{1}, begun)});
}

} // namespace torchere::lowering
