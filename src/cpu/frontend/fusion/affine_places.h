// Integers that are computed from their places alone: a number, and a step along each dimension.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

/// Element [i, j, ...] is start + i * steps[0] + j * steps[1] ...; steps along dimensions of one element are
/// 0.
struct AffinePlaces {
  int64_t start = 0;
  llvm::SmallVector<int64_t> steps;

  int64_t least(llvm::ArrayRef<int64_t> shape) const;
  int64_t greatest(llvm::ArrayRef<int64_t> shape) const;
};

/// What the elements of a static tensor of integers are, as far as constants, iotas, sums, multiples and
/// what moves whole dimensions tell it.
std::optional<AffinePlaces> affinePlacesOf(mlir::Value value);

} // namespace torchere::cpu
