// Implements which segment a place is in.
#include "lowering/segments.h"

#include <numeric>

namespace torchere::lowering {

mlir::Value segmentsOf(Context &cx, mlir::Value offsets, Dim count) {
  int64_t last = Context::rank(offsets) - 1;
  Dims pairs = cx.shape(offsets); // [..., count, segments]
  pairs.insert(pairs.end() - 1, count);
  Integers ofOffsets(last);
  std::iota(ofOffsets.begin(), ofOffsets.end(), 0);
  ofOffsets.push_back(last + 1);
  mlir::Value places = cx.iota(pairs, DType::I64, last);
  mlir::Value starts = cx.broadcastInDim(cx.convert(offsets, DType::I64), pairs, ofOffsets);
  mlir::Value isAfter =
      cx.convert(cx.compare(stablehlo::ComparisonDirection::LE, starts, places), DType::I64);
  mlir::Value begun =
      cx.reduceWith<stablehlo::AddOp>(isAfter, cx.constant(int64_t{0}, DType::I64), {last + 1});
  return cx.elementwise<stablehlo::SubtractOp>({begun, cx.fullLike(int64_t{1}, begun)});
}

} // namespace torchere::lowering
