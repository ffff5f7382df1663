// gather, static and dynamic, and the positions that gather and scatter read and write.
#pragma once

#include "interpreter/call.h"

namespace torchere::interpreter {

/// Gathers from operand 0 at the indices in operand 1, as dimension_numbers says.
Result<Values> gatherBy(const Call &call, const Index &sliceSizes);

/// The roles of the dimensions of gather's and scatter's tensors, which are the same under different names.
struct SliceDimensions {
  Index window;          ///< of the slices' tensor: offset_dims, update_window_dims
  Index collapsed;       ///< of the operand: collapsed_slice_dims, inserted_window_dims
  Index operandBatching; ///< of the operand
  Index indicesBatching; ///< of the indices
  Index indexMap;        ///< of the operand: start_index_map, scatter_dims_to_operand_dims
  int64_t indexVectorDim = 0;
};

/// Maps elements of the slices' tensor to positions in the operand.
class SlicePlaces {
public:
  SlicePlaces(const SliceDimensions &dimensions, const Tensor &indices, int64_t operandRank);

  /// The start of the slice that the element belongs to, as the indices give it: not clamped.
  void start(IndexView index, Index &start) const;
  /// The element's index within its slice; 0 along dimensions that the slices' tensor lacks.
  void offset(IndexView index, Index &offset) const;

private:
  const SliceDimensions &dimensions;
  const Tensor &indices;
  Index windowOfOperand; ///< the operand's dimensions that correspond to the window's
  int64_t operandRank;
};

} // namespace torchere::interpreter
