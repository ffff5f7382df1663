// WindowScatterStep: select_and_scatter.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/window_scatter.h"

#include <tuple>

namespace torchere::cpu {

class WindowScatterStep final : public StoredStep<WindowScatterStep> {
public:
  struct Views {
    View operand, source, initial, result; ///< dense
  };
  /// `args` describes the views, without their memory and the programs.
  WindowScatterStep(const WindowScatterArgs &args, VectorProgram select, VectorProgram scatter, Views views)
      : args(args), select(std::move(select)), scatter(std::move(scatter)), views(std::move(views)) {}
  WindowScatterStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.select, step.scatter, step.views); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "window scatter"; }

private:
  WindowScatterArgs args;
  VectorProgram select, scatter;
  Views views;
};

} // namespace torchere::cpu
