// Reflectors take a matrix to a tridiagonal or a bidiagonal one, sweeps of rotations this to a diagonal one.
// Matrices of vectors are kept transposed, so that both work on rows.
#include "cpu/kernels/spectrum.h"

#include "cpu/kernels/diagonal_sweeps.h"
#include "cpu/kernels/reflector.h"

#include <cstring>
#include <numeric>
#include <span>

namespace torchere::cpu {
namespace {

constexpr int64_t kLeastWork = 1000; ///< what a matrix costs beside its multiplications
constexpr int64_t kPartRows = 64;
// Scratch slots.
constexpr int kMemory = 0;
constexpr int kSums = 1;
constexpr int kLeft = 2;
constexpr int kRight = 3;

/// Pieces of one block of scratch memory, in whole lines of the cache.
class Memory {
public:
  explicit Memory(int64_t bytes)
      : next_(static_cast<char *>(ThreadPool::scratch(static_cast<size_t>(bytes), kMemory))) {}
  template <class T> T *take(int64_t count) {
    auto *taken = reinterpret_cast<T *>(next_);
    next_ += bytesOf<T>(count);
    return taken;
  }
  template <class T> static int64_t bytesOf(int64_t count) {
    return divideUp(count * static_cast<int64_t>(sizeof(T)), int64_t{64}) * 64;
  }

private:
  char *next_;
};

/// Numbers of a row that is a whole number of vectors and of lines, and no power of two long.
template <class T> int64_t strideOf(int64_t columns) {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  return (divideUp(columns, line) | 1) * line;
}

/// What is left when off-diagonal numbers count as zero: less than rounding makes of the largest one.
template <class T> constexpr double kTolerance = sizeof(typename Parts<T>::Real) == 8 ? 0x1p-53 : 0x1p-30;

/// A power of two that takes the greatest part of the numbers to one half or more, less than one; zero if one
/// is not finite.
template <class T> double scaleFor(const T *numbers, int64_t count) {
  using Real = typename Parts<T>::Real;
  const Real *parts = reinterpret_cast<const Real *>(numbers);
  Real greatest = 0, probe = 0;
  for (int64_t i = 0; i < count * static_cast<int64_t>(sizeof(T) / sizeof(Real)); ++i) {
    greatest = std::max(greatest, std::abs(parts[i]));
    probe += parts[i] * 0; // NaN of what is not finite
  }
  if (probe != 0)
    return 0;
  int exponent = 0;
  std::frexp(static_cast<double>(greatest), &exponent);
  return greatest > 0 ? std::ldexp(1.0, -exponent) : 1;
}

template <class T> void fillNan(T *numbers, int64_t count) {
  if (numbers)
    std::fill(numbers, numbers + count, T(std::numeric_limits<typename Parts<T>::Real>::quiet_NaN()));
}

/// A batch's `count` numbers, or null.
template <class T> T *batchAt(void *numbers, int64_t batch, int64_t count) {
  return numbers ? static_cast<T *>(numbers) + batch * count : nullptr;
}

/// rows x, for rows of a matrix, and `then` for parts of them.
template <class T, class Then>
void multiplyRows(const Context &context, const T *matrix, int64_t stride, int64_t rows, int64_t columns,
                  const T *x, T *y, Then then) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  context.pool.parallelFor(divideUp(rows, kPartRows), [&](int64_t part) {
    int64_t first = part * kPartRows, count = std::min(kPartRows, rows - first);
    kernels.rowProducts[kKernelOf<T>]({matrix + first * stride, stride, count, columns, x, y + first});
    then(first, count);
  });
}

/// matrix -= x y^T for some rows, with x times the factor, where it lies.
template <class T>
void subtractOuter(const Context &context, T *matrix, int64_t stride, int64_t rows, int64_t columns, T factor,
                   T *x, const T *y) {
  for (int64_t i = 0; i < rows; ++i)
    x[i] = product(factor, x[i]);
  kernelsOf(context.isa).rankUpdate[kKernelOf<T>]({matrix, stride, x, 1, 1, y, columns, rows, columns, 1});
}

/// Reflectors in rows: number k is that of step k, and begins at k + shift.
template <class T> struct ReflectorRows {
  T *vectors = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
  int64_t shift = 0;
  T *taus = nullptr;

  T *at(int64_t step) const { return vectors + step * stride + step + shift; }
};

/// The transposed product of the reflectors: the first `rows` rows of it.
template <class T>
void makeTransposed(const Context &context, const ReflectorRows<T> &reflectors, T *matrix, int64_t stride,
                    int64_t rows, int64_t columns, T *work) {
  std::fill(matrix, matrix + rows * stride, T(0));
  for (int64_t i = 0; i < rows; ++i)
    matrix[i * stride + i] = T(1);
  T *sums = work, *conjugates = work + rows;
  for (int64_t step = reflectors.count - 1; step >= 0; --step) {
    T tau = reflectors.taus[step];
    const T *v = reflectors.at(step);
    int64_t begin = step + reflectors.shift, size = columns - begin;
    if (tau == T(0) || begin >= rows)
      continue;
    for (int64_t i = 0; i < size; ++i)
      conjugates[i] = conjugate(v[i]);
    T *block = matrix + begin * stride + begin;
    multiplyRows(context, block, stride, rows - begin, size, conjugates, sums,
                 [&](int64_t first, int64_t count) {
                   subtractOuter(context, block + first * stride, stride, count, size, tau, sums + first, v);
                 });
  }
}

/// Rows in an order: as columns of the result, or, conjugated, as its rows.
template <class T>
void writeVectors(const T *rows, int64_t stride, std::span<const int32_t> order, int64_t count,
                  int64_t length, bool asColumns, T *to) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = i < static_cast<int64_t>(order.size()) ? order[static_cast<size_t>(i)] : i;
    const T *from = rows + place * stride;
    if (asColumns)
      for (int64_t j = 0; j < length; ++j)
        to[j * count + i] = from[j];
    else
      for (int64_t j = 0; j < length; ++j)
        to[i * length + j] = conjugate(from[j]);
  }
}

