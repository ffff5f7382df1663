// FoldStep: a reduction of one or several tensors, of windows or not, by a vector program.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/folding.h"

#include <tuple>

namespace torchere::cpu {

class FoldStep final : public StoredStep<FoldStep> {
public:
  struct Operand {
    View input, initial, result;
  };
  /// `args` describes the views, without their memory and the program.
  FoldStep(VectorProgram program, FoldArgs args, std::vector<Operand> operands, std::vector<View> captures)
      : program(std::move(program)), args(std::move(args)), operands(std::move(operands)),
        captures(std::move(captures)) {}
  FoldStep() = default;
  static auto fields(auto &step) { return std::tie(step.program, step.args, step.operands, step.captures); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "fold"; }

private:
  VectorProgram program;
  FoldArgs args;
  std::vector<Operand> operands;
  std::vector<View> captures;
};

} // namespace torchere::cpu
