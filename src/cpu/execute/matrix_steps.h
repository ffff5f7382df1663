// Steps of linear algebra: factorization, systems with a triangular matrix, eigenvalues and singular values.
#pragma once

#include "cpu/kernels/householder.h"
#include "cpu/kernels/linear_algebra.h"
#include "cpu/kernels/spectrum.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// Views are dense, as are those of other steps here.
class CholeskyStep final : public StoredStep<CholeskyStep> {
public:
  /// `firstWrong` is a number of i32 for each matrix.
  CholeskyStep(const CholeskyArgs &args, const View &input, const View &result,
               const std::optional<View> &firstWrong)
      : args(args), input(input), result(result), firstWrong(firstWrong) {}
  CholeskyStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result, step.firstWrong); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "Cholesky"; }

private:
  CholeskyArgs args; ///< without memory
  View input, result;
  std::optional<View> firstWrong;
};

class LuStep final : public StoredStep<LuStep> {
public:
  /// The last three are of i32.
  LuStep(const LuArgs &args, const View &input, const View &result, const View &pivots,
         const View &permutation, const View &firstZero)
      : args(args), input(input), result(result), pivots(pivots), permutation(permutation),
        firstZero(firstZero) {}
  LuStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.result, step.pivots, step.permutation, step.firstZero);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "LU factors"; }

private:
  LuArgs args; ///< without memory
  View input, result, pivots, permutation, firstZero;
};

class QrStep final : public StoredStep<QrStep> {
public:
  QrStep(const QrArgs &args, const View &input, const View &result, const View &tau)
      : args(args), input(input), result(result), tau(tau) {}
  QrStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.result, step.tau); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "QR factors"; }

private:
  QrArgs args; ///< without memory
  View input, result, tau;
};

class ReflectorsStep final : public StoredStep<ReflectorsStep> {
public:
  ReflectorsStep(const ReflectorsArgs &args, const View &input, const View &packed, const View &tau,
                 const View &result)
      : args(args), input(input), packed(packed), tau(tau), result(result) {}
  ReflectorsStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.args, step.input, step.packed, step.tau, step.result);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "reflectors"; }

private:
  ReflectorsArgs args; ///< without memory
  View input, packed, tau, result;
};

class EigenStep final : public StoredStep<EigenStep> {
public:
  EigenStep(const EigenArgs &args, const View &input, const View &values, const std::optional<View> &vectors)
      : args(args), input(input), values(values), vectors(vectors) {}
  EigenStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.values, step.vectors); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "eigenvalues"; }

private:
  EigenArgs args; ///< without memory
  View input, values;
  std::optional<View> vectors;
};

class SingularStep final : public StoredStep<SingularStep> {
public:
  /// Both u and vh, or none.
  SingularStep(const SingularArgs &args, const View &input, const View &values, const std::optional<View> &u,
               const std::optional<View> &vh)
      : args(args), input(input), values(values), u(u), vh(vh) {}
  SingularStep() = default;
  static auto fields(auto &step) { return std::tie(step.args, step.input, step.values, step.u, step.vh); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "singular values"; }

private:
  SingularArgs args; ///< without memory
  View input, values;
  std::optional<View> u, vh;
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
