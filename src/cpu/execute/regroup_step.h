// RegroupStep: the bits of elements of less than a byte as those of other elements, and back.
#pragma once

#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class RegroupStep final : public StoredStep<RegroupStep> {
public:
  /// Both are dense and have as many bits; elements have at most 64, of which one type's are a multiple of
  /// the other's. The lowest bits are those of the first element.
  RegroupStep(const View &from, const View &to) : from(from), to(to) {}
  RegroupStep() = default;
  static auto fields(auto &step) { return std::tie(step.from, step.to); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "regroup"; }

private:
  void regroup(const std::byte *source, std::byte *target, int64_t begin, int64_t end) const;

  View from, to;
};

} // namespace torchere::cpu
