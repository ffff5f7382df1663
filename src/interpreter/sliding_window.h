// SlidingWindow: the window of reduce_window, select_and_scatter and convolution.
#pragma once

#include "interpreter/value.h"

#include <optional>

namespace torchere::interpreter {

struct SlidingWindow {
  Index sizes;
  Index strides;
  Index padding; ///< low and high of the first dimension, of the second, ...; negative padding crops
  Index baseDilations;
  Index windowDilations;

  /// The number of window positions along each dimension of the base.
  Index positions(IndexView base) const;
  /// The element of the base at `offset` in the window at position `index`; false in padding and in the gaps
  /// of a dilation.
  bool locate(IndexView base, IndexView index, IndexView offset, Index &element) const;
  /// The dimension along which each window begins with the base and ends one element after the window before,
  /// as those of cumulative sums do, and is one element long along the others; none in other cases.
  std::optional<size_t> runsAlong(IndexView base) const;
};

} // namespace torchere::interpreter
