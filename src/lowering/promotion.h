// Dtype promotion: the dtype in which an op computes on operands of several dtypes (torch.result_type).
#pragma once

#include "base/dtype.h"

#include <vector>

namespace torchere::lowering {

/// The smallest dtype that both can be converted to (torch.promote_types).
DType promoteTypes(DType a, DType b);

/// An operand as promotion sees it. Tensors with dimensions outrank 0-d tensors, which outrank Python
/// numbers; an operand of lower rank matters only if its kind (bool, integer, float, complex) is higher.
struct PromotionOperand {
  DType dtype;
  enum class Rank { Number, ZeroDim, Dimensioned } rank;
};

DType resultType(const std::vector<PromotionOperand> &operands);

/// The signed integers of so many bytes, 8 at most.
DType signedOfWidth(size_t bytes);

/// The dtype in which a floating-point op computes on `dtype`: itself, or the default float32 for integers.
DType floatingType(DType dtype);

} // namespace torchere::lowering