/// The order in which values ascend, or descend.
std::span<int32_t> orderOf(std::span<const double> values, bool isAscending, int32_t *memory) {
  std::span<int32_t> order(memory, values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
    double x = values[static_cast<size_t>(i)], y = values[static_cast<size_t>(j)];
    return x != y ? (x < y) == isAscending : i < j;
  });
  return order;
}

template <class T>
void writeValues(std::span<const double> values, std::span<const int32_t> order, double scale, void *to) {
  using Real = typename Parts<T>::Real;
  for (size_t i = 0; i < order.size(); ++i)
    static_cast<Real *>(to)[i] = static_cast<Real>(values[static_cast<size_t>(order[i])] / scale);
}

/// A scaled copy whose rows are `stride` apart, or one of the conjugate transpose.
template <class T>
void copyMatrix(const T *from, int64_t rows, int64_t columns, bool isAdjoint, double scale, T *to,
                int64_t stride) {
  auto factor = static_cast<typename Parts<T>::Real>(scale);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      if (isAdjoint)
        to[j * stride + i] = conjugate(from[i * columns + j]) * factor;
      else
        to[i * stride + j] = from[i * columns + j] * factor;
    }
}

template <class T>
RotatedRows rotatedRows(const Context &context, T *rows, int64_t stride, int64_t columns, int64_t longest,
                        int slot) {
  constexpr int64_t parts = kIsReal<T> ? 1 : 2, line = 64 / static_cast<int64_t>(sizeof(T));
  bool isWide = sizeof(typename Parts<T>::Real) == 8;
  return RotatedRows(context, isWide, rows, stride * parts, divideUp(columns, line) * line * parts, longest,
                     slot);
}

