// How far two arrays are apart, and whether rounding explains it.
#pragma once

#include "runtime/buffer.h"

#include <optional>
#include <string>

namespace torchere::cli {

struct ArrayDifference {
  double error = 0;    ///< the largest absolute one
  double relative = 0; ///< the largest one, as a part of the scale
  std::string verdict; ///< what differs; empty if nothing does
};

/// Integers and bools are to be equal. Floats may differ by `tolerance` times the scale, which is the largest
/// finite magnitude in `expected` but for masks (1e30 and more), whose scale is their own; infinities and NaN
/// are to be at the same places. Without a tolerance it is that of the dtype.
ArrayDifference compareArrays(const runtime::HostArray &got, const runtime::HostArray &expected,
                              std::optional<double> tolerance = std::nullopt);

} // namespace torchere::cli
