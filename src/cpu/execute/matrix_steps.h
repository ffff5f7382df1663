// Steps of linear algebra: factorization, and systems with a triangular matrix.
#pragma once

#include "cpu/kernels/linear_algebra.h"
#include "cpu/plan/plan.h"

namespace torchere::cpu {

/// Views are dense.
class CholeskyStep final : public Step {
public:
  CholeskyStep(const CholeskyArgs &args, const View &input, const View &result)
      : args(args), input(input), result(result) {}
  Status run(const Frame &frame) const final;

private:
  CholeskyArgs args; ///< without memory
  View input, result;
};

class TriangularSolveStep final : public Step {
public:
  TriangularSolveStep(const TriangularSolveArgs &args, const View &a, const View &b, const View &result)
      : args(args), a(a), b(b), result(result) {}
  Status run(const Frame &frame) const final;

private:
  TriangularSolveArgs args; ///< without memory
  View a, b, result;
};

} // namespace torchere::cpu
