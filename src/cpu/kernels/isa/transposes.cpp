// Planes transposed in blocks that fit the L1 cache.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

template <class T>
void transpose(const void *input, int64_t inputRowStride, void *output, int64_t outputRowStride, int64_t rows,
               int64_t columns) {
  const T *from = static_cast<const T *>(input);
  T *to = static_cast<T *>(output);
  constexpr int64_t kBlock = 16;
  for (int64_t row = 0; row < rows; row += kBlock)
    for (int64_t column = 0; column < columns; column += kBlock) {
      const T *x = from + row * inputRowStride + column;
      T *y = to + column * outputRowStride + row;
      if (row + kBlock <= rows && column + kBlock <= columns) {
        T block[kBlock][kBlock];
        for (int64_t i = 0; i < kBlock; ++i)
          memcpy(block[i], x + i * inputRowStride, sizeof(block[i]));
        for (int64_t j = 0; j < kBlock; ++j) {
          T line[kBlock];
#pragma GCC unroll 16
          for (int64_t i = 0; i < kBlock; ++i)
            line[i] = block[i][j];
          memcpy(y + j * outputRowStride, line, sizeof(line));
        }
        continue;
      }
      for (int64_t j = 0; j < kBlock && column + j < columns; ++j)
        for (int64_t i = 0; i < kBlock && row + i < rows; ++i)
          y[j * outputRowStride + i] = x[i * inputRowStride + j];
    }
}

} // namespace

void addTransposes(IsaKernels &table) {
  table.transpose[0] = &transpose<uint8_t>;
  table.transpose[1] = &transpose<uint16_t>;
  table.transpose[2] = &transpose<uint32_t>;
  table.transpose[3] = &transpose<uint64_t>;
}

} // namespace torchere::cpu::TORCHERE_ISA
