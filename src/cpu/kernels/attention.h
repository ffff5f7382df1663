// Scaled dot-product attention without a matrix of scores in memory.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// Strides in elements of [batch, head, position]; the elements of a head are contiguous.
struct HeadTensor {
  const void *data = nullptr;
  int64_t strides[3] = {};
};

enum class MaskKind : uint8_t { None, Additive, Boolean };

/// output = softmax(scale * q k^T + mask) v, or with a bound softmax(bound * tanh(scale * q k^T) + mask) v.
/// `queryHeads` is a multiple of `keyHeads`: a key's head serves as many query heads in a row. A cache is a k
/// and v of `keys` used positions. Q, k and v are of one type, the output and an added mask each of another:
/// F32, BF16 or F16 (computed in f32, rounded once). A query that sees no key gives NaN, or 0 with
/// `zeroWhenMasked`.
struct AttentionArgs {
  DType type = DType::F32;
  DType outputType = DType::F32;
  int64_t batch = 1;
  int64_t queryHeads = 1;
  int64_t keyHeads = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t headSize = 0;  ///< of q and k
  int64_t valueSize = 0; ///< of v and the output
  HeadTensor q, k, v;
  void *output = nullptr;
  int64_t outputStrides[3] = {};
  float scale = 1;
  float bound = 0; ///< 0: none
  /// Query i sees the keys up to i + causalOffset.
  bool causal = false;
  int64_t causalOffset = 0;
  /// Element (batch, query head, query, key); strides of 0 broadcast. Additive: of `maskType`; Boolean: a
  /// byte, true where it sees.
  MaskKind mask = MaskKind::None;
  DType maskType = DType::F32;
  const void *maskData = nullptr;
  int64_t maskStrides[4] = {};
  bool zeroWhenMasked = false;
};
void attention(const Context &context, const AttentionArgs &args);

} // namespace torchere::cpu
