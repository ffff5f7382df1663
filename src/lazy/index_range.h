// IndexRange: what is known of the elements of a tensor of indices, so that a wrong one is an error at its
// line.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace torchere::lazy {

/// The smallest and the largest element.
struct IndexRange {
  int64_t least, most;
};

/// Of a CPU tensor of int64 or int32; none of others, and of no elements.
std::optional<IndexRange> indexRange(const at::Tensor &tensor);

/// The result of an op that changes no element: what is known of the operand is known of it.
at::Tensor withRangeOf(const at::Tensor &operand, at::Tensor result);

/// Throws if an index is known to be outside of the dimension of a tensor, which counts from the back if
/// negative. Indices that were computed on the device are not known, unless they are to be read. `ignored` is
/// an index that stands for none.
void checkIndices(const char *op, const at::Tensor &indices, const at::Tensor &tensor, int64_t dimension,
                  std::optional<int64_t> ignored = std::nullopt);

/// The same for indices that count from the back if they are negative.
void checkPositions(const char *op, const at::Tensor &indices, const at::Tensor &tensor, int64_t dimension);

/// Throws if `repeats` are known to be negative or not to add up to `size`.
void checkRepeats(const at::Tensor &repeats, int64_t size);

/// Whether indices that were computed on the device are read where an op takes them, which computes what is
/// pending. Off, unless TORCHERE_LAZY_CHECK_INDICES is set. Returns what it was.
bool readIndices(bool isOn);

} // namespace torchere::lazy
