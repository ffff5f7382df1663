// Ops that torch makes of others on every device but this kind, or of views and writes that its own kernels
// do not show to functionalization.
#include "lazy/in_front.h"
#include "lazy/native_functions.h"
#include "lazy/recorder.h"
#include "lazy/view.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/diagonal_scatter.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/select_scatter.h>
#include <ATen/ops/slice_copy.h>
#include <ATen/ops/slice_scatter.h>
#include <ATen/ops/split_copy.h>
#include <ATen/ops/split_with_sizes_copy.h>
#include <ATen/ops/view_copy.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace torchere::lazy {

at::Tensor select_backward(const at::Tensor &gradient, at::IntArrayRef sizes, int64_t dim, int64_t index) {
  return at::select_scatter(at::zeros(sizes, gradient.options()), gradient, dim, index);
}

at::Tensor slice_backward(const at::Tensor &gradient, at::IntArrayRef sizes, int64_t dim, int64_t start,
                          int64_t end, int64_t step) {
  return at::slice_scatter(at::zeros(sizes, gradient.options()), gradient, dim, start, end, step);
}

at::Tensor diagonal_backward(const at::Tensor &gradient, at::IntArrayRef sizes, int64_t offset, int64_t first,
                             int64_t second) {
  return at::diagonal_scatter(at::zeros(sizes, gradient.options()), gradient, offset, first, second);
}

at::Tensor new_empty_strided(const at::Tensor &self, at::IntArrayRef size, at::IntArrayRef stride,
                             std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                             std::optional<at::Device> device, std::optional<bool> pinMemory) {
  at::Device target = device.value_or(self.device());
  if (target.is_xla())
    return lazy::empty_strided(size, stride, dtype.value_or(self.scalar_type()), layout, target, pinMemory);
  return at::empty(size, at::TensorOptions().dtype(dtype.value_or(self.scalar_type())).device(target));
}

/// The parts share the memory of what is split, which autograd alone does not know. Where functionalization
/// does not see it either, nobody can write to them.
std::vector<at::Tensor> unsafe_split_Tensor(const at::Tensor &self, int64_t size, int64_t dim) {
  const at::Tensor *base = shownValue(self);
  return base ? partsOf(self, *base, at::split_copy(*base, size, dim), dim) : at::split_copy(self, size, dim);
}

std::vector<at::Tensor> unsafe_split_with_sizes(const at::Tensor &self, at::IntArrayRef sizes, int64_t dim) {
  const at::Tensor *base = shownValue(self);
  return base ? partsOf(self, *base, at::split_with_sizes_copy(*base, sizes, dim), dim)
              : at::split_with_sizes_copy(self, sizes, dim);
}

/// More elements than before are zeros.
at::Tensor resize(const at::Tensor &self, at::IntArrayRef size, std::optional<at::MemoryFormat> /*format*/) {
  int64_t had = self.numel(), has = c10::multiply_integers(size);
  at::Tensor flat = at::view_copy(self, {had});
  if (has < had)
    flat = at::slice_copy(flat, 0, 0, has);
  else if (has > had)
    flat = at::cat({flat, at::zeros({has - had}, self.options())});
  return at::view_copy(flat, size);
}

at::Tensor set(const at::Tensor &self) {
  return at::zeros({0}, self.options());
}

/// Forward derivatives ask whether a tangent can stand beside a value. Neither has memory.
bool _has_same_storage_numel(const at::Tensor &self, const at::Tensor &other) {
  return self.numel() == other.numel();
}

// torch's own kernels of these take views and write to them, which functionalization is to see.
TORCH_LIBRARY_IMPL(aten, XLA, library) {
  for (const char *name : {"_chunk_cat", "affine_grid_generator", "block_diag", "conv_tbc", "mvlgamma"})
    library.impl(
        name, torch::CppFunction::makeFromBoxedFunction<&at::functionalization::functionalize_op_helper>());
}

} // namespace torchere::lazy
