// Convolutions of any form: the input is unfolded into the columns of matrix products.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

constexpr int kMaxSpatialRank = 6;

/// A tensor by its strides in elements: of (batch, channel), or (output channel, input channel) of weights,
/// then of space.
struct ConvolvedTensor {
  const void *data = nullptr;
  int64_t first = 0;
  int64_t second = 0;
  int64_t spatial[kMaxSpatialRank] = {};
};

/// An axis of space.
struct ConvolvedAxis {
  int64_t input = 0;
  int64_t output = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0; ///< before the first element of the dilated input; negative to cut
  int64_t inputDilation = 1;
  int64_t kernelDilation = 1;
  bool reversed = false; ///< the kernel
};

/// Either feature groups, among which channels are divided, or batch groups: group g of the output's channels
/// is computed from part g of the input's batch.
struct UnfoldedConvolution {
  DType type = DType::F32;       ///< of the input and the weights: a float of at least 16 bits, or an integer
  DType resultType = DType::F32; ///< the same; F32 for BF16 and F16; any integer for integers
  int rank = 0;
  ConvolvedAxis axes[kMaxSpatialRank];
  int64_t batch = 1; ///< of the output
  int64_t groups = 1;
  bool batchGroups = false;
  int64_t groupInputs = 1;  ///< channels that a group reads
  int64_t groupOutputs = 1; ///< channels that it writes
  ConvolvedTensor input, weights, output;
};
/// Bytes of memory that the call needs, aligned to 64: for weights in the order of the products.
int64_t unfoldedWorkspaceBytes(const UnfoldedConvolution &args);
void convolveUnfolded(const Context &context, const UnfoldedConvolution &args, void *workspace);

} // namespace torchere::cpu
