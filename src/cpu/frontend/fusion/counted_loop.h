// Loops that count.
#pragma once

#include "stablehlo/dialect.h"

#include <optional>

namespace torchere::cpu {

/// A loop that counts: its condition compares one of its values with what stays the same, and its body adds a
/// constant to that value.
struct CountedLoop {
  unsigned index = 0; ///< of the value
  mlir::Value limit;
  stablehlo::ComparisonDirection comparison = stablehlo::ComparisonDirection::LT; ///< with the limit
  int64_t step = 0;
};

/// Nothing if the loop is none.
std::optional<CountedLoop> countedLoop(stablehlo::WhileOp loop);

} // namespace torchere::cpu
