// Implements the specification's formulas for windows.
#include "interpreter/sliding_window.h"

namespace torchere::interpreter {

Index SlidingWindow::positions(IndexView base) const {
  Index counts;
  for (size_t dimension = 0; dimension < base.size(); ++dimension) {
    int64_t dilated = base[dimension] == 0 ? 0 : (base[dimension] - 1) * baseDilations[dimension] + 1;
    int64_t padded = padding[2 * dimension] + dilated + padding[2 * dimension + 1];
    int64_t window = sizes[dimension] == 0 ? 0 : (sizes[dimension] - 1) * windowDilations[dimension] + 1;
    bool isEmpty = padded <= 0 || window > padded;
    counts.push_back(isEmpty ? 0 : (padded - window) / strides[dimension] + 1);
  }
  return counts;
}

bool SlidingWindow::locate(IndexView base, IndexView index, IndexView offset, Index &element) const {
  for (size_t dimension = 0; dimension < base.size(); ++dimension) {
    int64_t place = index[dimension] * strides[dimension] + offset[dimension] * windowDilations[dimension] -
                    padding[2 * dimension];
    if (place < 0 || place % baseDilations[dimension] != 0)
      return false;
    element[dimension] = place / baseDilations[dimension];
    if (element[dimension] >= base[dimension])
      return false;
  }
  return true;
}

std::optional<size_t> SlidingWindow::runsAlong(IndexView base) const {
  std::optional<size_t> found;
  auto isOne = [](int64_t step) { return step == 1; };
  if (!llvm::all_of(strides, isOne) || !llvm::all_of(baseDilations, isOne) ||
      !llvm::all_of(windowDilations, isOne))
    return std::nullopt;
  for (size_t dimension = 0; dimension < base.size(); ++dimension) {
    int64_t low = padding[2 * dimension], high = padding[2 * dimension + 1];
    if (sizes[dimension] == 1 && low == 0 && high == 0)
      continue;
    if (found || sizes[dimension] < base[dimension] || low != sizes[dimension] - 1 || high != 0)
      return std::nullopt;
    found = dimension;
  }
  return found;
}

} // namespace torchere::interpreter
