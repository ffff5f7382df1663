// SliceStep: a part of a tensor at a place that is computed.
#pragma once

#include "cpu/plan/plan.h"

namespace torchere::cpu {

/// Copies between `part` and the elements of `whole` from the starts on, which are clamped so that the part
/// is inside.
class SliceStep final : public Step {
public:
  enum class Direction : uint8_t { Read, Write };
  /// `starts` are integer scalars, one a dimension.
  SliceStep(Direction direction, const View &whole, const View &part, std::vector<View> starts)
      : direction(direction), whole(whole), part(part), starts(std::move(starts)) {}
  Status run(const Frame &frame) const final;

private:
  Direction direction;
  View whole, part;
  std::vector<View> starts;
};

/// The integer at a view of one element.
int64_t integerAt(const Frame &frame, const View &scalar);

} // namespace torchere::cpu
