// Implements VectorStep.
#include "cpu/execute/vector_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

static std::vector<VectorOperand> operandsOf(const Walk &walk, size_t first, size_t count) {
  std::vector<VectorOperand> operands(count);
  for (size_t i = 0; i < count; ++i)
    std::copy(walk.strides[first + i].begin(), walk.strides[first + i].end(), operands[i].strides);
  return operands;
}

Result<std::unique_ptr<const Step>> VectorStep::create(VectorProgram program, std::vector<View> inputs,
                                                       std::vector<View> outputs, bool isWalked) {
  auto step = std::make_unique<VectorStep>();
  step->program = std::move(program);
  step->inputs = std::move(inputs);
  step->outputs = std::move(outputs);
  step->isWalked = isWalked;
  TORCHERE_TRY(step->derive());
  return step;
}

Status VectorStep::derive() {
  std::vector<const Sizes *> strides;
  for (const View &view : inputs)
    strides.push_back(&view.strides);
  for (const View &view : outputs)
    strides.push_back(&view.strides);
  Walk walk;
  if (isWalked) {
    walk = walkOver(outputs.front().shape, strides);
  } else {
    walk.shape = outputs.front().shape;
    for (const Sizes *of : strides)
      walk.strides.push_back(*of);
  }
  if (walk.shape.size() > kVectorRank)
    return fail(ErrorCode::Unimplemented, "an elementwise op that walks {} dimensions", walk.shape.size());
  call.rank = static_cast<int>(walk.shape.size());
  std::copy(walk.shape.begin(), walk.shape.end(), call.dims);
  inputOperands = operandsOf(walk, 0, inputs.size());
  outputOperands = operandsOf(walk, inputs.size(), outputs.size());
  return {};
}

Status VectorStep::run(const Frame &frame) const {
  static thread_local std::vector<VectorOperand> from, to; // their memory is kept
  from = inputOperands;
  to = outputOperands;
  for (size_t i = 0; i < from.size(); ++i)
    from[i].data = frame.at(inputs[i]);
  for (size_t i = 0; i < to.size(); ++i)
    to[i].data = frame.at(outputs[i]);
  VectorCall here = call;
  here.inputs = from.data();
  here.outputs = to.data();
  runVectorProgram(frame.context, program, here);
  return {};
}

/// All views have one shape. Elements of rows are read by other steps alone.
Status VectorStep::verify(const PlanLimits &limits) const {
  TORCHERE_TRY(program.verify());
  TORCHERE_TRY(expectEqual<size_t>("inputs", inputs.size(), program.inputs));
  TORCHERE_TRY(expectEqual<size_t>("outputs", outputs.size(), program.outputs));
  TORCHERE_TRY(expect(!outputs.empty(), "outputs: expected at least one"));
  for (const View &input : inputs) {
    TORCHERE_TRY(limits.reads(input));
    TORCHERE_TRY(expectShape("an input", input.shape, outputs.front().shape));
  }
  for (const View &output : outputs) {
    TORCHERE_TRY(limits.writes(output));
    TORCHERE_TRY(expectShape("an output", output.shape, outputs.front().shape));
  }
  TORCHERE_TRY(expect(elementCount(outputs.front().shape) > 0, "a vector program on nothing"));
  for (const VectorInstruction &instruction : program.instructions) {
    bool isRead = instruction.op == VectorOp::Input;
    if (!isRead && instruction.op != VectorOp::Store)
      continue;
    const View &view = (isRead ? inputs : outputs)[instruction.index];
    TORCHERE_TRY(expectEqual("bytes of an element", byteSize(instruction.to),
                             static_cast<size_t>(view.elementSize())));
  }
  return {};
}

Status VectorStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(verify(limits));
  return derive();
}

} // namespace torchere::cpu
