// Implements VectorStep.
#include "cpu/execute/vector_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

static std::vector<VectorStrides> stridesOf(const Walk &walk, size_t first, size_t count) {
  std::vector<VectorStrides> strides(count);
  for (size_t i = 0; i < count; ++i)
    std::copy(walk.strides[first + i].begin(), walk.strides[first + i].end(), strides[i].begin());
  return strides;
}

Result<std::unique_ptr<const Step>> VectorStep::create(VectorProgram program, std::vector<View> inputs,
                                                       std::vector<View> outputs, bool isWalked, Isa isa) {
  auto step = std::make_unique<VectorStep>();
  step->program = std::move(program);
  step->inputs = std::move(inputs);
  step->outputs = std::move(outputs);
  step->isWalked = isWalked;
  TORCHERE_TRY(step->derive(isa));
  return step;
}

Status VectorStep::derive(Isa isa) {
  TORCHERE_ASSIGN(plan, planOn(outputs.front().shape, isa));
  return {};
}

Result<VectorPlan> VectorStep::planOn(const Sizes &shape, Isa isa) const {
  std::vector<const Sizes *> strides;
  for (const View &view : inputs)
    strides.push_back(&view.strides);
  for (const View &view : outputs)
    strides.push_back(&view.strides);
  Walk walk;
  if (isWalked) {
    walk = walkOver(shape, strides);
  } else {
    walk.shape = shape;
    for (const Sizes *of : strides)
      walk.strides.push_back(*of);
  }
  if (walk.shape.size() > kVectorRank)
    return fail(ErrorCode::Unimplemented, "an elementwise op that walks {} dimensions", walk.shape.size());
  VectorWalk here;
  here.rank = static_cast<int>(walk.shape.size());
  std::copy(walk.shape.begin(), walk.shape.end(), here.dims.begin());
  here.inputs = stridesOf(walk, 0, inputs.size());
  here.outputs = stridesOf(walk, inputs.size(), outputs.size());
  return VectorPlan(program, isa, here);
}

bool VectorStep::reads(BufferId buffer) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const View &view) { return view.buffer == buffer; });
}

bool VectorStep::isOfElements() const {
  return isWalked && !program.hasWholeRows &&
         std::none_of(program.instructions.begin(), program.instructions.end(),
                      [](const VectorInstruction &instruction) {
                        return instruction.perRow || instruction.op == VectorOp::Iota;
                      });
}

void VectorStep::place(const Frame &frame, std::vector<const void *> &from, std::vector<void *> &to) const {
  from.clear();
  to.clear();
  for (const View &input : inputs)
    from.push_back(frame.at(input));
  for (const View &output : outputs)
    to.push_back(frame.at(output));
}

Status VectorStep::run(const Frame &frame) const {
  static thread_local std::vector<const void *> from; // their memory is kept
  static thread_local std::vector<void *> to;
  place(frame, from, to);
  plan.run(frame.context, from.data(), to.data());
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
  const Sizes &shape = outputs.front().shape;
  TORCHERE_TRY(expect(elementCount(shape) > 0, "a vector program on nothing"));
  if (program.hasWholeRows) {
    TORCHERE_TRY(expect(!isWalked && !shape.empty() && shape.back() <= VectorProgram::mostRowElements &&
                            program.rowElements(shape.back()) <= VectorProgram::mostTileElements,
                        "rows that are too long for a tile"));
  }
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
  return derive(limits.isa());
}

} // namespace torchere::cpu
