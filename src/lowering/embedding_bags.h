// Bags of embeddings: what the op and its gradients share.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

/// at::native's numbers.
struct BagMode {
  enum : int64_t { Sum = 0, Mean = 1, Max = 2 };
};

/// The bag of each of `count` indices: how many offsets after the first are at or before its place.
mlir::Value bagsOf(Context &cx, mlir::Value offsets, Dim count);

} // namespace torchere::lowering
