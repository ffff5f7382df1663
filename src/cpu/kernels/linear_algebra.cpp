// Factorization and substitution: a block of the triangle by itself, then what it takes off the rest.
#include "cpu/kernels/linear_algebra.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/matrix_types.h"
#include "cpu/kernels/small_systems.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

namespace torchere::cpu {
namespace {

constexpr int64_t kBlock = 48;
constexpr int64_t kLuBlock = 32;
constexpr int64_t kPartColumns = 64;
constexpr int64_t kLeastWork = 50; ///< what a matrix costs beside its multiplications
// Scratch slots.
constexpr int kTriangle = 0;
constexpr int kRight = 1;
constexpr int kPanel = 2;

/// Whole lines of the cache, and one more.
template <class T> int64_t panelStrideOf(int64_t columns) {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  return (divideUp(columns, line) + 1) * line;
}

/// U with U^H U = A, where A's upper triangle lies.
template <class T> class Factorization {
public:
  Factorization(const Context &context, T *matrix, int64_t size)
      : context_(context), kernels_(kernelsOf(context.isa)), matrix_(matrix), size_(size) {}

  /// The first minor, from 1, that is not positive; 0 if all are.
  int64_t run() {
    for (int64_t begin = 0; begin < size_; begin += kBlock) {
      int64_t end = std::min(size_, begin + kBlock);
      if (int64_t wrong = factorizeBlock(begin, end))
        return wrong;
      int64_t parts = divideUp(size_ - end, kPartColumns);
      // Rows of the matrix may lie a power of two apart, and so in the same lines of the cache.
      panelStride_ = panelStrideOf<T>(size_ - end);
      panel_ = static_cast<T *>(
          ThreadPool::scratch(static_cast<size_t>((end - begin) * panelStride_) * sizeof(T), kPanel));
      auto forParts = [&](auto function) {
        context_.pool.parallelFor(parts, [&](int64_t part) {
          int64_t first = end + part * kPartColumns;
          function(first, std::min(size_, first + kPartColumns));
        });
      };
      forParts([&](int64_t first, int64_t last) { solveColumns(begin, end, first, last); });
      forParts([&](int64_t first, int64_t last) { updateRows(begin, end, first, last); });
    }
    return 0;
  }

private:
  T *row(int64_t i) { return matrix_ + i * size_; }

  int64_t factorizeBlock(int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      auto pivot = std::real(row(k)[k]);
      if (!(pivot > 0))
        return k + 1;
      auto root = std::sqrt(pivot);
      row(k)[k] = root;
      for (int64_t j = k + 1; j < end; ++j)
        row(k)[j] /= root;
      for (int64_t i = k + 1; i < end; ++i) {
        T x = conjugate(row(k)[i]);
        for (int64_t j = i; j < end; ++j)
          row(i)[j] -= product(x, row(k)[j]);
      }
    }
    return 0;
  }
  /// The block's rows in these columns, also as a panel of their own.
  void solveColumns(int64_t begin, int64_t end, int64_t first, int64_t last) {
    for (int64_t k = begin; k < end; ++k) {
      T *to = panel_ + (k - begin) * panelStride_ + first - end;
      std::copy(row(k) + first, row(k) + last, to);
      kernels_.rankUpdate[kKernelOf<T>]({to, panelStride_, row(begin) + k, 0, size_, panel_ + first - end,
                                         panelStride_, 1, last - first, k - begin, true});
      auto root = std::real(row(k)[k]);
      for (int64_t j = 0; j < last - first; ++j)
        to[j] /= root;
      std::copy(to, to + last - first, row(k) + first);
    }
  }
  void updateRows(int64_t begin, int64_t end, int64_t first, int64_t last) {
    const T *from = panel_ + first - end;
    kernels_.rankUpdate[kKernelOf<T>]({row(first) + first, size_, from, 1, panelStride_, from, panelStride_,
                                       last - first, size_ - first, end - begin, true});
  }

  const Context &context_;
  const IsaKernels &kernels_;
  T *matrix_;
  int64_t size_;
  T *panel_ = nullptr; ///< the block's rows behind it
  int64_t panelStride_ = 0;
};

/// A contiguous copy of the matrix that strides give, of this triangle; zeros in the other.
template <class T>
void copyTriangle(const T *from, int64_t rowStride, int64_t columnStride, bool isConjugate, bool isUpper,
                  int64_t size, T *to) {
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      bool isInside = isUpper ? j >= i : j <= i;
      T x = isInside ? from[i * rowStride + j * columnStride] : T(0);
      to[i * size + j] = isConjugate ? conjugate(x) : x;
    }
}

