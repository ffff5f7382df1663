// WindowSearch: the extreme elements of windows, a row of windows at a time.
#pragma once

#include "cpu/kernels/isa.h"
#include "cpu/kernels/isa_kernels.h"
#include "cpu/kernels/window_extremum.h"

#include <vector>

namespace torchere::cpu {

/// Rows of windows follow each other along the last dimension.
class WindowSearch {
public:
  WindowSearch(Isa isa, const WindowExtremumArgs &args);

  /// The values of row `row` of a plane, and their places in the plane: integers of an element's size, -1 for
  /// a window without elements, whose value is the weakest one.
  void run(int64_t plane, int64_t row, void *values, void *places) const;

private:
  const WindowExtremumArgs &args_;
  void (*meet_)(const WindowExtremaJob &job);
  int64_t size_; ///< bytes of an element
  std::vector<WindowExtremaJob::Tap> taps_;
};

} // namespace torchere::cpu
