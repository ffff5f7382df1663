// Losses, products of vectors and interpolation whose calls have no row in the op table, as ops that have
// one. Half precision is computed in float32 and rounded once, as on the CPU.
#include "lazy/half_precision.h"
#include "lazy/in_front.h"
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/TensorUtils.h>
#include <ATen/core/Reduction.h>
#include <ATen/native/UpSample.h>
#include <ATen/ops/_conj_physical.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/le.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/upsample_bicubic2d_ops.h>
#include <ATen/ops/upsample_bilinear2d_ops.h>
#include <ATen/ops/view_copy.h>
#include <ATen/ops/where.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <limits>

namespace torchere::lazy {

static void checkVectors(const char *name, const at::Tensor &self, const at::Tensor &other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ",
              other.dim(), "D tensors");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), name,
              " : expected both vectors to have same dtype, but found ", self.scalar_type(), " and ",
              other.scalar_type());
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected tensor [", self.numel(),
              "] and src [", other.numel(), "] to have the same number of elements, but got ", self.numel(),
              " and ", other.numel(), " elements respectively");
}

static at::Tensor productOf(const at::Tensor &row, const at::Tensor &column) {
  at::Tensor product = at::mm(at::view_copy(row, {1, row.numel()}), at::view_copy(column, {row.numel(), 1}));
  return at::view_copy(product, at::IntArrayRef());
}

at::Tensor dot(const at::Tensor &self, const at::Tensor &other) {
  TORCH_LAZY_COUNTER("xla::dot", 1);
  checkVectors("dot", self, other);
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != at::kBool, "\"dot\" not implemented for 'Bool'");
  return productOf(self, other);
}

at::Tensor vdot(const at::Tensor &self, const at::Tensor &other) {
  TORCH_LAZY_COUNTER("xla::vdot", 1);
  checkVectors("vdot", self, other);
  TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != at::kBool, "\"dot\" not implemented for 'Bool'");
  return productOf(self.is_complex() ? at::_conj_physical(self) : self, other);
}

/// x * log(y), which is 0 where x is, and NaN where y is.
static at::Tensor timesLog(const at::Tensor &x, const at::Tensor &y, const at::Tensor &logarithm) {
  at::Tensor product = at::mul(x, logarithm);
  at::Tensor value = at::where(at::eq(x, 0), 0, product);
  at::ScalarType dtype = at::isIntegralType(at::result_type(x, y), /*includeBool=*/true)
                             ? product.scalar_type()
                             : at::result_type(x, y);
  return at::where(at::isnan(y), std::numeric_limits<double>::quiet_NaN(), value).to(dtype);
}

at::Tensor xlogy_Tensor(const at::Tensor &self, const at::Tensor &other) {
  TORCH_LAZY_COUNTER("xla::xlogy", 1);
  return timesLog(self, other, at::log(widened(other)));
}

at::Tensor special_xlog1py(const at::Tensor &self, const at::Tensor &other) {
  TORCH_LAZY_COUNTER("xla::special_xlog1py", 1);
  return timesLog(self, other, at::log1p(widened(other)));
}

static at::Tensor reduced(const at::Tensor &loss, int64_t reduction, at::ScalarType dtype) {
  if (reduction == at::Reduction::None)
    return loss.to(dtype);
  return (reduction == at::Reduction::Mean ? at::mean(loss) : at::sum(loss)).to(dtype);
}

at::Tensor smooth_l1_loss(const at::Tensor &self, const at::Tensor &target, int64_t reduction, double beta) {
  TORCH_LAZY_COUNTER("xla::smooth_l1_loss", 1);
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  at::Tensor distance = at::abs(at::sub(widened(self), widened(target)));
  at::Tensor loss = distance;
  if (beta > 0)
    loss = at::where(at::lt(distance, beta), at::div(at::mul(at::square(distance), 0.5), beta),
                     at::sub(distance, 0.5 * beta));
  return reduced(loss, reduction, at::result_type(self, target));
}

at::Tensor huber_loss(const at::Tensor &self, const at::Tensor &target, int64_t reduction, double delta) {
  TORCH_LAZY_COUNTER("xla::huber_loss", 1);
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  at::Tensor distance = at::abs(at::sub(widened(self), widened(target)));
  at::Tensor loss = at::where(at::lt(distance, delta), at::mul(at::square(distance), 0.5),
                              at::mul(at::sub(distance, 0.5 * delta), delta));
  return reduced(loss, reduction, at::result_type(self, target));
}

