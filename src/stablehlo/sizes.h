// Arithmetic on the sizes of dimensions that does not overflow.
#pragma once

#include "stablehlo/constraint.h"

#include <optional>

namespace torchere::stablehlo {

/// Holds sums and products of two sizes exactly.
using WideSize = __int128;

/// None if the size is no int64_t.
inline std::optional<int64_t> narrowSize(WideSize size) {
  auto narrow = static_cast<int64_t>(size);
  return narrow == size ? std::optional(narrow) : std::nullopt;
}

/// Two tensors have the same number of elements, if both shapes are known.
llvm::LogicalResult verifySameCount(const Reporter &reporter, llvm::StringRef constraint,
                                    mlir::RankedTensorType operand, mlir::RankedTensorType result);

/// The number of elements of a tensor of known sizes; none if it is no int64_t.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

} // namespace torchere::stablehlo
