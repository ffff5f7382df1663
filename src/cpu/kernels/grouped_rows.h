// Rows of convolutions whose groups are narrower than a vector. Plain data only: code of every ISA includes
// it.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/isa.h"

#include <stdint.h>

namespace torchere::cpu {

/// The words in front of the weights of a step, in vectors: the lane of the input that each lane of the
/// output takes (-1 for none: a zero), then the block of the input that it is in.
constexpr int64_t kGroupedHeader = 2;

/// How a block of outputs takes its lanes from the input.
enum class GroupedLanes : uint8_t {
  Masked, ///< some steps have no channel for some lanes
  Any,    ///< all lanes take one
  Near,   ///< of the same four lanes
  Same,   ///< all lanes the same one: the group is as wide as a vector, or wider
};

/// Rows of one block of outputs. A step takes one channel of each lane's group from one block of the input:
/// `kGroupedHeader` vectors, then a vector of weights a tap.
struct GroupedJob {
  const float *input = nullptr; ///< of block 0
  int64_t blockStride = 0;
  const int64_t *taps = nullptr;
  int64_t tapCount = 0;
  int64_t tapsTogether = 1; ///< taps that lie side by side, of a window's row; they divide the taps
  GroupedLanes lanes = GroupedLanes::Masked;
  int64_t step = 0;   ///< from a pixel to the next
  int64_t pixels = 0; ///< of a row
  int64_t rows = 1;
  int64_t inputRowStride = 0; ///< from what makes an output row to what makes the next
  const float *steps = nullptr;
  int64_t stepCount = 0;
  float *output = nullptr;
  int64_t outputRowStride = 0;
  const float *bias = nullptr;
  const float *residual = nullptr;
  int64_t residualRowStride = 0;
  Activation activation = Activation::None;
};

namespace baseline {
void groupedRows(const GroupedJob &job);
}
namespace avx2 {
void groupedRows(const GroupedJob &job);
}
namespace avx512 {
void groupedRows(const GroupedJob &job);
}

} // namespace torchere::cpu
