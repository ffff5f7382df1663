// GatherStep: slices of a tensor at computed places.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class GatherStep final : public StoredStep<GatherStep> {
public:
  /// `slices` describes the views, without their memory.
  GatherStep(const IndexedSlices &slices, const View &tensor, const View &indices, const View &result)
      : slices(slices), tensor(tensor), indices(indices), result(result) {}
  GatherStep() = default;
  static auto fields(auto &step) { return std::tie(step.slices, step.tensor, step.indices, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "gather"; }

private:
  IndexedSlices slices;
  View tensor, indices, result;
};

// Of gathers and scatters.

/// The numbers of the slices are in range, and the indices lie in their buffer.
Status checkSlices(const PlanLimits &limits, const IndexedSlices &slices, const View &indices);
/// What they take of the tensor and of the slices' tensor, whose views are given.
View slicedTensor(const IndexedSlices &slices, const View &tensor);
View slicesTensor(const IndexedSlices &slices, const View &tensor);

} // namespace torchere::cpu
