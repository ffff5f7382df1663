// Quantization-aware training: observe, choose scale and zero point, quantize. No value is read: what torch's
// kernel branches on is selected.
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/ops/_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/fake_quantize_per_channel_affine_cachemask.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/round.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/view_copy.h>
#include <ATen/ops/where.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <limits>

namespace torchere::lazy {

namespace {

struct Parameters {
  at::Tensor scale, zeroPoint;
};

/// The running extreme after a batch's. Before the first batch it is infinite, or has no elements.
at::Tensor movedAverage(const at::Tensor &running, const at::Tensor &batch, const at::Tensor &isObserved,
                        double rate) {
  at::Tensor seen = at::view_copy(batch, running.numel() == batch.numel() ? running.sizes() : batch.sizes());
  if (running.numel() == 0)
    return seen;
  at::Tensor moved = at::add(running, at::mul(at::sub(seen, running), rate));
  return at::where(isObserved, at::where(at::isinf(running), seen, moved), running);
}

/// As ChooseQuantizationParams() of torch and fbgemm, in float64 where they are.
Parameters chosen(const at::Tensor &least, const at::Tensor &most, int64_t smallest, int64_t largest,
                  bool isSymmetric) {
  constexpr double smallestScale = 6.1e-5f; // below, scales are subnormal in float16
  const auto steps = static_cast<double>(largest - smallest);
  at::Tensor low = least.to(at::kDouble), high = most.to(at::kDouble);
  if (isSymmetric) {
    const auto up = static_cast<double>((largest - smallest) / 2), down = -(up + 1);
    at::Tensor unit = at::maximum(at::abs(at::div(low, down)), at::abs(at::div(high, up)));
    at::Tensor spansZero = at::logical_and(at::lt(low, 0), at::gt(high, 0));
    low = at::where(spansZero, at::mul(unit, down), low);
    high = at::where(spansZero, at::mul(unit, up), high);
  }
  low = at::clamp_max(low, 0).to(at::kFloat).to(at::kDouble);
  high = at::clamp_min(high, 0).to(at::kFloat).to(at::kDouble);
  at::Tensor scale = at::div(at::sub(high, low), steps), single = scale.to(at::kFloat);
  at::Tensor isUseless = at::logical_or(at::eq(single, 0), at::isinf(at::reciprocal(single)));
  scale = at::where(isUseless, 0.1, scale);
  // Too small a scale is enlarged, and the range with it.
  at::Tensor isSmall = at::lt(scale, smallestScale);
  at::Tensor factor = at::where(isSmall, at::div(at::reciprocal(scale), 1 / smallestScale), 1.0);
  low = at::mul(low, factor);
  high = at::mul(high, factor);
  scale = at::where(isSmall, smallestScale, scale);
  at::Tensor below = at::div(low, scale), above = at::div(high, scale);
  at::Tensor isBelowNearer = at::lt(at::rsub(at::abs(below), std::abs(static_cast<double>(smallest))),
                                    at::rsub(at::abs(above), std::abs(static_cast<double>(largest))));
  at::Tensor zero = at::where(isBelowNearer, at::rsub(below, static_cast<double>(smallest)),
                              at::rsub(above, static_cast<double>(largest)));
  if (isSymmetric)
    zero = at::where(at::logical_and(at::lt(low, 0), at::gt(high, 0)),
                     static_cast<double>(smallest + largest) / 2, zero);
  return {scale, at::round(at::clamp(zero, smallest, largest))};
}

/// `value` in the dtype of `old` where `isOn`, else `old`, which may still be one for all channels.
at::Tensor replaced(const at::Tensor &old, const at::Tensor &value, const at::Tensor &isOn) {
  at::Tensor now = value.to(old.scalar_type());
  if (old.numel() == now.numel())
    now = at::view_copy(now, old.sizes());
  return old.numel() == 0 ? now : at::where(isOn, now, old);
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
_fused_moving_avg_obs_fq_helper_functional(const at::Tensor &self, const at::Tensor &observerOn,
                                           const at::Tensor &fakeQuantOn, const at::Tensor &runningMin,
                                           const at::Tensor &runningMax, const at::Tensor &scale,
                                           const at::Tensor &zeroPoint, double averaging, int64_t smallest,
                                           int64_t largest, int64_t axis, bool isPerRow, bool isSymmetric) {
  TORCH_LAZY_COUNTER("xla::_fused_moving_avg_obs_fq_helper", 1);
  TORCH_CHECK(axis < self.dim(),
              "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()");
  TORCH_CHECK(!isPerRow || axis == 0,
              "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0");
  at::Tensor isObserved = at::ne(at::view_copy(observerOn, at::IntArrayRef()), 0);
  at::Tensor isQuantized = at::ne(at::view_copy(fakeQuantOn, at::IntArrayRef()), 0);
  at::Tensor rows = at::view_copy(self, {isPerRow ? self.size(0) : 1, -1});
  at::Tensor low = movedAverage(runningMin, at::amin(rows, 1), isObserved, averaging);
  at::Tensor high = movedAverage(runningMax, at::amax(rows, 1), isObserved, averaging);
  Parameters made = chosen(low, high, smallest, largest, isSymmetric);
  at::Tensor newScale = replaced(scale, made.scale, isQuantized);
  at::Tensor newZero = replaced(zeroPoint, made.zeroPoint, isQuantized);
  if (!isPerRow) {
    auto [result, mask] = at::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self, newScale, newZero, at::view_copy(fakeQuantOn, {1}), smallest, largest);
    return {result, mask, low, high, newScale, newZero};
  }
  auto [result, mask] =
      at::fake_quantize_per_channel_affine_cachemask(self, newScale, newZero, 0, smallest, largest);
  at::Tensor isKept = at::where(isQuantized, mask, at::full({}, true, mask.options()));
  return {at::where(isQuantized, result, self), isKept, low, high, newScale, newZero};
}

} // namespace torchere::lazy
