// How a loss is reduced.
#pragma once

#include <cstdint>

namespace torchere::lowering {

/// at::Reduction's numbers.
enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

} // namespace torchere::lowering
