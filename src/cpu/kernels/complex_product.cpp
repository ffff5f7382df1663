// A part of the job packs a panel of B's columns, a block of its rows at a time, and multiplies some rows of
// A with it.
#include "cpu/kernels/complex_product.h"

#include "cpu/kernels/matrix_types.h"

#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kDepth = 256; ///< of a panel in the L1 cache
constexpr int64_t kPartRows = 128;
constexpr int kPanel = 0; // scratch

template <class T> class ComplexProduct {
public:
  ComplexProduct(const Context &context, const ComplexProductArgs &args)
      : args_(args), kernels_(kernelsOf(context.isa)),
        width_(kernels_.lanes * 8 / static_cast<int64_t>(sizeof(T))) {}

  void run(const Context &context) {
    const int64_t rowParts = divideUp(args_.m, kPartRows), panels = divideUp(args_.n, width_);
    const int64_t ofMatrix = rowParts * panels;
    const int64_t work = std::min(args_.m, kPartRows) * args_.k * width_;
    forEachMatrix(context, args_.batches * ofMatrix, work, [&](int64_t index) {
      int64_t part = index % ofMatrix;
      multiply(index / ofMatrix, part / panels * kPartRows, part % panels * width_);
    });
  }

private:
  void multiply(int64_t batch, int64_t row, int64_t column) {
    const T *a = static_cast<const T *>(args_.a) + batch * args_.aBatchStride + row * args_.aRowStride;
    const T *b = static_cast<const T *>(args_.b) + batch * args_.bBatchStride + column * args_.bColumnStride;
    T *c = static_cast<T *>(args_.c) + (batch * args_.m + row) * args_.n + column;
    auto *panel = static_cast<T *>(
        ThreadPool::scratch(static_cast<size_t>(std::min(kDepth, args_.k) * width_) * sizeof(T), kPanel));
    const int64_t columns = std::min(width_, args_.n - column), rows = std::min(kPartRows, args_.m - row);
    for (int64_t k = 0; k < args_.k; k += kDepth) {
      int64_t depth = std::min(kDepth, args_.k - k);
      pack(b + k * args_.bRowStride, depth, columns, panel);
      kernels_.complexPanel[sizeof(T) == 16]({a + k * args_.aColumnStride, args_.aRowStride,
                                              args_.aColumnStride, panel, depth, c, args_.n, rows, columns,
                                              k > 0});
    }
  }
  void pack(const T *b, int64_t depth, int64_t columns, T *panel) {
    for (int64_t k = 0; k < depth; ++k, b += args_.bRowStride, panel += width_) {
      if (args_.bColumnStride == 1)
        std::memcpy(panel, b, static_cast<size_t>(columns) * sizeof(T));
      else
        for (int64_t j = 0; j < columns; ++j)
          panel[j] = b[j * args_.bColumnStride];
      std::fill(panel + columns, panel + width_, T(0));
    }
  }

  const ComplexProductArgs &args_;
  const IsaKernels &kernels_;
  int64_t width_; ///< columns of a panel: two vectors
};

} // namespace

void multiplyComplex(const Context &context, const ComplexProductArgs &args) {
  if (args.type == DType::C128)
    ComplexProduct<std::complex<double>>(context, args).run(context);
  else
    ComplexProduct<std::complex<float>>(context, args).run(context);
}

} // namespace torchere::cpu