template <class T> void choleskyOf(const Context &context, const CholeskyArgs &args, int64_t batch) {
  int64_t size = args.size, count = size * size;
  const T *input = static_cast<const T *>(args.input) + batch * count;
  T *output = static_cast<T *>(args.output) + batch * count;
  auto *upper = static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(count) * sizeof(T), kTriangle));
  copyTriangle(input, args.isLower ? 1 : size, args.isLower ? size : 1, args.isLower, /*isUpper=*/true, size,
               upper);
  int64_t wrong = Factorization<T>(context, upper, size).run();
  if (args.firstWrong)
    args.firstWrong[batch] = static_cast<int32_t>(wrong);
  if (wrong > 0) {
    std::fill(output, output + count, T(std::numeric_limits<typename Parts<T>::Real>::quiet_NaN()));
    return;
  }
  if (args.isLower)
    copyTriangle(upper, 1, size, /*isConjugate=*/true, /*isUpper=*/false, size, output);
  else
    copyTriangle(upper, size, 1, /*isConjugate=*/false, /*isUpper=*/true, size, output);
}

/// The LU factors of one matrix, where it lies.
template <class T> class LuFactorization {
public:
  LuFactorization(const Context &context, const LuArgs &args, int64_t batch)
      : context_(context), kernels_(kernelsOf(context.isa)), args_(args),
        matrix_(static_cast<T *>(args.output) + batch * args.rows * args.columns),
        steps_(std::min(args.rows, args.columns)), pivots_(args.pivots + batch * steps_),
        permutation_(args.permutation + batch * args.rows), firstZero_(args.firstZero + batch) {}

  void run() {
    *firstZero_ = 0;
    for (int64_t begin = 0; begin < steps_; begin += kLuBlock) {
      int64_t end = std::min(steps_, begin + kLuBlock), rest = args_.columns - end;
      kernels_.factorizePanel[kKernelOf<T>](
          {matrix_, args_.columns, args_.rows, args_.columns, begin, end, pivots_, firstZero_});
      int64_t parts = divideUp(rest, kPartColumns);
      context_.pool.parallelFor(parts, [&](int64_t part) {
        int64_t first = end + part * kPartColumns;
        updateColumns(begin, end, first, std::min(args_.columns, first + kPartColumns));
      });
    }
    for (int64_t i = 0; i < args_.rows; ++i)
      permutation_[i] = static_cast<int32_t>(i);
    for (int64_t i = 0; i < steps_; ++i) {
      std::swap(permutation_[i], permutation_[pivots_[i]]);
      pivots_[i] += args_.firstRow;
    }
  }

private:
  /// What a panel makes of columns behind it: the rows of its steps by substitution, which are copied to lie
  /// closely, the rest by a product.
  void updateColumns(int64_t begin, int64_t end, int64_t first, int64_t last) {
    const int64_t columns = args_.columns, width = last - first, stride = panelStrideOf<T>(kPartColumns);
    auto *top =
        static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(kLuBlock * stride) * sizeof(T), kPanel));
    for (int64_t row = begin; row < end; ++row) {
      T *from = matrix_ + row * columns, *to = top + (row - begin) * stride;
      std::copy(from + first, from + last, to);
      kernels_.rankUpdate[kKernelOf<T>](
          {to, stride, from + begin, 0, 1, top, stride, 1, width, row - begin, false});
      std::copy(to, to + width, from + first);
    }
    T *rest = matrix_ + end * columns;
    kernels_.rankUpdate[kKernelOf<T>]({rest + first, columns, rest + begin, columns, 1, top, stride,
                                       args_.rows - end, width, end - begin, false});
  }

  const Context &context_;
  const IsaKernels &kernels_;
  const LuArgs &args_;
  T *matrix_;
  int64_t steps_;
  int32_t *pivots_, *permutation_, *firstZero_;
};

template <class T> void luOf(const Context &context, const LuArgs &args, int64_t batch) {
  int64_t count = args.rows * args.columns;
  std::memcpy(static_cast<T *>(args.output) + batch * count,
              static_cast<const T *>(args.input) + batch * count, static_cast<size_t>(count) * sizeof(T));
  LuFactorization<T>(context, args, batch).run();
}

