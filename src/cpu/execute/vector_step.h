// VectorStep: a vector program on views of one shape.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/program.h"

namespace torchere::cpu {

class VectorStep final : public Step {
public:
  /// `walked` is false where the program asks for indices, which needs the dimensions as they are.
  /// Unimplemented if there are too many dimensions.
  static Result<std::unique_ptr<const Step>> create(VectorProgram program, std::vector<View> inputs,
                                                    std::vector<View> outputs, bool walked);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "vector program"; }

private:
  VectorProgram program;
  std::vector<View> inputs, outputs;
  VectorCall call;
  std::vector<VectorOperand> inputOperands, outputOperands;
};

} // namespace torchere::cpu
