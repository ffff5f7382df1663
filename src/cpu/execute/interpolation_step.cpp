// Implements InterpolationStep.
#include "cpu/execute/interpolation_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

InterpolationStep::InterpolationStep(const View &input, std::vector<View> taps, int64_t axis,
                                     const View &result)
    : input(input), taps(std::move(taps)), axis(axis), result(result) {
  derive();
}

void InterpolationStep::derive() {
  auto at = static_cast<size_t>(axis);
  args.outer = args.inner = 1;
  for (size_t i = 0; i < input.shape.size(); ++i)
    (i < at ? args.outer : args.inner) *= i == at ? 1 : input.shape[i];
  args.inputSize = input.shape[at];
  args.outputSize = result.shape[at];
  args.tapCount = static_cast<int64_t>(taps.size() / 2);
  args.placeBytes = taps.front().type == ElementType::I64 ? 8 : 4;
}

Status InterpolationStep::run(const Frame &frame) const {
  InterpolationArgs call = args;
  call.input = reinterpret_cast<const float *>(frame.at(input));
  call.output = reinterpret_cast<float *>(frame.at(result));
  for (size_t tap = 0; tap < taps.size() / 2; ++tap)
    call.taps[tap] = {frame.at(taps[2 * tap]), reinterpret_cast<const float *>(frame.at(taps[2 * tap + 1]))};
  interpolate(frame.context, call);
  return {};
}

Status InterpolationStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(limits.reads(input, DType::F32)); // and bounds the sizes
  TORCHERE_TRY(limits.writes(result, DType::F32));
  TORCHERE_TRY(limits.readsDense(input, DType::F32, elementCount(input.shape)));
  TORCHERE_TRY(limits.writesDense(result, DType::F32, elementCount(result.shape)));
  TORCHERE_TRY(expectWithin("axis", {axis}, 0, static_cast<int64_t>(input.shape.size()) - 1));
  TORCHERE_TRY(expect(taps.size() % 2 == 0, "places and weights: got {} of them", taps.size()));
  TORCHERE_TRY(expectWithin("taps", {static_cast<int64_t>(taps.size() / 2)}, 1, kMaxInterpolationTaps));
  Sizes expected = input.shape;
  auto at = static_cast<size_t>(axis);
  TORCHERE_TRY(expectEqual("dimensions", static_cast<int64_t>(result.shape.size()),
                           static_cast<int64_t>(expected.size())));
  TORCHERE_TRY(expectWithin("size of the axis", {expected[at]}, 1, mostElements));
  expected[at] = result.shape[at];
  TORCHERE_TRY(expectShape("result", result.shape, expected));
  DType places = taps.front().type == ElementType::I64 ? DType::I64 : DType::I32;
  for (size_t i = 0; i < taps.size(); ++i)
    TORCHERE_TRY(limits.readsDense(taps[i], i % 2 == 0 ? places : DType::F32, expected[at]));
  derive();
  return {};
}

} // namespace torchere::cpu
