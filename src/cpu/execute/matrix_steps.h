// Steps of linear algebra: factorization, and systems with a triangular matrix.
#pragma once

#include "cpu/kernels/linear_algebra.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// Views are dense.
class CholeskyStep final : public StoredStep<CholeskyStep> {
public:
  CholeskyStep(const CholeskyArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  CholeskyStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "Cholesky"; }

private:
  CholeskyArgs args; ///< without memory
  View input, result;
};

class TriangularSolveStep final : public StoredStep<TriangularSolveStep> {
public:
  TriangularSolveStep(const TriangularSolveArgs &args, const View &a, const View &b, const View &result)
      : args(args), a(a), b(b), result(result) {}
  TriangularSolveStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.a, step.b, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "triangular solve"; }

private:
  TriangularSolveArgs args; ///< without memory
  View a, b, result;
};

} // namespace torchere::cpu
