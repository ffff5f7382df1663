// Sequences of several lengths, one time step after the other. torch's own kernel takes views within; and how
// many sequences there are at each step is a tensor of the host.
#include "lazy/in_front.h"
#include "lazy/native_functions.h"

#include <ATen/Operators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/transpose_copy.h>
#include <ATen/ops/view_copy.h>
#include <torch/library.h>

#include <algorithm>

namespace torchere::lazy {

static void checkLengths(const at::Tensor &input, const at::Tensor &lengths, int64_t count) {
  TORCH_CHECK(lengths.dim() == 1 && lengths.is_cpu() && lengths.scalar_type() == at::kLong,
              "'lengths' argument should be a 1D CPU int64 tensor, but got ", lengths.dim(), "D ",
              lengths.device().str(), " ", lengths.scalar_type(), " tensor");
  TORCH_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  TORCH_CHECK(lengths.numel() == count, "Expected `len(lengths)` to be equal to batch_size, but got ",
              lengths.numel(), " (batch_size=", count, ")");
  const int64_t *first = lengths.const_data_ptr<int64_t>(), *last = first + count;
  TORCH_CHECK(last[-1] > 0,
              "Length of all samples has to be greater than 0, but found an element in 'lengths' "
              "that is <= 0");
  TORCH_CHECK(
      std::is_sorted(first, last, std::greater<>()),
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
      "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement "
      "if you do not need ONNX exportability.");
}

std::tuple<at::Tensor, at::Tensor> _pack_padded_sequence(const at::Tensor &given, const at::Tensor &lengths,
                                                         bool isBatchFirst) {
  at::Tensor input = unwrapped(given);
  TORCH_CHECK(input.dim() >= 2, "[aten._pack_padded_sequence.default] too few dimensions: got ", input.dim(),
              ", expected at least 2");
  if (isBatchFirst)
    input = at::transpose_copy(input, 0, 1);
  int64_t count = input.size(1);
  at::Tensor host = lengths.contiguous();
  checkLengths(input, host, count);
  const int64_t *length = host.const_data_ptr<int64_t>();
  TORCH_CHECK(length[0] <= input.size(0), "Expected sequence length to be larger than ", length[0],
              ", but got ", input.size(0));
  std::vector<int64_t> rows;
  at::Tensor steps = at::empty({length[0]}, at::kLong);
  for (int64_t step = 0; step < length[0]; ++step) {
    int64_t living = std::count_if(length, length + count, [&](int64_t each) { return each > step; });
    steps.mutable_data_ptr<int64_t>()[step] = living;
    for (int64_t sequence = 0; sequence < living; ++sequence)
      rows.push_back(step * count + sequence);
  }
  std::vector<int64_t> sizes = input.sizes().slice(1).vec();
  sizes[0] = input.size(0) * count;
  at::Tensor chosen = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
  std::ranges::copy(rows, chosen.mutable_data_ptr<int64_t>());
  at::Tensor index = tensorOf(Device::of(given.device()).upload(chosen));
  at::Tensor packed = at::_ops::index_select::redispatch(c10::DispatchKeySet(c10::DispatchKey::XLA),
                                                         at::view_copy(input, sizes), 0, index);
  return {wrapped(packed), steps};
}

// Functionalization would wrap the host's tensor too, which recurrent layers read.
TORCH_LIBRARY_IMPL(aten, AutogradXLA, library) {
  library.impl("_pack_padded_sequence", TORCH_FN((AutogradKernel<at::_ops::_pack_padded_sequence>::call)));
}

} // namespace torchere::lazy
