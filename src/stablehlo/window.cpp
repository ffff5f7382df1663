// Implements windows: the arithmetic of their positions and the checks of their attributes.
#include "stablehlo/window.h"

#include "stablehlo/sizes.h"

using namespace mlir;

namespace torchere::stablehlo {

static WideSize dilated(WideSize size, WideSize dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

static std::optional<int64_t> countPositions(int64_t base, const WindowDimension &window) {
  if (!isKnown(base) || !isKnown(window.size))
    return ShapedType::kDynamic;
  WideSize padded = window.paddingLow + dilated(base, window.baseDilation) + window.paddingHigh;
  WideSize covered = dilated(window.size, window.windowDilation);
  return padded <= 0 || covered > padded ? 0 : narrowSize((padded - covered) / window.stride + 1);
}

FailureOr<SmallVector<int64_t>> inferPositions(const Reporter &reporter, StringRef constraint,
                                               ArrayRef<int64_t> base, ArrayRef<WindowDimension> window) {
  SmallVector<int64_t> positions;
  for (auto [index, size] : llvm::enumerate(base)) {
    std::optional<int64_t> count = countPositions(size, window[index]);
    if (!count)
      return reporter.violation(constraint, "the window has too many positions along dimension ", index,
                                ": more than 2^63 - 1");
    positions.push_back(*count);
  }
  return positions;
}

FailureOr<SmallVector<WindowDimension>> joinWindow(const Reporter &reporter, ArrayRef<int64_t> sizes,
                                                   const WindowAttributes &attributes) {
  SmallVector<WindowDimension> window(sizes.size());
  for (auto [dimension, size] : llvm::zip(window, sizes))
    dimension.size = size;
  for (const WindowAttributes::Array &array : attributes.arrays) {
    if (!array.values)
      continue;
    if (failed(reporter.size(array.sizeConstraint, array.name, array.values->size(), sizes.size())) ||
        failed(reporter.atLeast(array.positiveConstraint, array.name, *array.values, 1)))
      return failure();
    for (auto [dimension, value] : llvm::zip(window, *array.values))
      dimension.*array.field = value;
  }
  if (!attributes.padding)
    return window;
  int64_t rank = sizes.size();
  if (attributes.padding.getType().getShape() != ArrayRef<int64_t>{rank, 2})
    return reporter.violation(attributes.paddingConstraint, "padding has the wrong shape: got ",
                              attributes.padding.getType(), ", expected tensor<", rank, "x2xi64>");
  auto values = attributes.padding.getValues<int64_t>();
  for (int64_t i = 0; i < rank; ++i) {
    window[i].paddingLow = values[2 * i];
    window[i].paddingHigh = values[2 * i + 1];
  }
  return window;
}

} // namespace torchere::stablehlo
