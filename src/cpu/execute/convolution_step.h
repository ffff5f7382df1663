// ConvolutionStep: a convolution of f32 planes, in blocks of channels.
#pragma once

#include "cpu/execute/packed_cache.h"
#include "cpu/kernels/convolution.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

/// The views' dimensions are N, C, H, W and O, I, H, W, in any strides.
struct ConvolutionViews {
  View input, weights, result;
  // Dense, of f32: the input and the result in blocks, and what the kernel needs beside them.
  View blockedInput, blockedResult, workspace;
  /// As in Matmul.
  std::optional<size_t> argument;
  bool isConstant = false;
};

class ConvolutionStep final : public Step {
public:
  ConvolutionStep(const ConvolutionPlan &plan, ConvolutionViews views);
  Status run(const Frame &frame) const final;

  /// How many elements the views of blocks have.
  static BlockedTensor inputOf(const ConvolutionPlan &plan);
  static BlockedTensor resultOf(const ConvolutionPlan &plan);

private:
  Result<std::shared_ptr<const Memory>> packedWeights(const Frame &frame) const;

  ConvolutionPlan plan;
  ConvolutionViews views;
  mutable PackedCache cache;
};

} // namespace torchere::cpu
