// BisectionStep: where values belong in a table.
#pragma once

#include "cpu/kernels/bisection.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

class BisectionStep final : public StoredStep<BisectionStep> {
public:
  /// Dense views; `args` without their memory.
  BisectionStep(const BisectionArgs &args, const View &table, const View &values, const View &places)
      : args(args), table(table), values(values), places(places) {}
  BisectionStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.table, step.values, step.places); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "bisection"; }

private:
  BisectionArgs args;
  View table, values, places;
};

} // namespace torchere::cpu
