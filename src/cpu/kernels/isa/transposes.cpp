// Planes transposed in blocks that fit the L1 cache, and lines reversed.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// A block of 8x8 elements of four bytes, in registers: pairs of rows, then fours, then the halves.
TORCHERE_INLINE void transposeBlock(const uint32_t *x, int64_t inputRowStride, uint32_t *y,
                                    int64_t outputRowStride) {
  using Row = VectorOf<uint32_t, 32>::Type;
  using Memory = VectorOf<uint32_t, 32>::Unaligned;
  Row a[8], b[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    a[i] = *reinterpret_cast<const Memory *>(x + i * inputRowStride);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
#pragma GCC unroll 2
  for (int half = 0; half < 8; half += 4)
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      Row first = b[half + i], second = b[half + i + 2];
      a[half + 2 * i] = __builtin_shufflevector(first, second, 0, 1, 8, 9, 4, 5, 12, 13);
      a[half + 2 * i + 1] = __builtin_shufflevector(first, second, 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Row low = __builtin_shufflevector(a[j], a[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    Row high = __builtin_shufflevector(a[j], a[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    *reinterpret_cast<Memory *>(y + j * outputRowStride) = low;
    *reinterpret_cast<Memory *>(y + (j + 4) * outputRowStride) = high;
  }
}

template <class T>
TORCHERE_INLINE void transposeBlock(const T *x, int64_t inputRowStride, T *y, int64_t outputRowStride) {
  constexpr int64_t kBlock = 16;
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
}

template <class T>
void transpose(const void *input, int64_t inputRowStride, void *output, int64_t outputRowStride, int64_t rows,
               int64_t columns) {
  const T *from = static_cast<const T *>(input);
  T *to = static_cast<T *>(output);
  constexpr int64_t kBlock = sizeof(T) == 4 ? 8 : 16;
  for (int64_t row = 0; row < rows; row += kBlock)
    for (int64_t column = 0; column < columns; column += kBlock) {
      const T *x = from + row * inputRowStride + column;
      T *y = to + column * outputRowStride + row;
      if (row + kBlock <= rows && column + kBlock <= columns) {
        transposeBlock(x, inputRowStride, y, outputRowStride);
        continue;
      }
      for (int64_t j = 0; j < kBlock && column + j < columns; ++j)
        for (int64_t i = 0; i < kBlock && row + i < rows; ++i)
          y[j * outputRowStride + i] = x[i * inputRowStride + j];
    }
}

template <class T> void reverse(const void *input, void *output, int64_t n) {
  const T *x = static_cast<const T *>(input);
  T *y = static_cast<T *>(output);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[n - 1 - i];
}

} // namespace

void addTransposes(IsaKernels &table) {
  table.transpose[0] = &transpose<uint8_t>;
  table.transpose[1] = &transpose<uint16_t>;
  table.transpose[2] = &transpose<uint32_t>;
  table.transpose[3] = &transpose<uint64_t>;
  table.reverse[0] = &reverse<uint8_t>;
  table.reverse[1] = &reverse<uint16_t>;
  table.reverse[2] = &reverse<uint32_t>;
  table.reverse[3] = &reverse<uint64_t>;
}

} // namespace torchere::cpu::TORCHERE_ISA
