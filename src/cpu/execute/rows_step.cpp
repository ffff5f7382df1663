// Implements the steps of rows.
#include "cpu/execute/rows_step.h"

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

} // namespace torchere::cpu
