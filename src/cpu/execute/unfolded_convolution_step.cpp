// Implements UnfoldedConvolutionStep.
#include "cpu/execute/unfolded_convolution_step.h"

#include "cpu/kernels/convolution.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status UnfoldedConvolutionStep::run(const Frame &frame) const {
  UnfoldedConvolution here = args;
  here.input.data = frame.at(input);
  here.weights.data = frame.at(weights);
  here.output.data = frame.at(result);
  convolveUnfolded(frame.context, here, frame.at(workspace));
  return {};
}

static Status checkAxis(const ConvolvedAxis &axis) {
  TORCHERE_TRY(expectWithin("sizes of an axis", {axis.input, axis.output}, 0, mostPixels));
  TORCHERE_TRY(expectWithin("kernel", {axis.kernel}, 0, mostWindow));
  TORCHERE_TRY(expectWithin("steps and dilations", {axis.stride, axis.inputDilation, axis.kernelDilation}, 1,
                            mostPixels));
  return expectWithin("padding", {axis.padding}, -mostPixels, mostPixels);
}

static Status checkTypes(const UnfoldedConvolution &args) {
  bool isHalf = args.type == DType::F16 || args.type == DType::BF16;
  for (DType type : {args.type, args.resultType})
    TORCHERE_TRY(expect(type <= DType::F64, "a convolution of {}", dtypeInfo(type).shortName));
  bool isFloat = dtypeInfo(args.type).isFloatingPoint;
  bool fits = isFloat ? args.resultType == args.type || (isHalf && args.resultType == DType::F32)
                      : !dtypeInfo(args.resultType).isFloatingPoint;
  return expect(fits, "a convolution of {} in {}", dtypeInfo(args.type).shortName,
                dtypeInfo(args.resultType).shortName);
}

Status UnfoldedConvolutionStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkTypes(args));
  TORCHERE_TRY(expectWithin("dimensions of space", {args.rank}, 0, kMaxSpatialRank));
  TORCHERE_TRY(expectWithin("groups and channels",
                            {args.batch, args.groups, args.groupInputs, args.groupOutputs}, 0, mostPixels));
  int64_t outputs = args.groups * args.groupOutputs;
  std::vector<DimensionStride> from, by, to;
  from.push_back({args.batch * (args.batchGroups ? args.groups : 1), args.input.first});
  from.push_back({args.groupInputs * (args.batchGroups ? 1 : args.groups), args.input.second});
  by.insert(by.end(), {{outputs, args.weights.first}, {args.groupInputs, args.weights.second}});
  to.insert(to.end(), {{args.batch, args.output.first}, {outputs, args.output.second}});
  int64_t taps = 1;
  for (int i = 0; i < args.rank; ++i) {
    const ConvolvedAxis &axis = args.axes[i];
    TORCHERE_TRY(checkAxis(axis));
    taps = boundedProduct({taps, axis.kernel});
    TORCHERE_TRY(expect(taps >= 0, "a kernel: expected fewer than {} taps", mostElements));
    from.push_back({axis.input, args.input.spatial[i]});
    by.push_back({axis.kernel, args.weights.spatial[i]});
    to.push_back({axis.output, args.output.spatial[i]});
  }
  TORCHERE_TRY(limits.reads(strided(input, from), args.type));
  TORCHERE_TRY(limits.reads(strided(weights, by), args.type));
  TORCHERE_TRY(limits.writes(strided(result, to), args.resultType));
  return limits.writesDense(workspace, DType::U8, unfoldedWorkspaceBytes(args));
}

} // namespace torchere::cpu
