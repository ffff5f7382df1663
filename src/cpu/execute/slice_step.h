// SliceStep: a part of a tensor at a place that is computed.
#pragma once

#include "cpu/execute/strided_copy.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// Copies between `part` and the elements of `whole` from the starts on, which are clamped so that the part
/// is inside.
class SliceStep final : public StoredStep<SliceStep> {
public:
  enum class Direction : uint8_t { Read, Write };
  /// `starts` are integer scalars, one a dimension.
  SliceStep(Direction direction, const View &whole, const View &part, std::vector<View> starts)
      : direction(direction), whole(whole), part(part), starts(std::move(starts)) {
    derive();
  }
  SliceStep() = default;
  static auto fields(auto &step) { return std::tie(step.direction, step.whole, step.part, step.starts); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "slice"; }

  // For steps that read the part where it lies in the whole.

  bool isRead() const { return direction == Direction::Read; }
  const View &wholeView() const { return whole; }
  const View &partView() const { return part; }
  const std::vector<View> &startViews() const { return starts; }
  /// Whether its elements lie there as in the dense part: one after the other.
  bool isContiguous() const;
  std::byte *placeOf(const Frame &frame) const;

private:
  void derive();

  Direction direction = Direction::Read;
  View whole, part;
  std::vector<View> starts;
  StridedCopy copy;
};

/// The integer at a view of one element, widened to 64 bits; what is larger than int64_t holds is its
/// maximum.
int64_t integerAt(const std::byte *memory, ElementType type);
int64_t integerAt(const Frame &frame, const View &scalar);
/// The same modulo 2^64.
int64_t wordAt(const Frame &frame, const View &scalar);

} // namespace torchere::cpu
