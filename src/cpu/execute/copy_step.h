// CopyStep: elements copied between any two views of one shape.
#pragma once

#include "cpu/execute/strided_copy.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class CopyStep final : public StoredStep<CopyStep> {
public:
  CopyStep(const View &from, const View &to)
      : from(from), to(to), copy(to.shape, to.elementSize(), from.strides, to.strides) {}
  CopyStep() = default;
  static auto fields(auto &step) { return std::tie(step.from, step.to); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "copy"; }

private:
  View from, to;
  StridedCopy copy; ///< of their shapes
};

} // namespace torchere::cpu
