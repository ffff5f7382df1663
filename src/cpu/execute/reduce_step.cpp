// Implements ReduceStep.
#include "cpu/execute/reduce_step.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

Result<std::unique_ptr<const Step>> ReduceStep::create(Reduction reduction, DType type, const View &input,
                                                       const View &initial, const View &result,
                                                       std::span<const int64_t> dimensions) {
  if (input.shape.size() > kMaxRank)
    return fail(ErrorCode::Unimplemented, "a reduction of {} dimensions", input.shape.size());
  auto step = std::make_unique<ReduceStep>();
  step->input = input;
  step->initial = initial;
  step->result = result;
  step->args.type = type;
  step->args.reduction = reduction;
  step->derive();
  for (int64_t dimension : dimensions)
    step->args.reduced[dimension] = true;
  return step;
}

Status ReduceStep::run(const Frame &frame) const {
  ReductionArgs call = args;
  call.input = frame.at(input);
  call.initial = frame.at(initial);
  call.output = frame.at(result);
  reduce(frame.context, call);
  return {};
}

void ReduceStep::derive() {
  args.rank = static_cast<int>(input.shape.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    args.dims[i] = input.shape[i];
    args.strides[i] = input.strides[i];
  }
}

Status ReduceStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(limits.reads(input, args.type));
  TORCHERE_TRY(expect(input.shape.size() <= kMaxRank, "dimensions: got {}, expected at most {}",
                      input.shape.size(), kMaxRank));
  auto type = static_cast<size_t>(args.type), reduction = static_cast<size_t>(args.reduction);
  const IsaKernels &kernels = kernelsOf(limits.isa());
  TORCHERE_TRY(expect(type < std::size(kernels.reduceAlong) && kernels.reduceAlong[type][reduction] &&
                          kernels.reduceAcross[type][reduction],
                      "a reduction of {}", dtypeInfo(args.type).shortName));
  int64_t results = 1;
  for (size_t i = 0; i < input.shape.size(); ++i)
    results *= args.reduced[i] ? 1 : input.shape[i];
  TORCHERE_TRY(limits.readsDense(initial, args.type, 1));
  TORCHERE_TRY(limits.writesDense(result, args.type, results));
  derive();
  return {};
}

} // namespace torchere::cpu
