// MatmulStep: a batch of matrix products, whose right factors are packed once where they stay the same.
#pragma once

#include "cpu/execute/packed_cache.h"
#include "cpu/kernels/gemm.h"
#include "cpu/plan/plan.h"

#include <tuple>

namespace torchere::cpu {

/// A tensor as a batch of matrices.
struct MatrixView {
  View view; ///< of the first element
  int64_t batchStride = 0, rowStride = 0, columnStride = 0;
};

/// Products of such, of either sign on either side, have i32 sums.
inline bool isByteInteger(std::optional<DType> type) {
  return type == DType::I8 || type == DType::U8;
}

struct Matmul {
  DType type = DType::F32;     ///< of the right factor
  DType leftType = DType::F32; ///< another only among I8 and U8
  DType resultType = DType::F32;
  int64_t batches = 1, m = 1, k = 1, n = 1;
  MatrixView a, b;              ///< [batch][m][k], [batch][k][n]
  View result;                  ///< dense [batch][m][n]
  std::optional<View> bias;     ///< dense, one element a column
  std::optional<View> residual; ///< dense, as the result
  Activation activation = Activation::None;
  bool keepsDenormals = false; ///< of BF16
  /// The argument, or the lack of one, that all of b comes from: a program's weight, or a constant.
  std::optional<size_t> weight;
  bool isConstant = false;
  /// An integer: which of b's `choices` matrices, b.batchStride apart, the product is of, as dynamic_slice
  /// takes it. There is one batch then.
  std::optional<View> choice;
  int64_t choices = 1;
};

class MatmulStep final : public StoredStep<MatmulStep> {
public:
  explicit MatmulStep(const Matmul &matmul, Isa isa);
  MatmulStep() = default;
  static auto fields(auto &step) { return std::tie(step.matmul); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "matmul"; }
  double flops() const final;
  bool packs(BufferId buffer) const final;
  Status prepare(const Frame &frame) const final;
  void addPackings(std::vector<Packing> &packings) const final;

  // For steps that compute the product beside something else.

  const Matmul &operands() const { return matmul; }
  const PackedLayout &packed() const { return layout; }
  /// The packed right factor; null if it is not worth it.
  Result<Packed> pack(const Frame &frame) const;
  /// All but the right factor.
  GemmArgs gemmOn(const Frame &frame) const;

private:
  void derive(Isa isa);
  bool isOfColumn() const;
  bool isOfRow() const;
  /// Whether b is packed as soon as it is there.
  bool hasPackedWeight(const Frame &frame) const;
  void runByVector(const Frame &frame) const;
  /// Of b, that are packed.
  int64_t matrices() const { return matmul.choice ? matmul.choices : isShared ? 1 : matmul.batches; }
  int64_t packedBytes() const { return layout.bytes() * matrices(); }
  int64_t chosen(const Frame &frame) const;

  Matmul matmul;
  PackedLayout layout;
  bool isShared = false; ///< one b serves all batches
  mutable PackedCache cache;
};

} // namespace torchere::cpu
