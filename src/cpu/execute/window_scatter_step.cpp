// Implements WindowScatterStep.
#include "cpu/execute/window_scatter_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status WindowScatterStep::run(const Frame &frame) const {
  WindowScatterArgs here = args;
  here.select = &select;
  here.scatter = &scatter;
  here.operand = frame.at(views.operand);
  here.source = frame.at(views.source);
  here.initial = frame.at(views.initial);
  here.result = frame.at(views.result);
  selectAndScatter(frame.context, here);
  return {};
}

Status WindowScatterStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(expectWithin("dimensions", {args.rank}, 0, kMaxRank));
  TORCHERE_TRY(expect(byteSize(args.type) <= 8, "a scatter of {}", dtypeInfo(args.type).shortName));
  auto rank = static_cast<size_t>(args.rank);
  TORCHERE_TRY(expectWithin("windows", std::span(args.windowDims).first(rank), 1, mostPixels));
  TORCHERE_TRY(expectWithin("steps of windows", std::span(args.windowStrides).first(rank), 1, mostPixels));
  TORCHERE_TRY(expectWithin("padding", std::span(args.padding).first(rank), -mostPixels, mostPixels));
  TORCHERE_TRY(expectWithin("sizes", std::span(args.sourceDims).first(rank), 0, mostPixels));
  int64_t count = boundedProduct(std::span(args.dims).first(rank));
  TORCHERE_TRY(limits.readsDense(views.operand, args.type, count));
  TORCHERE_TRY(
      limits.readsDense(views.source, args.type, boundedProduct(std::span(args.sourceDims).first(rank))));
  TORCHERE_TRY(limits.readsDense(views.initial, args.type, 1));
  TORCHERE_TRY(limits.writesDense(views.result, args.type, count));
  DType pair[] = {args.type, args.type}, truth = DType::Bool;
  TORCHERE_TRY(select.verifyLanes(pair, {&truth, 1}));
  return scatter.verifyLanes(pair, {&args.type, 1});
}

} // namespace torchere::cpu
