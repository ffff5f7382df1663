// Implements the steps of rows.
#include "cpu/execute/rows_step.h"

#include "cpu/plan/limits.h"

namespace torchere::cpu {

Status SoftmaxStep::run(const Frame &frame) const {
  SoftmaxArgs call = args;
  call.rows.input = frame.at(input);
  call.rows.output = frame.at(result);
  softmax(frame.context, call);
  return {};
}

Status NormStep::run(const Frame &frame) const {
  NormArgs call = args;
  call.rows.input = frame.at(input);
  call.rows.output = frame.at(result);
  if (scale)
    call.scale = frame.at(*scale);
  if (bias)
    call.bias = frame.at(*bias);
  normalize(frame.context, call);
  return {};
}

static Status checkRows(const PlanLimits &limits, const RowsArgs &rows, const View &input,
                        const View &result) {
  TORCHERE_TRY(expect(rows.type == DType::F32 || rows.type == DType::F64 || rows.type == DType::BF16 ||
                          rows.type == DType::F16,
                      "rows of {}", dtypeInfo(rows.type).shortName));
  TORCHERE_TRY(
      limits.reads(strided(input, {{rows.rows, rows.inputRowStride}, {rows.columns, 1}}), rows.type));
  return limits.writes(strided(result, {{rows.rows, rows.outputRowStride}, {rows.columns, 1}}), rows.type);
}

Status SoftmaxStep::restore(const PlanLimits &limits) {
  return checkRows(limits, args.rows, input, result);
}

Status NormStep::restore(const PlanLimits &limits) {
  TORCHERE_TRY(checkRows(limits, args.rows, input, result));
  if (args.hasWideFactors)
    TORCHERE_TRY(
        expect(byteSize(args.rows.type) == 2, "wide factors of {}", dtypeInfo(args.rows.type).shortName));
  for (const std::optional<View> &columns : {scale, bias})
    if (columns)
      TORCHERE_TRY(
          limits.readsDense(*columns, args.hasWideFactors ? DType::F32 : args.rows.type, args.rows.columns));
  return {};
}

} // namespace torchere::cpu
