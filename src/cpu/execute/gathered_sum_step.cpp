// Implements GatheredSumStep.
#include "cpu/execute/gathered_sum_step.h"

#include "cpu/execute/gather_step.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status GatheredSumStep::run(const Frame &frame) const {
  GatheredSumArgs args;
  args.slices = slices;
  args.tapCount = static_cast<int64_t>(taps.size() / 2);
  for (size_t tap = 0; tap < taps.size() / 2; ++tap)
    args.taps[tap] = {frame.at(taps[2 * tap]), reinterpret_cast<const float *>(frame.at(taps[2 * tap + 1]))};
  args.tensor = reinterpret_cast<const float *>(frame.at(tensor));
  args.output = reinterpret_cast<float *>(frame.at(result));
  sumGathered(frame.context, args);
  return {};
}

Status GatheredSumStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(taps.size() % 2 == 0, "indices and weights: got {} of them", taps.size()));
  TORCHERE_TRY(expectWithin("taps", {static_cast<int64_t>(taps.size() / 2)}, 1, kMaxInterpolationTaps));
  for (size_t tap = 0; tap < taps.size() / 2; ++tap)
    TORCHERE_TRY(checkSlices(limits, slices, taps[2 * tap]));
  TORCHERE_TRY(limits.reads(slicedTensor(slices, tensor), DType::F32));
  TORCHERE_TRY(limits.writes(slicesTensor(slices, result), DType::F32));
  TORCHERE_TRY(expect(areColumns(slices), "slices that are no columns of the tensor"));
  for (size_t tap = 0; tap < taps.size() / 2; ++tap)
    TORCHERE_TRY(limits.readsDense(taps[2 * tap + 1], DType::F32, slices.count()));
  return {};
}

} // namespace torchere::cpu
