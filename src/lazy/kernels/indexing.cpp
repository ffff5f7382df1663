// Indexing by tensors. Integers are operands of one op; a mask stands for the places where it holds, whose
// number is read first.
#include "lazy/index_range.h"
#include "lazy/kernels/data_size.h"
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/index_add_meta_dispatch.h>
#include <ATen/ops/index_copy_meta_dispatch.h>
#include <ATen/ops/index_ops.h>
#include <ATen/ops/index_put_ops.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/select_copy.h>
#include <ATen/ops/view_copy.h>
#include <torch/csrc/lazy/core/metrics.h>

namespace torchere::lazy {

using Indices = c10::List<std::optional<at::Tensor>>;

static bool isMask(const at::Tensor &index) {
  return index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
}

static void checkMask(const char *op, const at::Tensor &self, const at::Tensor &mask, int64_t first) {
  for (int64_t axis = 0; axis < mask.dim(); ++axis)
    TORCH_CHECK_INDEX(first + axis < self.dim() && mask.size(axis) == self.size(first + axis), "[", op,
                      "] the shape of a mask does not match: got ", mask.sizes(), " at dimension ", first,
                      ", expected the sizes of ", self.sizes());
}

/// On the device; an index may be given on the host.
static at::Tensor placed(const at::Tensor &index, const at::Tensor &self) {
  if (implementationOf(index))
    return index;
  TORCH_CHECK(index.device().is_cpu(), "indices should be either on ", self.device(),
              " or on the cpu, got one on ", index.device());
  return tensorOf(Device::of(self.device()).upload(index));
}

/// The indices with integers for masks.
static Indices integersOf(const char *op, const at::Tensor &self, const Indices &indices) {
  Indices integers;
  int64_t dimensions = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    std::optional<at::Tensor> given = indices.get(i);
    if (!given || !given->defined()) {
      integers.push_back(std::nullopt);
      ++dimensions;
      continue;
    }
    at::Tensor index = placed(*given, self);
    if (!isMask(index)) {
      TORCH_CHECK_INDEX(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
                        "tensors used as indices must be long, int, byte or bool tensors");
      if (dimensions < self.dim())
        checkPositions(op, index, self, dimensions);
      integers.push_back(index);
      ++dimensions;
      continue;
    }
    checkMask(op, self, index, dimensions);
    at::Tensor places = positionsOf(index);
    for (int64_t axis = 0; axis < index.dim(); ++axis)
      integers.push_back(at::select_copy(places, 1, axis));
    dimensions += index.dim();
  }
  return integers;
}

at::Tensor index_Tensor(const at::Tensor &self, const Indices &indices) {
  TORCH_LAZY_COUNTER("xla::index", 1);
  static constexpr Op op = {"aten.index.Tensor",
                            "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"};
  Indices integers = integersOf(op.name, self, indices);
  Recorder recorder(op);
  recorder.add(self);
  recorder.add(integers);
  return recorder.tensor([&] { return at::_ops::index_Tensor::call(onMeta(self), onMeta(integers)); });
}

/// The mask of an assignment of one value, shaped to broadcast over `self`; undefined where it is another
/// one.
static at::Tensor onlyMask(const char *op, const at::Tensor &self, const Indices &indices) {
  at::Tensor mask;
  int64_t first = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    std::optional<at::Tensor> given = indices.get(i);
    if (!given || !given->defined()) {
      first += mask.defined() ? 0 : 1;
      continue;
    }
    if (mask.defined() || !isMask(*given))
      return {};
    mask = placed(*given, self);
  }
  if (!mask.defined())
    return {};
  checkMask(op, self, mask, first);
  std::vector<int64_t> sizes = mask.sizes().vec();
  sizes.resize(static_cast<size_t>(self.dim() - first), 1);
  at::Tensor holds = mask.scalar_type() == at::kBool ? mask : mask.to(at::kBool);
  return at::view_copy(holds, sizes);
}

at::Tensor index_put(const at::Tensor &self, const Indices &indices, const at::Tensor &values,
                     bool accumulate) {
  TORCH_LAZY_COUNTER("xla::index_put", 1);
  static constexpr Op op = {
      "aten.index_put.default",
      "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"};
  TORCH_CHECK_INDEX(self.scalar_type() == values.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
                    " for the destination and ", values.scalar_type(), " for the source.");
  at::Tensor given = implementationOf(values) ? values : placed(values, self);
  if (values.numel() == 1 && !accumulate)
    if (at::Tensor mask = onlyMask(op.name, self, indices); mask.defined())
      return at::masked_fill(self, mask, at::view_copy(given, at::IntArrayRef()));
  Indices integers = integersOf(op.name, self, indices);
  Recorder recorder(op);
  recorder.add(self);
  recorder.add(integers);
  recorder.add(given);
  recorder.add(accumulate);
  return recorder.tensor(
      [&] { return at::_ops::index_put::call(onMeta(self), onMeta(integers), onMeta(given), accumulate); });
}

/// self with the source's slices put, or added, where the index says.
static at::Tensor withSlices(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                             const at::Tensor &source, bool accumulate) {
  if (self.dim() == 0) {
    at::Tensor row = withSlices(at::view_copy(self, {1}), 0, index, at::view_copy(source, {1}), accumulate);
    return at::view_copy(row, at::IntArrayRef());
  }
  Indices indices;
  for (int64_t axis = at::maybe_wrap_dim(dim, self.dim()); axis > 0; --axis)
    indices.push_back(std::nullopt);
  indices.push_back(index.dim() == 1 ? index : at::view_copy(index, {1}));
  return lazy::index_put(self, indices, source, accumulate);
}

at::Tensor index_add(const at::Tensor &self, int64_t dim, const at::Tensor &index, const at::Tensor &source,
                     const at::Scalar &alpha) {
  {
    ShapeGuard guard; // torch checks the shapes
    at::meta::index_add(onMeta(self), dim, onMeta(index), onMeta(source), alpha);
  }
  return withSlices(self, dim, index, alpha.equal(1) ? source : at::mul(source, alpha), true);
}

at::Tensor index_copy(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                      const at::Tensor &source) {
  {
    ShapeGuard guard;
    at::meta::index_copy(onMeta(self), dim, onMeta(index), onMeta(source));
  }
  return withSlices(self, dim, index, source, false);
}

/// `unsafe` leaves out the check of indices.
at::Tensor _index_put_impl(const at::Tensor &self, const Indices &indices, const at::Tensor &values,
                           bool accumulate, bool /*unsafe*/) {
  return lazy::index_put(self, indices, values, accumulate);
}

} // namespace torchere::lazy
