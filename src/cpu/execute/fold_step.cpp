// Implements FoldStep.
#include "cpu/execute/fold_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status FoldStep::run(const Frame &frame) const {
  FoldArgs here = args;
  here.program = &program;
  for (size_t i = 0; i < operands.size(); ++i) {
    here.operands[i].input = frame.at(operands[i].input);
    here.operands[i].initial = frame.at(operands[i].initial);
    here.operands[i].output = frame.at(operands[i].result);
  }
  here.captures.clear();
  for (const View &capture : captures)
    here.captures.push_back(frame.at(capture));
  fold(frame.context, here);
  return {};
}

/// Of an operand: the elements of its windows, and where they are joined to.
static Status checkOperand(const PlanLimits &limits, const FoldArgs &args, const FoldOperand &operand,
                           const FoldStep::Operand &views) {
  std::vector<DimensionStride> output, window;
  for (int i = 0; i < args.rank; ++i) {
    window.push_back({args.dims[i], operand.inputStrides[i]});
    output.push_back({args.dims[i], operand.outputStrides[i]});
  }
  for (int i = 0; i < args.windowRank; ++i)
    window.push_back({args.windowDims[i], operand.windowStrides[i]});
  TORCHERE_TRY(expect(byteSize(operand.type) <= 8, "a fold of {}", dtypeInfo(operand.type).shortName));
  TORCHERE_TRY(limits.reads(strided(views.input, window), operand.type));
  TORCHERE_TRY(limits.readsDense(views.initial, operand.type, 1));
  return limits.writes(strided(views.result, args.running ? window : output), operand.type);
}

Status FoldStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expectWithin("dimensions", {args.rank, args.windowRank}, 0, kMaxRank));
  TORCHERE_TRY(expectWithin("sizes of windows", std::span(args.windowDims).first(size_t(args.windowRank)), 1,
                            mostElements));
  TORCHERE_TRY(expect(!operands.empty() && args.operands.size() == operands.size(), "operands: got {} and {}",
                      operands.size(), args.operands.size()));
  TORCHERE_TRY(expectEqual("captures", captures.size(), args.captureTypes.size()));
  std::vector<DType> inputs, outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    TORCHERE_TRY(checkOperand(limits, args, args.operands[i], operands[i]));
    outputs.push_back(args.operands[i].type);
  }
  inputs = outputs;
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  for (size_t i = 0; i < captures.size(); ++i) {
    TORCHERE_TRY(limits.readsDense(captures[i], args.captureTypes[i], 1));
    inputs.push_back(args.captureTypes[i]);
  }
  return program.verifyLanes(inputs, outputs);
}

} // namespace torchere::cpu
