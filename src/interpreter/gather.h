// gather, static and dynamic, and the places that gather and scatter read and write.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

/// gather of operand 0 at the indices in operand 1, by the attribute dimension_numbers.
Result<Values> gatherBy(const Call &call, const Index &sliceSizes);

/// Which dimensions of gather's and scatter's tensors have which role: the same in both, under names of their
/// own.
struct SliceDimensions {
  Index window;          ///< of the slices' tensor: offset_dims, update_window_dims
  Index collapsed;       ///< of the operand: collapsed_slice_dims, inserted_window_dims
  Index operandBatching; ///< of the operand
  Index indicesBatching; ///< of the indices
  Index indexMap;        ///< of the operand: start_index_map, scatter_dims_to_operand_dims
  int64_t indexVectorDim = 0;
};

/// Finds where in the operand an element of the slices' tensor lies.
class SlicePlaces {
public:
  SlicePlaces(const SliceDimensions &dimensions, const Tensor &indices, int64_t operandRank);

  /// The start of the slice that the element belongs to, as the indices give it: not clamped.
  void start(IndexView index, Index &start) const;
  /// The element's index within its slice, 0 for dimensions that the slices' tensor does not have.
  void offset(IndexView index, Index &offset) const;

private:
  const SliceDimensions &dimensions;
  const Tensor &indices;
  Index windowOfOperand; ///< the dimensions of the operand that the window's stand for
  int64_t operandRank;
};

} // namespace torchere::interpreter
