// Implements ReduceStep.
#include "cpu/execute/reduce_step.h"

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
  step->args.rank = static_cast<int>(input.shape.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    step->args.dims[i] = input.shape[i];
    step->args.strides[i] = input.strides[i];
  }
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

} // namespace torchere::cpu
