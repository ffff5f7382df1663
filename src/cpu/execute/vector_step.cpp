// Implements VectorStep.
#include "cpu/execute/vector_step.h"

#include <algorithm>

namespace torchere::cpu {

static std::vector<VectorOperand> operandsOf(const Walk &walk, size_t first, size_t count) {
  std::vector<VectorOperand> operands(count);
  for (size_t i = 0; i < count; ++i)
    std::copy(walk.strides[first + i].begin(), walk.strides[first + i].end(), operands[i].strides);
  return operands;
}

Result<std::unique_ptr<const Step>> VectorStep::create(VectorProgram program, std::vector<View> inputs,
                                                       std::vector<View> outputs, bool walked) {
  std::vector<const Sizes *> strides;
  for (const View &view : inputs)
    strides.push_back(&view.strides);
  for (const View &view : outputs)
    strides.push_back(&view.strides);
  Walk walk;
  if (walked) {
    walk = walkOver(outputs.front().shape, strides);
  } else {
    walk.shape = outputs.front().shape;
    for (const Sizes *of : strides)
      walk.strides.push_back(*of);
  }
  if (walk.shape.size() > kVectorRank)
    return fail(ErrorCode::Unimplemented, "an elementwise op that walks {} dimensions", walk.shape.size());
  auto step = std::make_unique<VectorStep>();
  step->call.rank = static_cast<int>(walk.shape.size());
  std::copy(walk.shape.begin(), walk.shape.end(), step->call.dims);
  step->inputOperands = operandsOf(walk, 0, inputs.size());
  step->outputOperands = operandsOf(walk, inputs.size(), outputs.size());
  step->program = std::move(program);
  step->inputs = std::move(inputs);
  step->outputs = std::move(outputs);
  return step;
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

} // namespace torchere::cpu
