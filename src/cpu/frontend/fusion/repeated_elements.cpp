// Implements the form of repeated elements.
#include "cpu/frontend/fusion/repeated_elements.h"

#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

std::optional<RepeatedElements> repeatedElementsOf(stablehlo::ReshapeOp reshape) {
  auto spread = reshape.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!spread)
    return std::nullopt;
  ArrayRef<int64_t> from = dimensionsOf(spread.getOperand()), wide = dimensionsOf(spread),
                    to = dimensionsOf(reshape->getResult(0)), places = spread.getBroadcastDimensions();
  if (from.empty() || from.size() != to.size() || !llvm::is_sorted(places) || places.front() != 0)
    return std::nullopt;
  RepeatedElements repeated{spread.getOperand(), {}};
  bool isRepeated = false;
  for (size_t i = 0; i < from.size(); ++i) {
    auto place = static_cast<size_t>(places[i]);
    size_t end = i + 1 < from.size() ? static_cast<size_t>(places[i + 1]) : wide.size();
    int64_t count = 1;
    for (size_t beside = place + 1; beside < end; ++beside)
      count *= wide[beside];
    if (wide[place] != from[i] || to[i] != from[i] * count)
      return std::nullopt;
    repeated.counts.push_back(count);
    isRepeated |= count != 1;
  }
  return isRepeated ? std::optional(repeated) : std::nullopt;
}

} // namespace torchere::cpu
