// FoldStep: a reduction of one or several tensors, of windows or not, by a vector program.
#pragma once

#include "cpu/plan/plan.h"
#include "cpu/vector/folding.h"

namespace torchere::cpu {

class FoldStep final : public Step {
public:
  struct Operand {
    View input, initial, result;
  };
  /// `args` describes the views, without their memory and the program.
  FoldStep(VectorProgram program, FoldArgs args, std::vector<Operand> operands, std::vector<View> captures)
      : program(std::move(program)), args(std::move(args)), operands(std::move(operands)),
        captures(std::move(captures)) {}
  Status run(const Frame &frame) const final;

private:
  VectorProgram program;
  FoldArgs args;
  std::vector<Operand> operands;
  std::vector<View> captures;
};

} // namespace torchere::cpu
