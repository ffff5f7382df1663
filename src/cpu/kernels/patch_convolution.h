// Convolutions of any form and number type, as products with a matrix of patches. For what convolution.h does
// not take: it is a few times slower.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <vector>

namespace torchere::cpu {

/// One dimension of space. Sizes are those before dilation.
struct PatchDimension {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t output = 1;
  int64_t stride = 1;
  int64_t padding = 0; ///< in front; negative to cut
  int64_t inputDilation = 1;
  int64_t kernelDilation = 1;
};

struct PatchConvolution {
  DType type = DType::F32; ///< F32, F64, or an integer of 32 or 64 bits
  int64_t batch = 1;       ///< of the result
  int64_t channels = 1;    ///< of the kernel's input
  int64_t features = 1;    ///< of the result, all groups
  int64_t groups = 1;
  /// Groups take parts of the batch instead of channels.
  bool groupsBatch = false;
  std::vector<PatchDimension> space;
};

/// The input's strides, in elements, are those of batch, channels, space. Weights are contiguous [features]
/// [channels][kernel], and the output is [batch][features][space].
struct PatchConvolutionArgs {
  const PatchConvolution *convolution = nullptr;
  const void *input = nullptr;
  const int64_t *inputStrides = nullptr;
  const void *weights = nullptr;
  void *output = nullptr;
};
void convolvePatches(const Context &context, const PatchConvolutionArgs &args);

} // namespace torchere::cpu
