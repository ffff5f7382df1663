// Matrix products: C = A B + epilogue, with B packed into panels of vectors.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace torchere::cpu {

/// How a packed B of K x N lies in memory: panels of `vectors` vectors of columns, K rows each; columns
/// beyond N are zeros. Rows of BF16 and of bytes lie in pairs, the two elements of a column side by side; an
/// odd K has a row of zeros behind it.
struct PackedLayout {
  DType type = DType::F32; ///< F32, F64, BF16, F16, I8, U8, or an integer of 32 or 64 bits
  Isa isa = Isa::Baseline;
  int32_t vectors = 1;
  int64_t k = 0;
  int64_t n = 0;

  int64_t panelColumns() const;
  int64_t panels() const;
  int64_t stepRows() const; ///< 2 of pairs, else 1
  int64_t steps() const;    ///< of a panel
  int64_t panelBytes() const;
  int64_t bytes() const;
};

/// The layout that suits products with about `m` rows of A.
PackedLayout packedLayout(DType type, Isa isa, int64_t m, int64_t k, int64_t n);

/// Packs B, whose element (k, n) is at k * rowStride + n * columnStride (in elements). `packed` has
/// layout.bytes() bytes, aligned to 64.
void packMatrix(const Context &context, const PackedLayout &layout, const void *b, int64_t rowStride,
                int64_t columnStride, void *packed);

/// Strides are in elements. A has B's type; C has it too, or is F32 for BF16 and F16. Products are of f32
/// elements (f64 for F64), summed in an order that depends on the sizes alone, and rounded once. Integers are
/// exact modulo their size and take no epilogue. Of I8 and U8, A may have either type, and C is I32.
struct GemmArgs {
  PackedLayout layout;
  int64_t m = 0;
  const void *a = nullptr;
  int64_t aRowStride = 0;
  int64_t aColumnStride = 1;
  const void *packedB = nullptr;
  void *c = nullptr;
  DType cType = DType::F32;
  int64_t cRowStride = 0;
  int64_t batches = 1;
  int64_t aBatchStride = 0;
  int64_t packedBBatchStride = 0; ///< in bytes; 0 for one B of all batches
  int64_t cBatchStride = 0;
  Epilogue epilogue;
  std::optional<DType> aType = std::nullopt; ///< if it is not B's
  /// Denormals of BF16 are no zeros: the processor's instructions for pairs of BF16, which take them for
  /// such, are not used.
  bool keepsDenormals = false;
};
void gemm(const Context &context, const GemmArgs &args);

/// The same for few rows and no batch, whose columns are `runs` runs, of `pieces` pieces each: part i of the
/// job computes piece i of each run, and then calls `finish`(i). A piece is a whole number of panels.
void gemmByRuns(const Context &context, const GemmArgs &args, int64_t runs, int64_t pieces,
                const std::function<void(int64_t piece)> &finish);

/// gemm() with a B that is not packed: `workspace` has matmulWorkspaceBytes() bytes, aligned to 64.
/// `gemm.packedB` and `gemm.packedBBatchStride` are not read.
struct MatmulArgs {
  GemmArgs gemm;
  const void *b = nullptr;
  int64_t bRowStride = 0;
  int64_t bColumnStride = 1;
  int64_t bBatchStride = 0; ///< in elements; 0 for one B of all batches
  void *workspace = nullptr;
};
int64_t matmulWorkspaceBytes(const MatmulArgs &args);
void matmul(const Context &context, const MatmulArgs &args);

} // namespace torchere::cpu
