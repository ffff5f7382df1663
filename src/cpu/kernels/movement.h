// Elements moved, not changed: copies between strides, transposes, gathers of rows, concatenation, padding.
#pragma once

#include "cpu/kernels/reduction.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// Copies `dims` elements of `elementSize` bytes (1, 2, 4, 8 or 16) between any strides, in elements: a
/// transpose is one with the input's strides permuted, a broadcast one with strides of 0, a slice or reversal
/// one with an offset. Input and output must not overlap.
struct CopyArgs {
  int elementSize = 4;
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int64_t inputStrides[kMaxRank] = {};
  int64_t outputStrides[kMaxRank] = {};
  const void *input = nullptr;
  void *output = nullptr;
};
void copyStrided(const Context &context, const CopyArgs &args);

/// output[b][i] = input[b][clamp(indices[i])], rows of `rowBytes` bytes. Indices are clamped into [0,
/// inputRows - 1], as StableHLO's gather does; `inputRows` is at least 1 unless `count` is 0.
struct GatherRowsArgs {
  int64_t batches = 1;
  int64_t inputRows = 0;
  int64_t rowBytes = 0;
  int64_t count = 0;
  const void *input = nullptr;
  const void *indices = nullptr;
  int indexSize = 8; ///< bytes: 4 or 8, signed
  void *output = nullptr;
};
void gatherRows(const Context &context, const GatherRowsArgs &args);

/// Contiguous inputs, joined: each is `outer` runs of runBytes[i] bytes.
struct ConcatenationArgs {
  int64_t outer = 1;
  int count = 0;
  const void *const *inputs = nullptr;
  const int64_t *runBytes = nullptr;
  void *output = nullptr;
};
void concatenate(const Context &context, const ConcatenationArgs &args);

/// StableHLO's pad of a contiguous input: `low` and `high` may be negative, which cuts; `interior` is not.
/// The output is contiguous: max(0, low + high + dim + (dim - 1) * interior) elements a dimension.
struct PadArgs {
  int elementSize = 4;
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int64_t low[kMaxRank] = {};
  int64_t high[kMaxRank] = {};
  int64_t interior[kMaxRank] = {};
  const void *input = nullptr;
  const void *value = nullptr; ///< one element
  void *output = nullptr;
};
void pad(const Context &context, const PadArgs &args);

} // namespace torchere::cpu
