// Implements the reductions of windows.
#include "cpu/execute/window_steps.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status WindowStep::run(const Frame &frame) const {
  WindowsArgs here = args;
  here.input = frame.at(input);
  here.initial = frame.at(initial);
  here.output = frame.at(result);
  reduceWindows(frame.context, here);
  return {};
}

Status RunningStep::run(const Frame &frame) const {
  RunningArgs here = args;
  here.input = frame.at(input);
  here.initial = frame.at(initial);
  here.output = frame.at(result);
  reduceRunning(frame.context, here);
  return {};
}

static Status checkReduction(const PlanLimits &limits, DType type, Reduction reduction) {
  const IsaKernels &kernels = kernelsOf(limits.isa());
  auto row = static_cast<size_t>(type), column = static_cast<size_t>(reduction);
  return expect(row < std::size(kernels.windows) && kernels.windows[row][column] &&
                    kernels.running[row][column],
                "windows of {}", dtypeInfo(type).shortName);
}

Status WindowStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkReduction(limits, args.type, args.reduction));
  TORCHERE_TRY(expectWithin("dimensions", {args.rank}, 0, kMaxRank));
  auto rank = static_cast<size_t>(args.rank);
  TORCHERE_TRY(expectWithin("elements of a window", {boundedProduct(std::span(args.windowDims).first(rank))},
                            1, mostPixels));
  std::vector<DimensionStride> walked;
  for (size_t i = 0; i < rank; ++i) {
    walked.push_back({args.outputDims[i], args.outputStrides[i]});
    walked.push_back({args.windowDims[i], args.windowStrides[i]});
  }
  TORCHERE_TRY(limits.reads(strided(input, walked), args.type));
  TORCHERE_TRY(limits.readsDense(initial, args.type, 1));
  return limits.writesDense(result, args.type, boundedProduct(std::span(args.outputDims).first(rank)));
}

Status RunningStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkReduction(limits, args.type, args.reduction));
  int64_t count = boundedProduct({args.outer, args.length, args.inner});
  TORCHERE_TRY(limits.readsDense(input, args.type, count));
  TORCHERE_TRY(limits.readsDense(initial, args.type, 1));
  return limits.writesDense(result, args.type, count);
}

} // namespace torchere::cpu
