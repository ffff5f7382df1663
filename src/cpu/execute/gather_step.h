// GatherStep: slices of a tensor at computed places.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

class GatherStep final : public Step {
public:
  /// `slices` describes the views, without their memory.
  GatherStep(const IndexedSlices &slices, const View &tensor, const View &indices, const View &result)
      : slices(slices), tensor(tensor), indices(indices), result(result) {}
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "gather"; }

private:
  IndexedSlices slices;
  View tensor, indices, result;
};

} // namespace torchere::cpu
