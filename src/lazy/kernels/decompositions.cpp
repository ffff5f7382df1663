// Kernels made of other ops, where torch's own would write past functionalization or need a view's memory.
#include "lazy/native_functions.h"

#include <ATen/ops/_native_batch_norm_legit.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linalg_matrix_rank.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/polygamma.h>
#include <ATen/ops/unsqueeze_copy.h>

namespace torchere::lazy {

/// The values in the user's tensor, resized as for any out=.
static at::Tensor &written(at::Tensor &out, const at::Tensor &result) {
  if (out.sizes() != result.sizes())
    out.resize_(result.sizes());
  return out.copy_(result);
}

// torch's out= variants of the rank give its result to a variable of their own where tensors are wrapped.

at::Tensor &linalg_matrix_rank_atol_rtol_tensor_out(const at::Tensor &input,
                                                    const std::optional<at::Tensor> &atol,
                                                    const std::optional<at::Tensor> &rtol, bool hermitian,
                                                    at::Tensor &out) {
  return written(out, at::linalg_matrix_rank(input, atol, rtol, hermitian));
}

at::Tensor &linalg_matrix_rank_atol_rtol_float_out(const at::Tensor &self, std::optional<double> atol,
                                                   std::optional<double> rtol, bool hermitian,
                                                   at::Tensor &out) {
  return written(out, at::linalg_matrix_rank(self, atol, rtol, hermitian));
}

at::Tensor &linalg_matrix_rank_out(const at::Tensor &self, double tolerance, bool hermitian,
                                   at::Tensor &out) {
  return written(out, at::linalg_matrix_rank(self, tolerance, hermitian));
}

at::Tensor &linalg_matrix_rank_out_tol_tensor(const at::Tensor &input, const at::Tensor &tolerance,
                                              bool hermitian, at::Tensor &out) {
  return written(out, at::linalg_matrix_rank(input, tolerance, hermitian));
}

// torch's functionalization returns what this one writes in another order.
std::tuple<at::Tensor &, at::Tensor &, at::Tensor &>
_native_batch_norm_legit_out(const at::Tensor &input, const std::optional<at::Tensor> &weight,
                             const std::optional<at::Tensor> &bias, at::Tensor &runningMean,
                             at::Tensor &runningVariance, bool training, double momentum, double epsilon,
                             at::Tensor &out, at::Tensor &savedMean, at::Tensor &savedDeviation) {
  auto [output, mean, deviation] = at::_native_batch_norm_legit(input, weight, bias, runningMean,
                                                                runningVariance, training, momentum, epsilon);
  return {written(out, output), written(savedMean, mean), written(savedDeviation, deviation)};
}

// torch's functionalization has no kernel for this one.
at::Tensor &polygamma_(at::Tensor &self, int64_t n) {
  return self.copy_(at::polygamma(n, self));
}

at::Tensor addr(const at::Tensor &self, const at::Tensor &first, const at::Tensor &second,
                const at::Scalar &beta, const at::Scalar &alpha) {
  TORCH_CHECK(first.dim() == 1 && second.dim() == 1, "addr: Expected 1-D argument vec1 and vec2, but got ",
              first.dim(), "-D and ", second.dim(), "-D");
  at::Tensor product = at::mul(at::mul(at::unsqueeze_copy(first, 1), second), alpha);
  return beta.equal(0) ? product : at::add(at::mul(self, beta), product);
}

} // namespace torchere::lazy
