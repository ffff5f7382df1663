// Bags of embeddings: what the op and its gradients share.
#pragma once

#include <cstdint>

namespace torchere::lowering {

/// at::native's numbers.
struct BagMode {
  enum : int64_t { Sum = 0, Mean = 1, Max = 2 };
};

} // namespace torchere::lowering
