// Scatters, as steps. They write into the tensor.
#pragma once

#include "cpu/kernels/indexed_slices.h"
#include "cpu/plan/plan.h"
#include "cpu/vector/scatter_fold.h"

#include <tuple>

namespace torchere::cpu {

class ScatterStep final : public StoredStep<ScatterStep> {
public:
  /// `args` describes the views, without their memory.
  ScatterStep(const ScatterArgs &args, const View &tensor, const View &indices, const View &updates)
      : args(args), tensor(tensor), indices(indices), updates(updates) {}
  ScatterStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.tensor, step.indices, step.updates); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "scatter"; }

private:
  ScatterArgs args;
  View tensor, indices, updates;
};

/// Of several tensors, or by a vector program.
class ScatterFoldStep final : public StoredStep<ScatterFoldStep> {
public:
  struct Operand {
    View tensor, updates;
  };
  ScatterFoldStep(VectorProgram program, ScatterFoldArgs args, const View &indices,
                  std::vector<Operand> operands, std::vector<View> captures)
      : program(std::move(program)), args(std::move(args)), indices(indices), operands(std::move(operands)),
        captures(std::move(captures)) {}
  ScatterFoldStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.program, step.args, step.indices, step.operands, step.captures);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "scatter fold"; }

private:
  VectorProgram program;
  ScatterFoldArgs args;
  View indices;
  std::vector<Operand> operands;
  std::vector<View> captures;
};

} // namespace torchere::cpu