/// Eigenvalues of one matrix.
template <class T> class Eigen {
public:
  Eigen(const Context &context, const EigenArgs &args)
      : context_(context), size_(args.size), stride_(strideOf<T>(size_)), wantsVectors_(args.vectors),
        memory_(Memory::bytesOf<T>(size_ * stride_) * (wantsVectors_ ? 2 : 1) +
                5 * Memory::bytesOf<T>(2 * size_) + 3 * Memory::bytesOf<double>(size_)) {
    matrix_ = memory_.take<T>(size_ * stride_);
    taus_ = memory_.take<T>(2 * size_);
    v_ = memory_.take<T>(2 * size_);
    w_ = memory_.take<T>(2 * size_);
    pairs_ = memory_.take<T>(2 * size_);
    right_ = memory_.take<T>(2 * size_);
    diagonal_ = {memory_.take<double>(size_), static_cast<size_t>(size_)};
    off_ = {memory_.take<double>(size_), static_cast<size_t>(size_ - 1)};
    order_ = memory_.take<int32_t>(size_);
    if (wantsVectors_)
      rows_ = memory_.take<T>(size_ * stride_);
  }

  /// False if there is no result.
  bool run(const T *input, void *values, T *vectors) {
    double scale = scaleFor(input, size_ * size_);
    if (scale == 0)
      return false;
    copyMatrix(input, size_, size_, false, scale, matrix_, stride_);
    for (int64_t step = 0; step + 1 < size_; ++step)
      reduce(step);
    diagonal_.back() = static_cast<double>(std::real(matrix_[(size_ - 1) * (stride_ + 1)]));
    if (!solve())
      return false;
    std::span<int32_t> order = orderOf(diagonal_, /*isAscending=*/true, order_);
    writeValues<T>(diagonal_, order, scale, values);
    if (vectors)
      writeVectors(rows_, stride_, order, size_, size_, /*asColumns=*/true, vectors);
    return true;
  }

private:
  bool solve() {
    if (!wantsVectors_)
      return solveTridiagonal(diagonal_, off_, kTolerance<T>, nullptr);
    makeTransposed<T>(context_, {matrix_, stride_, size_ - 1, 1, taus_}, rows_, stride_, size_, size_, w_);
    RotatedRows rows = rotatedRows(context_, rows_, stride_, size_, size_, kLeft);
    return solveTridiagonal(diagonal_, off_, kTolerance<T>, &rows);
  }

  /// H^H A H, where H takes what is below a column's neighbour of the diagonal. The reflector stays in the
  /// step's row.
  void reduce(int64_t step) {
    const int64_t rest = size_ - step - 1;
    T *corner = matrix_ + step * stride_ + step, *block = corner + stride_ + 1;
    for (int64_t i = 0; i < rest; ++i)
      v_[i] = corner[(i + 1) * stride_];
    Reflector<T> reflector = makeReflector(v_, rest);
    const auto at = static_cast<size_t>(step);
    diagonal_[at] = static_cast<double>(std::real(corner[0]));
    off_[at] = static_cast<double>(std::real(reflector.beta));
    taus_[step] = reflector.tau;
    std::copy(v_, v_ + rest, corner + 1);
    if (reflector.tau == T(0))
      return;
    multiplyRows(context_, block, stride_, rest, rest, v_, w_, [](int64_t, int64_t) {});
    T along = 0;
    for (int64_t i = 0; i < rest; ++i) {
      w_[i] = product(reflector.tau, w_[i]);
      along += product(conjugate(w_[i]), v_[i]);
    }
    T factor = product(reflector.tau, along) * typename Parts<T>::Real(-0.5);
    for (int64_t i = 0; i < rest; ++i) {
      w_[i] += product(factor, v_[i]);
      pairs_[2 * i] = v_[i];
      pairs_[2 * i + 1] = w_[i];
      right_[i] = conjugate(w_[i]);
      right_[size_ + i] = conjugate(v_[i]);
    }
    context_.pool.parallelFor(divideUp(rest, kPartRows), [&](int64_t part) {
      int64_t first = part * kPartRows, count = std::min(kPartRows, rest - first);
      kernelsOf(context_.isa)
          .rankUpdate[kKernelOf<T>](
              {block + first * stride_, stride_, pairs_ + 2 * first, 2, 1, right_, size_, count, rest, 2});
    });
  }

  const Context &context_;
  int64_t size_, stride_;
  bool wantsVectors_;
  Memory memory_;
  T *matrix_, *taus_, *v_, *w_, *pairs_, *right_, *rows_ = nullptr;
  std::span<double> diagonal_, off_;
  int32_t *order_;
};

