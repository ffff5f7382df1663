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

static Status checkType(DType type) {
  return expect(type == DType::F32 || type == DType::F64 || type == DType::BF16 || type == DType::F16,
                "rows of {}", dtypeInfo(type).shortName);
}

static Status checkRows(const PlanLimits &limits, const RowsArgs &rows, const View &input,
                        const View &result) {
  TORCHERE_TRY(checkType(rows.type));
  TORCHERE_TRY(
      limits.reads(strided(input, {{rows.rows, rows.inputRowStride}, {rows.columns, 1}}), rows.type));
  return limits.writes(strided(result, {{rows.rows, rows.outputRowStride}, {rows.columns, 1}}), rows.type);
}

Status SoftmaxStep::restore(const PlanLimits &limits) {
  if (args.inner == 1)
    return checkRows(limits, args.rows, input, result);
  TORCHERE_TRY(expectWithin("how far elements of a row lie apart", {args.inner}, 1, args.rows.rows));
  TORCHERE_TRY(expectWithin("elements that lie apart", {args.rows.columns}, 0, kMaxAcrossLength));
  TORCHERE_TRY(expectEqual("rows that are left over", args.rows.rows % args.inner, int64_t(0)));
  TORCHERE_TRY(expect(!args.zeroWhenMasked, "masked rows of elements that lie apart"));
  TORCHERE_TRY(checkType(args.rows.type));
  int64_t count = boundedProduct({args.rows.rows, args.rows.columns});
  TORCHERE_TRY(limits.readsDense(input, args.rows.type, count));
  return limits.writesDense(result, args.rows.type, count);
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
