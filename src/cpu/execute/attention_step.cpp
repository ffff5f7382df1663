// Implements AttentionStep.
#include "cpu/execute/attention_step.h"

#include "cpu/plan/limits.h"

#include <algorithm>

namespace torchere::cpu {

AttentionStep::AttentionStep(const AttentionArgs &kind, std::vector<View> views, const View &result)
    : args(kind), inputs(std::move(views)), result(result) {
  derive();
}

void AttentionStep::derive() {
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

/// As if every query of a causal mask saw half of the keys that it does not see alone.
double AttentionStep::flops() const {
  double scores = double(args.batch) * double(args.queryHeads) * double(args.queries) * double(args.keys);
  return 2 * scores * double(args.headSize + args.valueSize);
}

static bool isOfKernel(DType type) {
  return type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

/// The elements of a head lie one after another.
static Status checkHeads(const View &view) {
  return expect(view.shape[3] <= 1 || view.strides[3] == 1,
                "a head's elements: got a stride of {}, expected 1", view.strides[3]);
}

Status AttentionStep::restore(const PlanLimits &limits) {
  bool isMasked = args.mask != MaskKind::None;
  TORCHERE_TRY(expectEqual<size_t>("operands", inputs.size(), isMasked ? 4 : 3));
  for (DType type : {args.type, args.outputType, args.maskType})
    TORCHERE_TRY(expect(isOfKernel(type), "attention of {}", dtypeInfo(type).shortName));
  for (size_t i = 0; i < 3; ++i) {
    TORCHERE_TRY(limits.reads(inputs[i], args.type));
    TORCHERE_TRY(expectEqual<size_t>("dimensions", inputs[i].shape.size(), 4));
    TORCHERE_TRY(checkHeads(inputs[i]));
  }
  TORCHERE_TRY(limits.writes(result, args.outputType));
  TORCHERE_TRY(expectEqual<size_t>("dimensions", result.shape.size(), 4));
  TORCHERE_TRY(checkHeads(result));
  const Sizes &q = inputs[0].shape, &k = inputs[1].shape, &v = inputs[2].shape;
  TORCHERE_TRY(expect(k[1] >= 1 && q[1] % k[1] == 0, "heads: got {} for {} of the keys", q[1], k[1]));
  TORCHERE_TRY(expectShape("keys", k, {q[0], k[1], k[2], q[3]}));
  TORCHERE_TRY(expectShape("values", v, {q[0], k[1], k[2], v[3]}));
  TORCHERE_TRY(expectShape("the result", result.shape, {q[0], q[2], q[1], v[3]}));
  TORCHERE_TRY(expectWithin("offset of the causal mask", {args.causalOffset}, -mostElements, mostElements));
  if (isMasked) {
    TORCHERE_TRY(limits.reads(inputs[3], args.mask == MaskKind::Boolean ? DType::Bool : args.maskType));
    TORCHERE_TRY(expectShape("the mask", inputs[3].shape, {q[0], q[1], q[2], k[2]}));
  }
  derive();
  return {};
}

} // namespace torchere::cpu
