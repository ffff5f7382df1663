// GatherStep: rows of a tensor by their numbers.
#pragma once

#include "cpu/plan/plan.h"

namespace torchere::cpu {

class GatherStep final : public Step {
public:
  /// All dense; a row is what one index of the first dimension selects.
  GatherStep(const View &rows, const View &indices, const View &result)
      : rows(rows), indices(indices), result(result) {}
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "gather"; }

private:
  View rows, indices, result;
};

} // namespace torchere::cpu
