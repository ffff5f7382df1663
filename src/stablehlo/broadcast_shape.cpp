// Implements the rules of broadcasts along dimensions.
#include "stablehlo/broadcast_shape.h"

#include "stablehlo/quantized_types.h"

using namespace mlir;

namespace torchere::stablehlo {

LogicalResult verifyBroadcast(const Reporter &reporter, RankedTensorType operand, RankedTensorType result,
                              ArrayRef<int64_t> dimensions) {
  if (failed(verifyMovedElements(reporter, "C1", operand, result, /*repeats=*/true)) ||
      failed(reporter.size("C2", "broadcast_dimensions", dimensions.size(), operand.getRank())) ||
      failed(reporter.inRange("C3", "broadcast_dimensions", dimensions, result.getRank())) ||
      failed(reporter.unique("C4", "broadcast_dimensions", dimensions)))
    return failure();
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    int64_t size = operand.getDimSize(index);
    if (size != 1 && !mayEqual(size, result.getDimSize(dimension)))
      return reporter.violation("C5", "operand dimension ", index, " of size ", size,
                                " cannot be broadcast to result dimension ", dimension, " of size ",
                                result.getDimSize(dimension));
  }
  return verifyBroadcastScales(reporter, "C6", operand, result, dimensions);
}

} // namespace torchere::stablehlo
