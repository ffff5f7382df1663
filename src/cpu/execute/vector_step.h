// VectorStep: a vector program on views of one shape.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/vector_plan.h"

#include <tuple>

namespace torchere::cpu {

class VectorStep final : public StoredStep<VectorStep> {
public:
  /// `isWalked` is false where the program asks for indices, which needs the dimensions as they are.
  /// Unimplemented if there are too many dimensions.
  static Result<std::unique_ptr<const Step>> create(VectorProgram program, std::vector<View> inputs,
                                                    std::vector<View> outputs, bool isWalked, Isa isa);
  VectorStep() = default;
  static auto fields(auto &step) { return std::tie(step.program, step.inputs, step.outputs, step.isWalked); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return reducesRows() ? "row program" : "vector program"; }

  // For steps that run the program beside something else.

  const std::vector<View> &inputViews() const { return inputs; }
  const std::vector<View> &outputViews() const { return outputs; }
  bool reads(BufferId buffer) const;
  /// Whether each element is computed for itself alone, wherever it is.
  bool isOfElements() const;
  const VectorProgram &vectorProgram() const { return program; }
  /// The program on as many elements of each dimension of its views, from any place in them on.
  Result<VectorPlan> planOn(const Sizes &shape, Isa isa) const;
  /// Where the operands lie.
  void place(const Frame &frame, std::vector<const void *> &from, std::vector<void *> &to) const;

private:
  bool reducesRows() const { return program.hasWholeRows || program.phases.size() > 1; }
  Status derive(Isa isa);
  Status verify(const PlanLimits &limits) const;

  VectorProgram program;
  std::vector<View> inputs, outputs;
  bool isWalked = false;
  VectorPlan plan;
};

} // namespace torchere::cpu
