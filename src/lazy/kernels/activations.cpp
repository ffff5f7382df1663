// Activations and their gradients that have no row in the op table, as the ops that torch.export makes of
// them. Half precision is computed in float32 and rounded once, as on the CPU.
#include "lazy/half_precision.h"
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/div.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/split_copy.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <limits>

namespace torchere::lazy {

/// Whether elements are in [-bound, bound].
static at::Tensor isWithin(const at::Tensor &tensor, const at::Scalar &bound) {
  return at::logical_and(at::ge(tensor, -bound), at::le(tensor, bound));
}

at::Tensor hardshrink(const at::Tensor &self, const at::Scalar &bound) {
  TORCH_LAZY_COUNTER("xla::hardshrink", 1);
  return at::where(isWithin(self, bound), 0, self);
}

at::Tensor hardshrink_backward(const at::Tensor &gradient, const at::Tensor &self, const at::Scalar &bound) {
  TORCH_LAZY_COUNTER("xla::hardshrink_backward", 1);
  return at::where(isWithin(self, bound), 0, gradient);
}

at::Tensor softshrink(const at::Tensor &self, const at::Scalar &bound) {
  TORCH_LAZY_COUNTER("xla::softshrink", 1);
  TORCH_CHECK(bound.toDouble() >= 0, "lambda must be greater or equal to 0, but found to be ",
              bound.toDouble(), ".");
  at::Tensor x = widened(self);
  at::Tensor inner = at::where(at::lt(x, -bound), at::add(x, bound), at::mul(x, 0)); // NaN stays NaN
  return at::where(at::gt(x, bound), at::sub(x, bound), inner).to(self.scalar_type());
}

at::Tensor softshrink_backward(const at::Tensor &gradient, const at::Tensor &self, const at::Scalar &bound) {
  TORCH_LAZY_COUNTER("xla::softshrink_backward", 1);
  return at::where(isWithin(self, bound), 0, gradient);
}

at::Tensor threshold(const at::Tensor &self, const at::Scalar &bound, const at::Scalar &value) {
  TORCH_LAZY_COUNTER("xla::threshold", 1);
  return at::where(at::le(self, bound), value, self).to(self.scalar_type());
}

at::Tensor hardsigmoid_backward(const at::Tensor &gradient, const at::Tensor &self) {
  TORCH_LAZY_COUNTER("xla::hardsigmoid_backward", 1);
  at::Tensor isInside = at::logical_and(at::gt(self, -3), at::lt(self, 3));
  return at::where(isInside, at::mul(widened(gradient), 1.0 / 6), 0).to(gradient.scalar_type());
}

at::Tensor hardswish_backward(const at::Tensor &gradient, const at::Tensor &self) {
  TORCH_LAZY_COUNTER("xla::hardswish_backward", 1);
  at::Tensor x = widened(self), given = widened(gradient);
  at::Tensor inside = at::mul(given, at::add(at::div(x, 3), 0.5));
  at::Tensor outside = at::where(at::le(x, -3), 0, given);
  at::Tensor isInside = at::logical_and(at::gt(x, -3), at::lt(x, 3));
  return at::where(isInside, inside, outside).to(gradient.scalar_type());
}

at::Tensor elu_backward(const at::Tensor &gradient, const at::Scalar &alpha, const at::Scalar &scale,
                        const at::Scalar &inputScale, bool isResult, const at::Tensor &selfOrResult) {
  TORCH_LAZY_COUNTER("xla::elu_backward", 1);
  TORCH_CHECK(!isResult || alpha.toDouble() >= 0,
              "In-place elu backward calculation is triggered with a negative slope which is not supported. "
              "This is caused by calling in-place forward function with a negative slope, "
              "please call out-of-place version instead.");
  at::Tensor x = widened(selfOrResult), given = widened(gradient);
  double negative = alpha.toDouble() * scale.toDouble();
  at::Tensor slope = isResult ? at::add(x, negative) : at::mul(at::exp(at::mul(x, inputScale)), negative);
  at::Tensor below = at::mul(at::mul(given, inputScale), slope);
  return at::where(at::le(x, 0), below, at::mul(given, scale)).to(gradient.scalar_type());
}

at::Tensor softplus_backward(const at::Tensor &gradient, const at::Tensor &self, const at::Scalar &beta,
                             const at::Scalar &bound) {
  TORCH_LAZY_COUNTER("xla::softplus_backward", 1);
  at::Tensor scaled = at::mul(widened(self), beta), given = widened(gradient);
  at::Tensor inner = at::mul(given, at::sigmoid(scaled));
  return at::where(at::gt(scaled, bound), given, inner).to(gradient.scalar_type());
}

at::Tensor mish_backward(const at::Tensor &gradient, const at::Tensor &self) {
  TORCH_LAZY_COUNTER("xla::mish_backward", 1);
  at::Tensor x = widened(self), curve = at::tanh(at::softplus(x));
  at::Tensor steepness = at::mul(at::mul(x, at::sigmoid(x)), at::rsub(at::square(curve), 1));
  return at::mul(widened(gradient), at::add(curve, steepness)).to(gradient.scalar_type());
}

at::Tensor glu_backward(const at::Tensor &gradient, const at::Tensor &self, int64_t dim) {
  TORCH_LAZY_COUNTER("xla::glu_backward", 1);
  TORCH_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  int64_t size = self.size(dim);
  TORCH_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", dim, " is size ", size);
  std::vector<at::Tensor> halves = at::split_copy(widened(self), std::max<int64_t>(size / 2, 1), dim);
  at::Tensor gate = at::sigmoid(halves.back()), first = at::mul(widened(gradient), gate);
  at::Tensor second = at::mul(at::mul(first, at::rsub(gate, 1)), halves.front());
  return at::cat({first, second}, dim).to(gradient.scalar_type());
}

std::tuple<at::Tensor, at::Tensor> _prelu_kernel_backward(const at::Tensor &gradient, const at::Tensor &self,
                                                          const at::Tensor &weight) {
  TORCH_LAZY_COUNTER("xla::_prelu_kernel_backward", 1);
  at::Tensor isPositive = at::gt(self, 0), x = widened(self), given = widened(gradient);
  at::Tensor ofSelf = at::where(isPositive, given, at::mul(given, widened(weight)));
  at::Tensor ofWeight = at::where(isPositive, 0, at::mul(given, x));
  return {ofSelf.to(self.scalar_type()), ofWeight.to(weight.scalar_type())};
}

at::Tensor logit(const at::Tensor &self, std::optional<double> epsilon) {
  TORCH_LAZY_COUNTER("xla::logit", 1);
  at::Tensor x = widened(self);
  if (epsilon)
    x = at::clamp(x, *epsilon, 1 - *epsilon);
  at::Tensor result = at::log(at::div(x, at::rsub(x, 1)));
  return self.is_floating_point() ? result.to(self.scalar_type()) : result;
}

at::Tensor logit_backward(const at::Tensor &gradient, const at::Tensor &self, std::optional<double> epsilon) {
  TORCH_LAZY_COUNTER("xla::logit_backward", 1);
  at::Tensor x = widened(self);
  at::Tensor inner = at::div(widened(gradient), at::mul(x, at::rsub(x, 1)));
  double least = epsilon.value_or(0), outer = epsilon ? 0 : std::numeric_limits<double>::quiet_NaN();
  at::Tensor isOutside = at::logical_or(at::lt(x, least), at::gt(x, 1 - least));
  return at::where(isOutside, outer, inner).to(self.scalar_type());
}

/// The buffer is exp(-|x|), as on the CPU.
std::tuple<at::Tensor, at::Tensor> log_sigmoid_forward(const at::Tensor &self) {
  TORCH_LAZY_COUNTER("xla::log_sigmoid_forward", 1);
  at::Tensor x = widened(self), buffer = at::exp(at::neg(at::abs(x)));
  at::Tensor result = at::sub(at::clamp_max(x, 0), at::log1p(buffer));
  return {result.to(self.scalar_type()), buffer.to(self.scalar_type())};
}

at::Tensor log_sigmoid_backward(const at::Tensor &gradient, const at::Tensor &self,
                                const at::Tensor & /*buffer*/) {
  TORCH_LAZY_COUNTER("xla::log_sigmoid_backward", 1);
  return at::mul(widened(gradient), at::sigmoid(at::neg(widened(self)))).to(gradient.scalar_type());
}

} // namespace torchere::lazy
