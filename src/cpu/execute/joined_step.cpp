// Implements JoinedStep.
#include "cpu/execute/joined_step.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/plan/limits.h"
#include "cpu/vector/op_rules.h"

#include <algorithm>

namespace torchere::cpu {

Result<std::unique_ptr<const Step>> JoinedStep::create(VectorProgram program, const Sizes &shape,
                                                       std::span<const int64_t> dimensions,
                                                       std::vector<View> inputs, std::vector<View> stored,
                                                       std::vector<Output> outputs, Isa isa) {
  auto step = std::make_unique<JoinedStep>();
  step->program = std::move(program);
  step->shape = shape;
  step->dimensions.assign(dimensions.begin(), dimensions.end());
  step->inputs = std::move(inputs);
  step->stored = std::move(stored);
  step->outputs = std::move(outputs);
  TORCHERE_TRY(step->derive(isa));
  return step;
}

/// Of a result along the dimensions of the views: 0 along those that are reduced.
Sizes JoinedStep::resultStrides() const {
  Sizes strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (std::ranges::count(dimensions, static_cast<int64_t>(i)) != 0)
      continue;
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Status JoinedStep::derive(Isa isa) {
  Sizes results = resultStrides();
  std::vector<const Sizes *> strides;
  for (const std::vector<View> *views : {&inputs, &stored})
    for (const View &view : *views)
      strides.push_back(&view.strides);
  strides.push_back(&results);
  Walk walk = walkOver(shape, strides);
  if (walk.shape.size() >= kVectorRank)
    return fail(ErrorCode::Unimplemented, "a reduction that walks {} dimensions", walk.shape.size());
  VectorWalk here;
  here.rank = static_cast<int>(walk.shape.size());
  std::ranges::copy(walk.shape, here.dims.begin());
  auto stridesOf = [&](size_t view) {
    VectorStrides of = {};
    std::ranges::copy(walk.strides[view], of.begin());
    return of;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    here.inputs.push_back(stridesOf(i));
  for (size_t i = 0; i < stored.size(); ++i)
    here.outputs.push_back(stridesOf(inputs.size() + i));
  std::vector<JoinedOutput> joined;
  for (const Output &output : outputs)
    joined.push_back({output.type, output.reduction, stridesOf(strides.size() - 1)});
  plan = JoinedPlan(program, isa, std::move(here), joined);
  return {};
}

Status JoinedStep::run(const Frame &frame) const {
  static thread_local std::vector<const void *> from, initials; // their memory is kept
  static thread_local std::vector<void *> to, results;
  from.clear();
  initials.clear();
  to.clear();
  results.clear();
  for (const View &input : inputs)
    from.push_back(frame.at(input));
  for (const View &output : stored)
    to.push_back(frame.at(output));
  for (const Output &output : outputs) {
    initials.push_back(frame.at(output.initial));
    results.push_back(frame.at(output.result));
  }
  plan.run(frame.context, {from.data(), to.data(), initials.data(), results.data()});
  return {};
}

/// One phase, in which nothing is computed once a row but constants.
Status JoinedStep::verifyProgram() const {
  TORCHERE_TRY(program.verify());
  TORCHERE_TRY(expectEqual<size_t>("inputs", inputs.size(), program.inputs));
  TORCHERE_TRY(expectEqual<size_t>("outputs", stored.size() + outputs.size(), program.outputs));
  TORCHERE_TRY(expect(!outputs.empty(), "reductions: expected at least one"));
  TORCHERE_TRY(
      expect(!program.phases.empty() && !program.hasRows(), "rows in a program whose results are reduced"));
  std::vector<bool> isWritten(outputs.size());
  for (const VectorInstruction &instruction : program.instructions) {
    TORCHERE_TRY(expect(instruction.op != VectorOp::Iota && !isReduction(instruction.op),
                        "indices or rows in a program whose results are reduced"));
    bool isRead = instruction.op == VectorOp::Input, isStore = instruction.op == VectorOp::Store;
    if (!isRead && !isStore)
      continue;
    if (isStore && instruction.index >= stored.size()) {
      const Output &output = outputs[instruction.index - stored.size()];
      isWritten[instruction.index - stored.size()] = true;
      TORCHERE_TRY(expect(instruction.to == output.type, "a reduction of {}: expected {}",
                          dtypeInfo(output.type).shortName, dtypeInfo(instruction.to).shortName));
      continue;
    }
    const View &view = (isRead ? inputs : stored)[instruction.index];
    TORCHERE_TRY(expectEqual("bytes of an element", byteSize(instruction.to),
                             static_cast<size_t>(view.elementSize())));
  }
  return expect(std::ranges::count(isWritten, false) == 0, "a reduction of nothing");
}

Status JoinedStep::verifyOutput(const Output &output, Isa isa) const {
  auto type = static_cast<size_t>(output.type), reduction = static_cast<size_t>(output.reduction);
  const IsaKernels &kernels = kernelsOf(isa);
  return expect(type < std::size(kernels.reduceAlong) && kernels.reduceAlong[type][reduction] &&
                    kernels.reduceAcross[type][reduction],
                "a reduction of {}", dtypeInfo(output.type).shortName);
}

Status JoinedStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(verifyProgram());
  int64_t elements = boundedProduct(shape), results = 1;
  TORCHERE_TRY(expect(elements > 0, "a vector program on nothing, or on too much"));
  TORCHERE_TRY(expectWithin("dimensions", dimensions, 0, static_cast<int64_t>(shape.size()) - 1));
  for (size_t i = 0; i < shape.size(); ++i)
    results *= std::ranges::count(dimensions, static_cast<int64_t>(i)) != 0 ? 1 : shape[i];
  for (const View &input : inputs) {
    TORCHERE_TRY(limits.reads(input));
    TORCHERE_TRY(expectShape("an input", input.shape, shape));
  }
  for (const View &output : stored) {
    TORCHERE_TRY(limits.writes(output));
    TORCHERE_TRY(expectShape("an output", output.shape, shape));
  }
  for (const Output &output : outputs) {
    TORCHERE_TRY(verifyOutput(output, limits.isa()));
    TORCHERE_TRY(limits.readsDense(output.initial, output.type, 1));
    TORCHERE_TRY(limits.writesDense(output.result, output.type, results));
  }
  return derive(limits.isa());
}

} // namespace torchere::cpu
