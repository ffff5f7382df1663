// Random ops whose kernels are not generated.
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/native_dropout_ops.h>
#include <torch/csrc/lazy/core/metrics.h>

#include <limits>

namespace torchere::lazy {

/// One op of the device for what torch would make of several; also for autograd, which sees native_dropout.
at::Tensor dropout(const at::Tensor &input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "[aten.dropout.default] p is no probability: got ", p, ", expected 0 to 1");
  if (!train || p == 0)
    return input;
  return std::get<0>(at::_ops::native_dropout::call(input, p, train));
}

/// The end of the range of random_(from), without one: the first integer that the dtype does not hold, of
/// floats that they do not hold exactly. Of int64 it wraps, as the op's arithmetic does.
static int64_t endOf(at::ScalarType dtype) {
  switch (dtype) {
  case at::kBool:
    return 2;
  case at::kLong:
    return std::numeric_limits<int64_t>::min();
  case at::kInt:
    return int64_t{1} << 31;
  case at::kShort:
    return int64_t{1} << 15;
  case at::kChar:
    return int64_t{1} << 7;
  case at::kByte:
    return int64_t{1} << 8;
  case at::kDouble:
    return (int64_t{1} << 53) + 1;
  case at::kHalf:
    return (int64_t{1} << 11) + 1;
  case at::kBFloat16:
    return (int64_t{1} << 8) + 1;
  default:
    return (int64_t{1} << 24) + 1;
  }
}

/// As randint, whose result has the shape and dtype of `self`.
at::Tensor random_from(const at::Tensor &self, int64_t from, std::optional<int64_t> to,
                       std::optional<at::Generator> generator) {
  TORCH_LAZY_COUNTER("xla::random", 1);
  static constexpr Op randint = {
      "aten.randint.low_generator",
      "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, "
      "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"};
  TORCH_CHECK(!to || from < *to, "random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to.value_or(0));
  Recorder recorder(randint, Device::of(self.device()));
  recorder.add(from);
  recorder.add(to.value_or(endOf(self.scalar_type())));
  recorder.add(self.sizes());
  recorder.add(generator);
  recorder.add(self.scalar_type());
  return recorder.tensor([&] { return onMeta(self); });
}

} // namespace torchere::lazy
