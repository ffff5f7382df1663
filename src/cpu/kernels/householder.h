// QR factors by Householder's reflectors, and products with these.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>

namespace torchere::cpu {

/// Q R of contiguous matrices of F32, F64, C64 or C128: R, and below the diagonal of column k the reflector v
/// of step k without its one; Q is the product of the reflectors I - tau v v^H.
struct QrArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  const void *input = nullptr;
  void *output = nullptr;
  void *tau = nullptr; ///< [min(rows, columns)]
};
void factorizeQr(const Context &context, const QrArgs &args);

/// Q X, or Q^H X, of contiguous matrices X.
struct ReflectorsArgs {
  DType type = DType::F32;
  int64_t batches = 1;
  int64_t rows = 0;
  int64_t columns = 0;       ///< of X
  int64_t packedColumns = 0; ///< of what holds the reflectors
  int64_t count = 0;         ///< of reflectors: at most the rows and the packed columns
  bool isAdjoint = false;
  const void *packed = nullptr;
  const void *tau = nullptr;
  const void *input = nullptr;
  void *output = nullptr;
};
void applyReflectors(const Context &context, const ReflectorsArgs &args);

} // namespace torchere::cpu
