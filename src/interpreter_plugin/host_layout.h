// How an array lies in the host's memory, and the way from there to the interpreter's dense row-major tensors
// and back.
#pragma once

#include "interpreter/entry_point.h"
#include "pjrt/types.h"

namespace torchere::interpreter_plugin {

/// Bytes from one element to the next in each dimension, of dense memory whose dimensions lie as `layout`
/// says; row major for null. InvalidArgument when the layout is of another rank; Unimplemented for tiles.
Result<interpreter::Index> stridesOf(const pjrt::MemoryLayout *layout, const interpreter::TensorType &type);
/// The same where the strides are given; row major for null.
Result<interpreter::Index> stridesOf(const int64_t *strides, size_t count,
                                     const interpreter::TensorType &type);

/// How many bytes the elements span. InvalidArgument for a stride below 0.
Result<int64_t> spanOf(const interpreter::Index &strides, const interpreter::TensorType &type);

void copyFromHost(const void *host, const interpreter::Index &strides, interpreter::Tensor &tensor);
void copyToHost(const interpreter::Tensor &tensor, void *host, const interpreter::Index &strides);

} // namespace torchere::interpreter_plugin
