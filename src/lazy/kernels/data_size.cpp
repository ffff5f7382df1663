// Ops whose results have a size that depends on elements. The size alone is computed and read ("SizeRead");
// the result is then an op of a known size.
#include "lazy/kernels/data_size.h"

#include "lazy/index_range.h"
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/any.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/expand_copy.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/nonzero_static.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/slice_copy.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/transpose_copy.h>
#include <ATen/ops/view_copy.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/lazy/core/metrics.h>

namespace torchere::lazy {

// Kernels hold tensors without functionalization's wrappers, so that views are asked for as copies; the
// program has them as views.

/// Computes what is pending, and reads one integer.
static int64_t readSize(const at::Tensor &size) {
  TORCH_LAZY_COUNTER("SizeRead", 1);
  return size.item<int64_t>();
}

static at::Tensor flat(const at::Tensor &tensor) {
  return at::view_copy(tensor, {tensor.numel()});
}

at::Tensor positionsOf(const at::Tensor &mask) {
  at::Tensor holds = mask.scalar_type() == at::kBool ? mask : at::ne(mask, 0);
  int64_t count = holds.numel() == 0 ? 0 : readSize(at::sum(holds, at::kLong));
  if (count == 0 || mask.dim() == 0)
    return at::zeros({count, mask.dim()}, at::TensorOptions().dtype(at::kLong).device(mask.device()));
  return at::nonzero_static(holds, count);
}

at::Tensor nonzero(const at::Tensor &self) {
  TORCH_LAZY_COUNTER("xla::nonzero", 1);
  return positionsOf(self);
}

at::Tensor masked_select(const at::Tensor &self, const at::Tensor &mask) {
  TORCH_LAZY_COUNTER("xla::masked_select", 1);
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask, but got ",
              mask.scalar_type());
  std::vector<int64_t> sizes = at::infer_size(self.sizes(), mask.sizes());
  if (c10::multiply_integers(sizes) == 0)
    return at::zeros({0}, self.options());
  at::Tensor places = positionsOf(flat(at::expand_copy(mask, sizes)));
  return at::index_select(flat(at::expand_copy(self, sizes)), 0, flat(places));
}

namespace {

/// Of a list of `count` elements, where runs of equal ones begin.
struct Runs {
  at::Tensor starts; ///< the positions
  at::Tensor number; ///< of each element, the number of its run
};

Runs runsOf(const at::Tensor &isOther, int64_t count) {
  at::TensorOptions options = isOther.options();
  at::Tensor begins = at::cat({at::ones({std::min<int64_t>(count, 1)}, options), isOther});
  return {flat(positionsOf(begins)), at::sub(at::cumsum(begins, 0, at::kLong), 1)};
}

at::Tensor lengths(const at::Tensor &starts, int64_t count) {
  if (starts.numel() == 0)
    return starts;
  at::Tensor end = at::scalar_tensor(count, starts.options());
  at::Tensor ends = at::cat({at::slice_copy(starts, 0, 1), at::view_copy(end, {1})});
  return at::sub(ends, starts);
}

at::Tensor nothing(const at::Tensor &like) {
  return at::zeros({0}, at::TensorOptions().dtype(at::kLong).device(like.device()));
}

/// Whether each row but the first differs from the one before.
at::Tensor differsFromLast(const at::Tensor &rows) {
  at::Tensor isOther = at::ne(at::slice_copy(rows, 0, 1), at::slice_copy(rows, 0, 0, -1));
  return isOther.dim() == 1 ? isOther : at::any(isOther, 1);
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> _unique2(const at::Tensor &self, bool /*sorted*/,
                                                        bool wantsInverse, bool wantsCounts) {
  TORCH_LAZY_COUNTER("xla::_unique2", 1);
  int64_t count = self.numel();
  if (count == 0)
    return {at::zeros({0}, self.options()),
            at::zeros(wantsInverse ? self.sizes() : at::IntArrayRef{0}, self.options().dtype(at::kLong)),
            nothing(self)};
  auto [values, order] = at::sort(flat(self), /*stable=*/true, 0, /*descending=*/false);
  Runs runs = runsOf(differsFromLast(values), count);
  at::Tensor inverse = nothing(self), counts = nothing(self);
  if (wantsInverse)
    inverse = at::view_copy(at::scatter(runs.number, 0, order, runs.number), self.sizes());
  if (wantsCounts)
    counts = lengths(runs.starts, count);
  return {at::index_select(values, 0, runs.starts), inverse, counts};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
unique_consecutive(const at::Tensor &self, bool wantsInverse, bool wantsCounts, std::optional<int64_t> dim) {
  TORCH_LAZY_COUNTER("xla::unique_consecutive", 1);
  int64_t axis = dim ? c10::maybe_wrap_dim(*dim, self.dim()) : 0;
  at::Tensor value = dim ? self : flat(self);
  int64_t count = value.dim() == 0 ? 1 : value.size(axis);
  at::Tensor rows = value;
  if (value.dim() != 1)
    rows = at::view_copy(at::transpose_copy(value, 0, axis), {count, count == 0 ? 0 : value.numel() / count});
  Runs runs = runsOf(differsFromLast(rows), count);
  at::Tensor inverse = nothing(self), counts = nothing(self);
  if (wantsInverse)
    inverse = dim ? runs.number : at::view_copy(runs.number, self.sizes());
  if (wantsCounts)
    counts = lengths(runs.starts, count);
  return {at::index_select(value, axis, runs.starts), inverse, counts};
}

at::Tensor bincount(const at::Tensor &self, const std::optional<at::Tensor> &weights, int64_t minlength) {
  TORCH_LAZY_COUNTER("xla::bincount", 1);
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), /*includeBool=*/false),
              "bincount only supports 1-d non-negative integral inputs.");
  bool isWeighted = weights && weights->defined();
  TORCH_CHECK(!isWeighted || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  at::TensorOptions options = at::TensorOptions().device(self.device());
  if (self.numel() == 0)
    return at::zeros({minlength}, options.dtype(at::kLong));
  at::Tensor largest = at::max(self), smallest = at::min(self);
  int64_t size = std::max(readSize(largest) + 1, minlength);
  TORCH_CHECK(readSize(smallest) >= 0, "bincount only supports 1-d non-negative integral inputs.");
  at::ScalarType dtype = !isWeighted                            ? at::kLong
                         : weights->scalar_type() == at::kFloat ? at::kFloat
                                                                : at::kDouble;
  at::Tensor added = isWeighted ? weights->to(dtype) : at::ones({self.numel()}, options.dtype(dtype));
  return at::scatter_add(at::zeros({size}, options.dtype(dtype)), 0, self.to(at::kLong), added);
}

at::Tensor repeat_interleave_Tensor(const at::Tensor &repeats, std::optional<int64_t> outputSize) {
  TORCH_LAZY_COUNTER("xla::repeat_interleave", 1);
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0)
    return at::zeros({0}, repeats.options());
  at::Tensor ends = at::cumsum(repeats, 0, at::kLong), smallest = at::min(repeats);
  if (outputSize)
    checkRepeats(repeats, *outputSize);
  int64_t size = outputSize ? *outputSize : readSize(at::sum(repeats, at::kLong));
  TORCH_CHECK(outputSize || readSize(smallest) >= 0, "repeats can not be negative");
  at::Tensor places = at::arange(size, at::TensorOptions().dtype(at::kLong).device(repeats.device()));
  return at::searchsorted(ends, places, /*out_int32=*/false, /*right=*/true).to(repeats.scalar_type());
}

} // namespace torchere::lazy
