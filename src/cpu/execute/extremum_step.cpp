// Implements ExtremumStep.
#include "cpu/execute/extremum_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status ExtremumStep::run(const Frame &frame) const {
  ExtremumArgs call = args;
  call.input = frame.at(input);
  call.values = frame.at(values);
  call.places = frame.at(places);
  findExtrema(frame.context, call);
  return {};
}

Status ExtremumStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(hasExtremum(args.type), "an extremum of {}", dtypeInfo(args.type).shortName));
  TORCHERE_TRY(expect(args.placeType == DType::I32 || args.placeType == DType::I64, "places of {}",
                      dtypeInfo(args.placeType).shortName));
  TORCHERE_TRY(expectWithin("elements of a line", {args.length}, 1, std::numeric_limits<int32_t>::max()));
  int64_t lines = boundedProduct({args.outer, args.inner});
  TORCHERE_TRY(limits.readsDense(input, args.type, boundedProduct({lines, args.length})));
  TORCHERE_TRY(limits.writesDense(values, args.type, lines));
  return limits.writesDense(places, args.placeType, lines);
}

} // namespace torchere::cpu
