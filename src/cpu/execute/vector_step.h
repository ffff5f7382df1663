// VectorStep: a vector program on views of one shape.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/program.h"

#include <tuple>

namespace torchere::cpu {

class VectorStep final : public StoredStep<VectorStep> {
public:
  /// `isWalked` is false where the program asks for indices, which needs the dimensions as they are.
  /// Unimplemented if there are too many dimensions.
  static Result<std::unique_ptr<const Step>> create(VectorProgram program, std::vector<View> inputs,
                                                    std::vector<View> outputs, bool isWalked);
  VectorStep() = default;
  static auto fields(auto &step) { return std::tie(step.program, step.inputs, step.outputs, step.isWalked); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "vector program"; }

private:
  Status derive();
  Status verify(const PlanLimits &limits) const;

  VectorProgram program;
  std::vector<View> inputs, outputs;
  bool isWalked = false;
  VectorCall call;
  std::vector<VectorOperand> inputOperands, outputOperands;
};

} // namespace torchere::cpu
