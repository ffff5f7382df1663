// torch.autocast("xla"): in which dtype each op computes, as PyTorch/XLA has it. Ops that it leaves alone for
// want of a lowering follow torch's own list for the CPU.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace torchere::lazy {

namespace {

using at::autocast::CastPolicy;

/// Registers an op under a policy of torch's. `Op` is one of at::_ops.
template <CastPolicy policy, class Op> void cast(torch::Library &library) {
  using Function = decltype(Op::call);
  using Wrapper = at::autocast::WrapFunction<policy, c10::DeviceType::XLA, Function, Function, &Op::call>;
  std::string name = Op::name;
  if (*Op::overload_name)
    name += std::string(".") + Op::overload_name;
  library.impl(("aten::" + name.substr(name.find("::") + 2)).c_str(), &Wrapper::type::call);
}

template <CastPolicy policy, class... Ops> void castAll(torch::Library &library) {
  (cast<policy, Ops>(library), ...);
}

void lowerPrecision(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::lower_precision_fp, linear, matmul, mm, bmm, addmm, addbmm, baddbmm, einsum, conv_tbc,
          conv1d, conv1d_padding, conv2d, conv2d_padding, conv3d, conv3d_padding, conv_transpose1d,
          conv_transpose2d_input, conv_transpose3d_input, prelu, relu, max_pool2d,
          scaled_dot_product_attention>(library);
}

void singlePrecisionLosses(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::fp32, binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss,
          cross_entropy_loss, ctc_loss_IntList, ctc_loss_Tensor, hinge_embedding_loss, huber_loss, kl_div,
          l1_loss, margin_ranking_loss, mse_loss, multi_margin_loss, multilabel_margin_loss,
          multilabel_margin_loss_forward, nll_loss, nll_loss2d, poisson_nll_loss, smooth_l1_loss,
          soft_margin_loss, triplet_margin_loss>(library);
}

void singlePrecision(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::fp32, batch_norm, _softmax, softmax_int, log_softmax_int, prod, prod_dim_int, cdist,
          trace, polar, quantile, quantile_scalar, nanquantile, nanquantile_scalar, stft, stft_center,
          grid_sampler, grid_sampler_2d, grid_sampler_3d, view_as_complex, reflection_pad1d, reflection_pad2d,
          replication_pad1d, replication_pad2d, replication_pad3d, fake_quantize_per_tensor_affine>(library);
}

void singlePrecisionAlgebra(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::fp32, cholesky, cholesky_inverse, cholesky_solve, inverse, pinverse, lu_solve, orgqr,
          ormqr, geqrf, qr, svd, triangular_solve, _lu_with_info, linalg_cholesky, linalg_cholesky_ex,
          linalg_cond, linalg_cond_p_str, linalg_eig, linalg_eigh, linalg_eigvals, linalg_eigvalsh,
          linalg_householder_product, linalg_inv, linalg_inv_ex, linalg_lstsq, linalg_matrix_rank,
          linalg_matrix_rank_tol_tensor, linalg_matrix_rank_atol_rtol_tensor,
          linalg_matrix_rank_atol_rtol_float, linalg_qr, linalg_solve, linalg_svd, linalg_svdvals,
          linalg_tensorinv, linalg_tensorsolve>(library);
}

void singlePrecisionTransforms(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::fp32, fft_fft, fft_ifft, fft_fft2, fft_ifft2, fft_fftn, fft_ifftn, fft_rfft, fft_irfft,
          fft_rfft2, fft_irfft2, fft_rfftn, fft_irfftn, fft_hfft, fft_ihfft>(library);
}

void widest(torch::Library &library) {
  using namespace at::_ops;
  castAll<CastPolicy::promote, stack, cat, index_copy>(library);
}

} // namespace

TORCH_LIBRARY_IMPL(_, AutocastXLA, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastXLA, library) {
  lowerPrecision(library);
  singlePrecision(library);
  singlePrecisionLosses(library);
  singlePrecisionAlgebra(library);
  singlePrecisionTransforms(library);
  widest(library);
}

} // namespace torchere::lazy
