// Implements AttentionStep.
#include "cpu/execute/attention_step.h"

#include <algorithm>

namespace torchere::cpu {

AttentionStep::AttentionStep(const AttentionArgs &kind, std::vector<View> views, const View &result)
    : args(kind), inputs(std::move(views)), result(result) {
  const View &q = inputs[0], &k = inputs[1], &v = inputs[2];
  args.batch = q.shape[0];
  args.queryHeads = q.shape[1];
  args.keyHeads = k.shape[1];
  args.queries = q.shape[2];
  args.keys = k.shape[2];
  args.headSize = q.shape[3];
  args.valueSize = v.shape[3];
  HeadTensor *tensors[] = {&args.q, &args.k, &args.v};
  for (int i = 0; i < 3; ++i)
    std::copy_n(inputs[static_cast<size_t>(i)].strides.begin(), 3, tensors[i]->strides);
  args.outputStrides[0] = result.strides[0];
  args.outputStrides[1] = result.strides[2];
  args.outputStrides[2] = result.strides[1];
  if (args.mask != MaskKind::None)
    std::copy_n(inputs[3].strides.begin(), 4, args.maskStrides);
}

Status AttentionStep::run(const Frame &frame) const {
  AttentionArgs call = args;
  call.q.data = frame.at(inputs[0]);
  call.k.data = frame.at(inputs[1]);
  call.v.data = frame.at(inputs[2]);
  if (call.mask != MaskKind::None)
    call.maskData = frame.at(inputs[3]);
  call.output = frame.at(result);
  attention(frame.context, call);
  return {};
}

} // namespace torchere::cpu
