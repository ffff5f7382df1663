// Implements the steps that find extreme elements.
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

static Status checkTypes(DType type, DType placeType) {
  TORCHERE_TRY(expect(hasExtremum(type), "an extremum of {}", dtypeInfo(type).shortName));
  return expect(placeType == DType::I32 || placeType == DType::I64, "places of {}",
                dtypeInfo(placeType).shortName);
}

Status ExtremumStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkTypes(args.type, args.placeType));
  TORCHERE_TRY(expectWithin("elements of a line", {args.length}, 1, std::numeric_limits<int32_t>::max()));
  int64_t lines = boundedProduct({args.outer, args.inner});
  TORCHERE_TRY(limits.readsDense(input, args.type, boundedProduct({lines, args.length})));
  TORCHERE_TRY(limits.writesDense(values, args.type, lines));
  return limits.writesDense(places, args.placeType, lines);
}

Status WindowExtremumStep::run(const Frame &frame) const {
  WindowExtremumArgs call = args;
  call.input = frame.at(input);
  findWindowExtrema(frame.context, call, frame.at(values), frame.at(places));
  return {};
}

Status WindowExtremumStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkTypes(args.type, args.placeType));
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  TORCHERE_TRY(expectWithin("sizes", args.dims, 1, most));
  TORCHERE_TRY(expectWithin("elements of a plane", {boundedProduct(args.dims)}, 1, most));
  TORCHERE_TRY(expectWithin("windows", args.outputDims, 0, most));
  TORCHERE_TRY(expectWithin("sizes of windows", args.windowDims, 1, mostPixels));
  TORCHERE_TRY(expectWithin("steps of windows", args.strides, 1, mostPixels));
  TORCHERE_TRY(expectWithin("dilations of windows", args.dilations, 1, mostPixels));
  TORCHERE_TRY(expectWithin("padding", args.padding, -mostPixels, mostPixels));
  int64_t count = boundedProduct({args.planes, boundedProduct(args.outputDims)});
  TORCHERE_TRY(limits.readsDense(input, args.type, boundedProduct({args.planes, boundedProduct(args.dims)})));
  TORCHERE_TRY(limits.writesDense(values, args.type, count));
  return limits.writesDense(places, args.placeType, count);
}

} // namespace torchere::cpu
