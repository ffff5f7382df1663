// ComplexProductStep: a batch of products of complex matrices.
#pragma once

#include "cpu/execute/matmul_step.h"
#include "cpu/kernels/complex_product.h"

#include <tuple>

namespace torchere::cpu {

class ComplexProductStep final : public StoredStep<ComplexProductStep> {
public:
  /// The sizes are those of `args`, [batch][m][k] and [batch][k][n]; the result is dense.
  ComplexProductStep(const ComplexProductArgs &args, const MatrixView &a, const MatrixView &b,
                     const View &result)
      : args(args), a(a), b(b), result(result) {}
  ComplexProductStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.a, step.b, step.result); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "complex product"; }
  double flops() const final;

private:
  ComplexProductArgs args; ///< without memory and strides
  MatrixView a, b;
  View result;
};

} // namespace torchere::cpu
