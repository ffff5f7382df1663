// The layout of arrays in host memory, and copies between them and dense row-major tensors.
#pragma once

#include "pjrt/types.h"
#include "pjrt_server/program.h"

namespace torchere::pjrt_server {

/// Byte strides of dense memory whose dimensions are ordered as in `layout`; null means row major.
/// InvalidArgument if the layout has another rank, Unimplemented for tiles.
Result<Index> stridesOf(const pjrt::MemoryLayout *layout, const TensorType &type);
/// The same for explicit strides; null means row major.
Result<Index> stridesOf(const int64_t *strides, size_t count, const TensorType &type);

/// How many bytes the elements span. InvalidArgument for a negative stride.
Result<int64_t> spanOf(const Index &strides, const TensorType &type);

/// Whether these are the strides of dense row-major memory.
bool isDense(const Index &strides, const TensorType &type);

void copyFromHost(const void *host, const Index &strides, Tensor &tensor);
void copyToHost(const Tensor &tensor, void *host, const Index &strides);

} // namespace torchere::pjrt_server
