// Batch normalization: its running statistics are written, which torch's declaration of the op does not say.
#include "lazy/native_functions.h"
#include "lazy/recorder.h"

#include <ATen/ops/_native_batch_norm_legit_no_training_ops.h>
#include <ATen/ops/_native_batch_norm_legit_ops.h>
#include <torch/csrc/lazy/core/metrics.h>

namespace torchere::lazy {

std::tuple<at::Tensor, at::Tensor, at::Tensor>
native_batch_norm(const at::Tensor &input, const std::optional<at::Tensor> &weight,
                  const std::optional<at::Tensor> &bias, const std::optional<at::Tensor> &runningMean,
                  const std::optional<at::Tensor> &runningVariance, bool training, double momentum,
                  double epsilon) {
  TORCH_LAZY_COUNTER("xla::native_batch_norm", 1);
  bool hasStatistics = runningMean && runningMean->defined();
  if (!training) {
    TORCH_CHECK(hasStatistics, "[aten.native_batch_norm.default] no running statistics: expected them where "
                               "training is False");
    return at::_ops::_native_batch_norm_legit_no_training::call(input, weight, bias, *runningMean,
                                                                *runningVariance, momentum, epsilon);
  }
  if (!hasStatistics)
    return at::_ops::_native_batch_norm_legit_no_stats::call(input, weight, bias, true, momentum, epsilon);
  auto [output, mean, deviation, newMean, newVariance] = at::_ops::_native_batch_norm_legit_functional::call(
      input, weight, bias, *runningMean, *runningVariance, true, momentum, epsilon);
  // The wrappers of functionalization hold these tensors.
  implementationOf(*runningMean)->show(implementationOf(newMean)->value());
  implementationOf(*runningVariance)->show(implementationOf(newVariance)->value());
  return {output, mean, deviation};
}

} // namespace torchere::lazy