/// Solves for some columns, with the triangle as a lower one.
template <class T> class Substitution {
public:
  Substitution(const IsaKernels &kernels, const TriangularSolveArgs &args, int64_t batch)
      : kernels_(kernels), args_(args), size_(args.size) {
    bool isLower = args.isLower != args.isTransposed;
    bool isTurned = args.isTransposed;
    // x A = b is A^T x^T = b^T.
    if (!args.isLeft) {
      isLower = !isLower;
      isTurned = !isTurned;
    }
    isReversed_ = !isLower;
    int64_t count = size_ * size_, numbers = size_ * args.columns;
    const T *a = static_cast<const T *>(args.a) + batch * count;
    rowStride_ = isTurned ? 1 : size_;
    columnStride_ = isTurned ? size_ : 1;
    a_ = isReversed_ ? a + count - 1 : a;
    if (isReversed_) {
      rowStride_ = -rowStride_;
      columnStride_ = -columnStride_;
    }
    b_ = static_cast<const T *>(args.b) + batch * numbers;
    output_ = static_cast<T *>(args.output) + batch * numbers;
  }

  void run(int64_t first, int64_t last) {
    int64_t width = last - first;
    auto *lower =
        static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(size_ * kBlock) * sizeof(T), kTriangle));
    auto *right =
        static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(size_ * width) * sizeof(T), kRight));
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t j = 0; j < width; ++j)
        right[i * width + j] = b_[place(i, first + j)];
    for (int64_t begin = 0; begin < size_; begin += kBlock)
      solveBlock(lower, right, begin, width);
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t j = 0; j < width; ++j)
        output_[place(i, first + j)] = right[i * width + j];
  }

private:
  int64_t place(int64_t i, int64_t column) const {
    int64_t at = isReversed_ ? size_ - 1 - i : i;
    return args_.isLeft ? at * args_.columns + column : column * size_ + at;
  }

  /// Row i of `lower` is what the block's columns of the triangle have in row i.
  void solveBlock(T *lower, T *right, int64_t begin, int64_t width) {
    int64_t end = std::min(size_, begin + kBlock), depth = end - begin;
    for (int64_t i = begin; i < size_; ++i)
      for (int64_t k = begin; k < std::min(i + 1, end); ++k) {
        T x = a_[i * rowStride_ + k * columnStride_];
        lower[i * kBlock + k - begin] = args_.isConjugate ? conjugate(x) : x;
      }
    for (int64_t i = begin; i < end; ++i) {
      T *row = right + i * width;
      kernels_.rankUpdate[kKernelOf<T>](
          {row, width, lower + i * kBlock, 0, 1, right + begin * width, width, 1, width, i - begin, false});
      if (!args_.isUnit) {
        T x = lower[i * kBlock + i - begin];
        for (int64_t j = 0; j < width; ++j)
          row[j] /= x;
      }
    }
    kernels_.rankUpdate[kKernelOf<T>]({right + end * width, width, lower + end * kBlock, kBlock, 1,
                                       right + begin * width, width, size_ - end, width, depth});
  }

  const IsaKernels &kernels_;
  const TriangularSolveArgs &args_;
  int64_t size_;
  bool isReversed_; ///< both the rows and the columns of an upper triangle
  const T *a_, *b_;
  T *output_;
  int64_t rowStride_, columnStride_;
};

template <class T> void solveAll(const Context &context, const TriangularSolveArgs &args) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  int64_t parts = divideUp(args.columns, kPartColumns);
  int64_t work = args.size * args.size * args.columns / parts / 2 + kLeastWork;
  forEachMatrix(context, args.batches * parts, work, [&](int64_t index) {
    int64_t part = index % parts;
    Substitution<T>(kernels, args, index / parts)
        .run(partBegin(args.columns, parts, part), partBegin(args.columns, parts, part + 1));
  });
}

template <class T> void choleskyOfAll(const Context &context, const CholeskyArgs &args) {
  forEachMatrix(context, args.batches, args.size * args.size * args.size / 3 + kLeastWork,
                [&](int64_t batch) { choleskyOf<T>(context, args, batch); });
}

} // namespace

void cholesky(const Context &context, const CholeskyArgs &args) {
  if (args.batches * args.size == 0)
    return;
  withMatrixType(args.type, [&]<class T>(T) { choleskyOfAll<T>(context, args); });
}

void factorizeLu(const Context &context, const LuArgs &args) {
  if (args.batches * args.rows * args.columns == 0)
    return;
  if (areSmall(args))
    return factorizeSmall(context, args);
  int64_t steps = std::min(args.rows, args.columns);
  withMatrixType(args.type, [&]<class T>(T) {
    forEachMatrix(context, args.batches, steps * args.rows * args.columns / 3 + kLeastWork,
                  [&](int64_t batch) { luOf<T>(context, args, batch); });
  });
}

void solveTriangular(const Context &context, const TriangularSolveArgs &args) {
  if (args.batches * args.size * args.columns == 0)
    return;
  if (areSmall(args))
    return solveSmall(context, args);
  withMatrixType(args.type, [&]<class T>(T) { solveAll<T>(context, args); });
}

} // namespace torchere::cpu
