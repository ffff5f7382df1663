// Implements the steps at computed places.
#include "cpu/execute/computed_place_steps.h"

#include "cpu/execute/slice_step.h"
#include "cpu/kernels/movement.h"
#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

namespace {

tl::unexpected<Error> refuse(Error error, const std::string &source) {
  error.where = source;
  return tl::unexpected(std::move(error));
}

/// The copy's dimension `i` goes over `count` elements, each `step` strides of the view from the one before.
/// Of one element the step may be any number.
int64_t stridesOf(const View &view, size_t i, int64_t step, int64_t count) {
  return count > 1 ? view.strides[i] * step : 0;
}

/// Numbers that are no sizes are brought so near to 0 that sums of them do not overflow.
int64_t bounded(int64_t number) {
  constexpr int64_t limit = int64_t(1) << 60;
  return std::clamp(number, -limit, limit);
}

/// One dimension of a pad.
struct PaddedDimension {
  int64_t size = 0;  ///< of the result, or negative
  int64_t first = 0; ///< element of the input that is inside
  int64_t place = 0; ///< of that in the result
  int64_t count = 0; ///< of elements inside
};

PaddedDimension padded(int64_t size, int64_t low, int64_t high, int64_t step) {
  PaddedDimension made;
  if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), step - 1, &made.size) ||
      __builtin_add_overflow(made.size, size + low + high, &made.size))
    return {-1};
  made.first = low < 0 ? (-low + step - 1) / step : 0;
  made.place = low + made.first * step;
  made.count = made.place < made.size ? (made.size - made.place - 1) / step + 1 : 0;
  made.count = std::max<int64_t>(std::min(made.count, size - made.first), 0);
  return made;
}

} // namespace

Status ComputedSliceStep::run(const Frame &frame) const {
  CopyArgs args;
  args.elementSize = output.elementSize();
  args.rank = static_cast<int>(places.size());
  const std::byte *from = frame.at(input);
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t start = integerAt(frame, places[i].start), limit = integerAt(frame, places[i].limit);
    int64_t step = integerAt(frame, places[i].step), count = 0;
    bool isInside = start >= 0 && limit >= start && limit <= input.shape[i] && step >= 1;
    if (isInside)
      count = limit == start ? 0 : (limit - start - 1) / step + 1;
    if (!isInside || count != output.shape[i])
      return refuse(invalidArgument("[stablehlo.real_dynamic_slice] slice [{}:{}:{}] of dimension {}: got {} "
                                    "elements of {}, expected {}",
                                    start, limit, step, i, count, input.shape[i], output.shape[i])
                        .value(),
                    source);
    args.dims[i] = count;
    args.inputStrides[i] = stridesOf(input, i, step, count);
    args.outputStrides[i] = output.strides[i];
    from += start * input.strides[i] * input.elementSize();
  }
  args.input = from;
  args.output = frame.at(output);
  if (elementCount(output.shape) != 0)
    copyStrided(frame.context, args);
  return {};
}

Status ComputedPadStep::run(const Frame &frame) const {
  CopyArgs args;
  args.elementSize = output.elementSize();
  args.rank = static_cast<int>(paddings.size());
  const std::byte *from = frame.at(input);
  std::byte *to = frame.at(output);
  bool isEmpty = false;
  for (size_t i = 0; i < paddings.size(); ++i) {
    int64_t low = integerAt(frame, paddings[i].low), high = integerAt(frame, paddings[i].high);
    int64_t interior = integerAt(frame, paddings[i].interior);
    int64_t step = bounded(std::max<int64_t>(interior, 0)) + 1;
    PaddedDimension dimension = padded(input.shape[i], bounded(low), bounded(high), step);
    if (interior < 0 || dimension.size != output.shape[i])
      return refuse(
          invalidArgument("[stablehlo.dynamic_pad] padding of dimension {} of size {} by {} and {}, "
                          "and {} between elements: got the size {}, expected {}",
                          i, input.shape[i], low, high, interior, dimension.size, output.shape[i])
              .value(),
          source);
    isEmpty |= dimension.count == 0;
    if (isEmpty)
      continue;
    args.dims[i] = dimension.count;
    args.inputStrides[i] = input.strides[i];
    args.outputStrides[i] = stridesOf(output, i, step, dimension.count);
    from += dimension.first * input.strides[i] * input.elementSize();
    to += dimension.place * output.strides[i] * output.elementSize();
  }
  args.input = from;
  args.output = to;
  if (!isEmpty)
    copyStrided(frame.context, args);
  return {};
}

static Status checkViews(const PlanLimits &limits, const View &input, const View &output, size_t places) {
  TORCHERE_TRY(limits.reads(input));
  TORCHERE_TRY(limits.writes(output));
  TORCHERE_TRY(expect(output.type == input.type, "elements of another type"));
  TORCHERE_TRY(expectEqual("dimensions", input.shape.size(), places));
  TORCHERE_TRY(expectEqual("dimensions", output.shape.size(), places));
  return expect(places <= kMaxRank, "dimensions: got {}, expected at most {}", places, kMaxRank);
}

Status ComputedSliceStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkViews(limits, input, output, places.size()));
  for (const ComputedPlace &place : places)
    for (const View *number : {&place.start, &place.limit, &place.step})
      TORCHERE_TRY(limits.readsInteger(*number));
  return {};
}

Status ComputedPadStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkViews(limits, input, output, paddings.size()));
  for (const ComputedPadding &padding : paddings)
    for (const View *number : {&padding.low, &padding.high, &padding.interior})
      TORCHERE_TRY(limits.readsInteger(*number));
  return {};
}

} // namespace torchere::cpu
