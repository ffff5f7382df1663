// JoinedStep: a vector program on views of one shape, of which results are reduced over some dimensions.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/joined_plan.h"

#include <tuple>

namespace torchere::cpu {

class JoinedStep final : public StoredStep<JoinedStep> {
public:
  struct Output {
    DType type = DType::F32;
    Reduction reduction = Reduction::Sum;
    View initial; ///< one element
    View result;  ///< dense
  };
  /// `stored`: the program's first outputs, which are not reduced. Unimplemented if there are too many
  /// dimensions.
  static Result<std::unique_ptr<const Step>> create(VectorProgram program, const Sizes &shape,
                                                    std::span<const int64_t> dimensions,
                                                    std::vector<View> inputs, std::vector<View> stored,
                                                    std::vector<Output> outputs, Isa isa);
  JoinedStep() = default;
  static auto fields(auto &step) {
    return std::tie(step.program, step.shape, step.dimensions, step.inputs, step.stored, step.outputs);
  }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "reduced vector program"; }

private:
  Status derive(Isa isa);
  Status verifyProgram() const;
  Status verifyOutput(const Output &output, Isa isa) const;
  Sizes resultStrides() const;

  VectorProgram program;
  Sizes shape, dimensions; ///< of the views, and which of them are reduced
  std::vector<View> inputs, stored;
  std::vector<Output> outputs;
  JoinedPlan plan;
};

} // namespace torchere::cpu
