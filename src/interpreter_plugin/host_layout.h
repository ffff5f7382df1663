// The layout of arrays in host memory, and copies between them and the interpreter's dense row-major tensors.
#pragma once

#include "interpreter/entry_point.h"
#include "pjrt/types.h"

namespace torchere::interpreter_plugin {

/// Byte strides of dense memory whose dimensions are ordered as in `layout`; null means row major.
/// InvalidArgument if the layout has another rank, Unimplemented for tiles.
Result<interpreter::Index> stridesOf(const pjrt::MemoryLayout *layout, const interpreter::TensorType &type);
/// The same for explicit strides; null means row major.
Result<interpreter::Index> stridesOf(const int64_t *strides, size_t count,
                                     const interpreter::TensorType &type);

/// How many bytes the elements span. InvalidArgument for a negative stride.
Result<int64_t> spanOf(const interpreter::Index &strides, const interpreter::TensorType &type);

void copyFromHost(const void *host, const interpreter::Index &strides, interpreter::Tensor &tensor);
void copyToHost(const interpreter::Tensor &tensor, void *host, const interpreter::Index &strides);

} // namespace torchere::interpreter_plugin
