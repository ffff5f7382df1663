// StableHLO's comparisons by the names that the engine's enumerations have for them.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::cpu {

template <class Comparison> Comparison comparisonOf(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return Comparison::Equal;
  case stablehlo::ComparisonDirection::NE:
    return Comparison::NotEqual;
  case stablehlo::ComparisonDirection::GE:
    return Comparison::GreaterEqual;
  case stablehlo::ComparisonDirection::GT:
    return Comparison::Greater;
  case stablehlo::ComparisonDirection::LE:
    return Comparison::LessEqual;
  case stablehlo::ComparisonDirection::LT:
    return Comparison::Less;
  }
  return Comparison::Equal;
}

} // namespace torchere::cpu
