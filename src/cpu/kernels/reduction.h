// Reductions over any dimensions.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

struct IsaKernels;
constexpr int kMaxRank = 12;

enum class Reduction : uint8_t { Sum, Product, Max, Min, And, Or };

/// The output has the input's type and is contiguous, over the dimensions that are not reduced, in their
/// order. BF16 and F16 are summed in f32 and rounded once. NaN propagates through Max and Min. A reduction of
/// no elements gives the neutral one; `initial`, or null, is one element that takes part in each.
struct ReductionArgs {
  DType type = DType::F32; ///< any but complex and 8-bit floats
  Reduction reduction = Reduction::Sum;
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int64_t strides[kMaxRank] = {}; ///< of the input, in elements
  bool reduced[kMaxRank] = {};
  const void *input = nullptr;
  const void *initial = nullptr;
  void *output = nullptr;
  double scale = 1; ///< of the result of floating-point sums, before it is rounded: 1/n makes a mean
};
void reduce(const Context &context, const ReductionArgs &args);

/// The bits of the element that changes nothing, of the type that is computed in.
uint64_t neutralOf(DType type, Reduction reduction);
/// Joins the initial element to sums, in the type that is computed in, scales and rounds them: to results, in
/// the same memory or in other.
void finishSums(const IsaKernels &kernels, DType type, Reduction reduction, const void *initial, double scale,
                void *sums, int64_t count, void *output);

} // namespace torchere::cpu
