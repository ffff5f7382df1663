// Implements BisectionStep.
#include "cpu/execute/bisection_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status BisectionStep::run(const Frame &frame) const {
  BisectionArgs call = args;
  call.table = frame.at(table);
  call.values = frame.at(values);
  call.places = frame.at(places);
  bisect(frame.context, call);
  return {};
}

Status BisectionStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expect(hasBisection(args.type), "a bisection of {}", dtypeInfo(args.type).shortName));
  bool isPlace = args.placeType == DType::I32 || args.placeType == DType::U32 ||
                 args.placeType == DType::I64 || args.placeType == DType::U64;
  TORCHERE_TRY(expect(isPlace, "places of {}", dtypeInfo(args.placeType).shortName));
  TORCHERE_TRY(expectWithin("elements of a table", {args.length}, 1, kMaxBisectedElements));
  TORCHERE_TRY(expectWithin("turns", {args.turns}, 0, kMaxBisectionTurns));
  TORCHERE_TRY(expectWithin("the highest place", {args.high}, 0, args.length));
  TORCHERE_TRY(expectWithin("the lowest place", {args.low}, 0, args.high));
  TORCHERE_TRY(limits.readsDense(table, args.type, args.length));
  TORCHERE_TRY(limits.readsDense(values, args.type, args.count));
  return limits.writesDense(places, args.placeType, args.count);
}

} // namespace torchere::cpu
