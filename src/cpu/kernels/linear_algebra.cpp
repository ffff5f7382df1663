// Factorization and substitution: a block of the triangle by itself, then what it takes off the rest.
#include "cpu/kernels/linear_algebra.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace torchere::cpu {
namespace {

constexpr int64_t kBlock = 48;
constexpr int64_t kPartColumns = 64;
// Scratch slots.
constexpr int kTriangle = 0;
constexpr int kRight = 1;

template <class T> struct Parts {
  using Real = T;
};
template <class T> struct Parts<std::complex<T>> {
  using Real = T;
};
template <class T> constexpr bool isReal = std::is_floating_point_v<T>;

template <class T> T conjugate(T x) {
  if constexpr (isReal<T>)
    return x;
  else
    return std::conj(x);
}
/// Without C's recovery of infinities.
template <class T> T product(T x, T y) {
  if constexpr (isReal<T>)
    return x * y;
  else
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// c -= conj(A) b, where A's conjugate is taken for factors of Hermitian matrices alone.
template <class T> void rankUpdate(const IsaKernels &kernels, const RankUpdateJob &job, bool isConjugate) {
  if constexpr (isReal<T>) {
    kernels.rankUpdate[sizeof(T) == 8](job);
  } else {
    for (int64_t row = 0; row < job.rows; ++row)
      for (int64_t k = 0; k < job.depth; ++k) {
        T x = static_cast<const T *>(job.a)[row * job.aRowStride + k * job.aStride];
        x = isConjugate ? std::conj(x) : x;
        const T *b = static_cast<const T *>(job.b) + k * job.bStride;
        T *c = static_cast<T *>(job.c) + row * job.cStride;
        for (int64_t column = 0; column < job.columns; ++column)
          c[column] -= product(x, b[column]);
      }
  }
}

/// U with U^H U = A, where A's upper triangle lies. False if A is not positive definite.
template <class T> class Factorization {
public:
  Factorization(const Context &context, T *matrix, int64_t size)
      : context_(context), kernels_(kernelsOf(context.isa)), matrix_(matrix), size_(size) {}

  bool run() {
    for (int64_t begin = 0; begin < size_; begin += kBlock) {
      int64_t end = std::min(size_, begin + kBlock);
      if (!factorizeBlock(begin, end))
        return false;
      int64_t parts = divideUp(size_ - end, kPartColumns);
      context_.pool.parallelFor(parts, [&](int64_t part) {
        int64_t first = end + part * kPartColumns;
        solveColumns(begin, end, first, std::min(size_, first + kPartColumns));
      });
      context_.pool.parallelFor(parts, [&](int64_t part) {
        int64_t first = end + part * kPartColumns;
        updateRows(begin, end, first, std::min(size_, first + kPartColumns));
      });
    }
    return true;
  }

private:
  T *row(int64_t i) { return matrix_ + i * size_; }

  bool factorizeBlock(int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      auto pivot = std::real(row(k)[k]);
      if (!(pivot > 0))
        return false;
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
    return true;
  }
  /// The block's rows in these columns.
  void solveColumns(int64_t begin, int64_t end, int64_t first, int64_t last) {
    for (int64_t k = begin; k < end; ++k) {
      auto root = std::real(row(k)[k]);
      for (int64_t j = first; j < last; ++j)
        row(k)[j] /= root;
      for (int64_t i = k + 1; i < end; ++i) {
        T x = conjugate(row(k)[i]);
        for (int64_t j = first; j < last; ++j)
          row(i)[j] -= product(x, row(k)[j]);
      }
    }
  }
  void updateRows(int64_t begin, int64_t end, int64_t first, int64_t last) {
    RankUpdateJob job;
    job.c = row(first) + first;
    job.cStride = size_;
    job.a = row(begin) + first;
    job.aRowStride = 1;
    job.aStride = size_;
    job.b = row(begin) + first;
    job.bStride = size_;
    job.rows = last - first;
    job.columns = size_ - first;
    job.depth = end - begin;
    rankUpdate<T>(kernels_, job, /*isConjugate=*/true);
  }

  const Context &context_;
  const IsaKernels &kernels_;
  T *matrix_;
  int64_t size_;
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
  if (!Factorization<T>(context, upper, size).run()) {
    std::fill(output, output + count, T(std::numeric_limits<typename Parts<T>::Real>::quiet_NaN()));
    return;
  }
  if (args.isLower)
    copyTriangle(upper, 1, size, /*isConjugate=*/true, /*isUpper=*/false, size, output);
  else
    copyTriangle(upper, size, 1, /*isConjugate=*/false, /*isUpper=*/true, size, output);
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
      for (int64_t k = begin; k < i; ++k) {
        T x = lower[i * kBlock + k - begin];
        for (int64_t j = 0; j < width; ++j)
          row[j] -= product(x, right[k * width + j]);
      }
      if (!args_.isUnit) {
        T x = lower[i * kBlock + i - begin];
        for (int64_t j = 0; j < width; ++j)
          row[j] /= x;
      }
    }
    rankUpdate<T>(kernels_,
                  {right + end * width, width, lower + end * kBlock, kBlock, 1, right + begin * width, width,
                   size_ - end, width, depth},
                  /*isConjugate=*/false);
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
  context.pool.parallelFor(args.batches * parts, [&](int64_t index) {
    int64_t part = index % parts;
    Substitution<T>(kernels, args, index / parts)
        .run(partBegin(args.columns, parts, part), partBegin(args.columns, parts, part + 1));
  });
}

template <class T> void choleskyOfAll(const Context &context, const CholeskyArgs &args) {
  if (args.batches == 1)
    choleskyOf<T>(context, args, 0);
  else
    context.pool.parallelFor(args.batches, [&](int64_t batch) { choleskyOf<T>(context, args, batch); });
}

/// function(a number of the type).
template <class Function> void withType(DType type, Function function) {
  if (type == DType::F64)
    return function(double());
  if (type == DType::C64)
    return function(std::complex<float>());
  if (type == DType::C128)
    return function(std::complex<double>());
  function(float());
}

} // namespace

void cholesky(const Context &context, const CholeskyArgs &args) {
  if (args.batches * args.size == 0)
    return;
  withType(args.type, [&]<class T>(T) { choleskyOfAll<T>(context, args); });
}

void solveTriangular(const Context &context, const TriangularSolveArgs &args) {
  if (args.batches * args.size * args.columns == 0)
    return;
  withType(args.type, [&]<class T>(T) { solveAll<T>(context, args); });
}

} // namespace torchere::cpu
