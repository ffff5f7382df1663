// Implements scatters.
#include "cpu/execute/scatter_steps.h"

#include "cpu/execute/gather_step.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status ScatterStep::run(const Frame &frame) const {
  ScatterArgs here = args;
  here.slices.indices = frame.at(indices);
  here.tensor = frame.at(tensor);
  here.updates = frame.at(updates);
  scatterSlices(frame.context, here);
  return {};
}

Status ScatterFoldStep::run(const Frame &frame) const {
  ScatterFoldArgs here = args;
  here.program = &program;
  here.slices.indices = frame.at(indices);
  for (size_t i = 0; i < operands.size(); ++i) {
    here.operands[i].tensor = frame.at(operands[i].tensor);
    here.operands[i].updates = frame.at(operands[i].updates);
  }
  here.captures.clear();
  for (const View &capture : captures)
    here.captures.push_back(frame.at(capture));
  scatterFold(frame.context, here);
  return {};
}

Status ScatterStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkSlices(limits, args.slices, indices));
  TORCHERE_TRY(expect(hasScatter(args.type, args.join), "a scatter of {}", dtypeInfo(args.type).shortName));
  TORCHERE_TRY(limits.reads(slicesTensor(args.slices, updates), args.type));
  return limits.writes(slicedTensor(args.slices, tensor), args.type);
}

Status ScatterFoldStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkSlices(limits, args.slices, indices));
  TORCHERE_TRY(expectEqual("operands", operands.size(), args.operands.size()));
  TORCHERE_TRY(expectEqual("captures", captures.size(), args.captureTypes.size()));
  std::vector<DType> outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    DType type = args.operands[i].type;
    TORCHERE_TRY(expect(byteSize(type) <= 8, "a scatter of {}", dtypeInfo(type).shortName));
    TORCHERE_TRY(limits.reads(slicesTensor(args.slices, operands[i].updates), type));
    TORCHERE_TRY(limits.writes(slicedTensor(args.slices, operands[i].tensor), type));
    outputs.push_back(type);
  }
  std::vector<DType> inputs = outputs;
  inputs.insert(inputs.end(), outputs.begin(), outputs.end());
  for (size_t i = 0; i < captures.size(); ++i) {
    TORCHERE_TRY(limits.readsDense(captures[i], args.captureTypes[i], 1));
    inputs.push_back(args.captureTypes[i]);
  }
  return program.verifyLanes(inputs, outputs);
}

} // namespace torchere::cpu
