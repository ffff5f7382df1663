// SlidingWindow: the window of reduce_window, select_and_scatter and convolution.
#pragma once

#include "interpreter/value.h"

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
};

} // namespace torchere::interpreter