/// Singular values of one matrix, which has at least as many rows as columns, or of its adjoint.
template <class T> class Singular {
public:
  Singular(const Context &context, const SingularArgs &args)
      : context_(context), isAdjoint_(args.rows < args.columns), rows_(std::max(args.rows, args.columns)),
        columns_(std::min(args.rows, args.columns)), leftRows_(args.isFull ? rows_ : columns_),
        stride_(strideOf<T>(columns_)), leftStride_(strideOf<T>(rows_)), wantsVectors_(args.u),
        memory_(bytes()) {
    matrix_ = memory_.take<T>(rows_ * stride_);
    work_ = memory_.take<T>(2 * rows_);
    leftTaus_ = memory_.take<T>(columns_);
    rightTaus_ = memory_.take<T>(columns_);
    leftVectors_ = memory_.take<T>(columns_ * leftStride_);
    diagonal_ = {memory_.take<double>(columns_), static_cast<size_t>(columns_)};
    off_ = {memory_.take<double>(columns_), static_cast<size_t>(columns_ - 1)};
    order_ = memory_.take<int32_t>(columns_);
    if (wantsVectors_) {
      left_ = memory_.take<T>(leftRows_ * leftStride_);
      right_ = memory_.take<T>(columns_ * stride_);
    }
  }

  /// False if there is no result.
  bool run(const T *input, void *values, T *u, T *vh) {
    double scale = scaleFor(input, rows_ * columns_);
    if (scale == 0)
      return false;
    copyMatrix(input, isAdjoint_ ? columns_ : rows_, isAdjoint_ ? rows_ : columns_, isAdjoint_, scale,
               matrix_, stride_);
    for (int64_t step = 0; step < columns_; ++step) {
      reduceColumn(step);
      if (step + 1 < columns_)
        reduceRow(step);
    }
    if (!solve())
      return false;
    makePositive();
    std::span<int32_t> order = orderOf(diagonal_, /*isAscending=*/false, order_);
    writeValues<T>(diagonal_, order, scale, values);
    if (wantsVectors_) {
      writeVectors(left_, leftStride_, order, leftRows_, rows_, /*asColumns=*/!isAdjoint_,
                   isAdjoint_ ? vh : u);
      writeVectors(right_, stride_, order, columns_, columns_, /*asColumns=*/isAdjoint_, isAdjoint_ ? u : vh);
    }
    return true;
  }

private:
  int64_t bytes() const {
    int64_t ofVectors = Memory::bytesOf<T>(leftRows_ * leftStride_) + Memory::bytesOf<T>(columns_ * stride_);
    return Memory::bytesOf<T>(rows_ * stride_) + Memory::bytesOf<T>(2 * rows_) +
           2 * Memory::bytesOf<T>(columns_) + Memory::bytesOf<T>(columns_ * leftStride_) +
           3 * Memory::bytesOf<double>(columns_) + (wantsVectors_ ? ofVectors : 0);
  }

  bool solve() {
    if (!wantsVectors_)
      return solveBidiagonal(diagonal_, off_, kTolerance<T>, nullptr, nullptr);
    makeTransposed<T>(context_, {leftVectors_, leftStride_, columns_, 0, leftTaus_}, left_, leftStride_,
                      leftRows_, rows_, work_);
    makeTransposed<T>(context_, {matrix_, stride_, columns_ - 1, 1, rightTaus_}, right_, stride_, columns_,
                      columns_, work_);
    RotatedRows left = rotatedRows(context_, left_, leftStride_, rows_, columns_, kLeft);
    RotatedRows right = rotatedRows(context_, right_, stride_, columns_, columns_, kRight);
    return solveBidiagonal(diagonal_, off_, kTolerance<T>, &left, &right);
  }

  void makePositive() {
    for (int64_t i = 0; i < columns_; ++i) {
      double &value = diagonal_[static_cast<size_t>(i)];
      if (!std::signbit(value))
        continue;
      value = -value;
      if (wantsVectors_)
        for (int64_t j = 0; j < columns_; ++j)
          right_[i * stride_ + j] = -right_[i * stride_ + j];
    }
  }

  /// Takes what is below the diagonal in a column.
  void reduceColumn(int64_t step) {
    T *corner = matrix_ + step * stride_ + step, *v = leftVectors_ + step * leftStride_ + step;
    int64_t count = rows_ - step;
    for (int64_t i = 0; i < count; ++i)
      v[i] = corner[i * stride_];
    Reflector<T> reflector = makeReflector(v, count);
    diagonal_[static_cast<size_t>(step)] = static_cast<double>(std::real(reflector.beta));
    leftTaus_[step] = reflector.tau;
    if (reflector.tau != T(0))
      reflect(context_, v, conjugate(reflector.tau), corner, stride_, count, 1, columns_ - step, kSums);
  }

  /// Takes what is beyond the diagonal's neighbour in a row, where the reflector stays.
  void reduceRow(int64_t step) {
    T *v = matrix_ + step * stride_ + step + 1, *block = v + stride_, *conjugates = work_ + rows_;
    int64_t count = columns_ - step - 1, rest = rows_ - step - 1;
    for (int64_t i = 0; i < count; ++i)
      v[i] = conjugate(v[i]);
    Reflector<T> reflector = makeReflector(v, count);
    off_[static_cast<size_t>(step)] = static_cast<double>(std::real(reflector.beta));
    rightTaus_[step] = reflector.tau;
    if (reflector.tau == T(0))
      return;
    for (int64_t i = 0; i < count; ++i)
      conjugates[i] = conjugate(v[i]);
    multiplyRows(context_, block, stride_, rest, count, v, work_, [&](int64_t first, int64_t size) {
      subtractOuter(context_, block + first * stride_, stride_, size, count, reflector.tau, work_ + first,
                    conjugates);
    });
  }

  const Context &context_;
  bool isAdjoint_;
  int64_t rows_, columns_, leftRows_, stride_, leftStride_;
  bool wantsVectors_;
  Memory memory_;
  T *matrix_, *work_, *leftTaus_, *rightTaus_, *leftVectors_, *left_ = nullptr, *right_ = nullptr;
  std::span<double> diagonal_, off_;
  int32_t *order_;
};