/// The gradient of a loss that is linear from `bound` on, where it is `outer`; within it is `x * inner`.
static at::Tensor gradientOf(const at::Tensor &gradient, const at::Tensor &self, const at::Tensor &target,
                             int64_t reduction, double bound, double outer, double inner) {
  at::Tensor x = at::sub(widened(self), widened(target)), given = widened(gradient);
  if (reduction == at::Reduction::Mean)
    given = at::div(given, static_cast<double>(x.numel()));
  at::Tensor above = at::mul(given, outer);
  at::Tensor within = at::mul(at::mul(given, inner), x);
  at::Tensor upper = at::where(at::ge(x, bound), above, within);
  return at::where(at::le(x, -bound), at::neg(above), upper).to(at::result_type(self, target));
}

at::Tensor smooth_l1_loss_backward(const at::Tensor &gradient, const at::Tensor &self,
                                   const at::Tensor &target, int64_t reduction, double beta) {
  TORCH_LAZY_COUNTER("xla::smooth_l1_loss_backward", 1);
  return gradientOf(gradient, self, target, reduction, beta, 1, beta == 0 ? 0 : 1 / beta);
}

at::Tensor huber_loss_backward(const at::Tensor &gradient, const at::Tensor &self, const at::Tensor &target,
                               int64_t reduction, double delta) {
  TORCH_LAZY_COUNTER("xla::huber_loss_backward", 1);
  return gradientOf(gradient, self, target, reduction, delta, delta, 1);
}

/// Records the overload of interpolation that the op table has a row for: it takes the size of the result, or
/// scales that give it. Undefined where the scales give another size, and of integers.
static at::Tensor upsampled(const Op &op, const at::Tensor &self, at::IntArrayRef size, bool alignCorners,
                            std::optional<double> height, std::optional<double> width) {
  std::array<int64_t, 4> sizes = at::native::upsample_2d_common_check(self.sizes(), size);
  if (height.has_value() != width.has_value() || !self.is_floating_point())
    return at::Tensor();
  std::optional<at::IntArrayRef> given = size;
  std::optional<at::ArrayRef<double>> scales;
  double factors[] = {height.value_or(1), width.value_or(1)};
  if (height) {
    for (size_t i = 0; i < 2; ++i)
      if (static_cast<int64_t>(static_cast<double>(self.sizes()[i + 2]) * factors[i]) != size[i])
        return at::Tensor();
    given = std::nullopt;
    scales = factors;
  }
  Recorder recorder(op);
  recorder.add(self);
  recorder.add(given);
  recorder.add(alignCorners);
  recorder.add(scales);
  return recorder.tensor([&] { return onMeta(self).new_empty(sizes); });
}

/// What cannot be recorded, which the counter does not count, is for the kernel that would be without this
/// one.
template <class Other>
static at::Tensor upsampledOr(const Op &op, const char *counter, const at::Tensor &self, at::IntArrayRef size,
                              bool alignCorners, std::optional<double> height, std::optional<double> width) {
  at::Tensor result = upsampled(op, self, size, alignCorners, height, width);
  if (result.defined()) {
    TORCH_LAZY_COUNTER(counter, 1); // one of each instance
    return result;
  }
  return OtherKernel<Other>::call(self.key_set(), self, c10::fromIntArrayRefSlow(size), alignCorners, height,
                                  width);
}

at::Tensor upsample_bilinear2d(const at::Tensor &self, at::IntArrayRef size, bool alignCorners,
                               std::optional<double> height, std::optional<double> width) {
  static constexpr Op op = {"aten.upsample_bilinear2d.vec",
                            "aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, "
                            "bool align_corners, float[]? scale_factors) -> Tensor"};
  return upsampledOr<at::_ops::upsample_bilinear2d>(op, "xla::upsample_bilinear2d", self, size, alignCorners,
                                                    height, width);
}

at::Tensor upsample_bicubic2d(const at::Tensor &self, at::IntArrayRef size, bool alignCorners,
                              std::optional<double> height, std::optional<double> width) {
  static constexpr Op op = {"aten.upsample_bicubic2d.vec",
                            "aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, "
                            "bool align_corners, float[]? scale_factors) -> Tensor"};
  return upsampledOr<at::_ops::upsample_bicubic2d>(op, "xla::upsample_bicubic2d", self, size, alignCorners,
                                                   height, width);
}

} // namespace torchere::lazy