template <class T> void eigenOf(const Context &context, const EigenArgs &args, int64_t batch) {
  using Real = typename Parts<T>::Real;
  int64_t count = args.size * args.size;
  Real *values = batchAt<Real>(args.values, batch, args.size);
  T *vectors = batchAt<T>(args.vectors, batch, count);
  if (Eigen<T>(context, args).run(static_cast<const T *>(args.input) + batch * count, values, vectors))
    return;
  fillNan(values, args.size);
  fillNan(vectors, count);
}

template <class T> void singularOf(const Context &context, const SingularArgs &args, int64_t batch) {
  using Real = typename Parts<T>::Real;
  int64_t least = std::min(args.rows, args.columns), count = args.rows * args.columns;
  int64_t ofU = args.rows * (args.isFull ? args.rows : least);
  int64_t ofVh = args.columns * (args.isFull ? args.columns : least);
  Real *values = batchAt<Real>(args.values, batch, least);
  T *u = batchAt<T>(args.u, batch, ofU), *vh = batchAt<T>(args.vh, batch, ofVh);
  if (Singular<T>(context, args).run(static_cast<const T *>(args.input) + batch * count, values, u, vh))
    return;
  fillNan(values, least);
  fillNan(u, ofU);
  fillNan(vh, ofVh);
}

} // namespace

void findEigenvalues(const Context &context, const EigenArgs &args) {
  if (args.batches * args.size == 0)
    return;
  withMatrixType(args.type, [&]<class T>(T) {
    forEachMatrix(context, args.batches, 4 * args.size * args.size * args.size + kLeastWork,
                  [&](int64_t batch) { eigenOf<T>(context, args, batch); });
  });
}

void findSingularValues(const Context &context, const SingularArgs &args) {
  int64_t least = std::min(args.rows, args.columns);
  if (args.batches * least == 0)
    return;
  withMatrixType(args.type, [&]<class T>(T) {
    forEachMatrix(context, args.batches, 4 * args.rows * args.columns * least + kLeastWork,
                  [&](int64_t batch) { singularOf<T>(context, args, batch); });
  });
}

} // namespace torchere::cpu
