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

/// Numbers of two vectors of any instruction set. Work on columns from some place on begins where such a line
/// does: what is added lies where nothing is read any more, and meets zeros.
template <class T> constexpr int64_t kLine = 128 / static_cast<int64_t>(sizeof(T));
template <class T> int64_t wholeLines(int64_t columns) {
  return divideUp(columns, kLine<T>) * kLine<T>;
}
template <class T> int64_t lineBegin(int64_t column) {
  return column / kLine<T> * kLine<T>;
}
/// Of rows of whole lines, and no power of two long.
template <class T> int64_t strideOf(int64_t columns) {
  return (divideUp(columns, kLine<T>) | 1) * kLine<T>;
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

/// Rows of a matrix, and of the columns those from the first one's line on.
template <class T> struct Block {
  T *matrix = nullptr;
  int64_t stride = 0;
  int64_t firstRow = 0;
  int64_t rows = 0;
  int64_t firstColumn = 0;
  int64_t columns = 0;

  Block(T *matrix, int64_t stride, int64_t firstRow, int64_t rowCount, int64_t firstColumn,
        int64_t columnCount)
      : matrix(matrix), stride(stride), firstRow(firstRow), rows(rowCount - firstRow),
        firstColumn(lineBegin<T>(firstColumn)), columns(wholeLines<T>(columnCount) - this->firstColumn) {}
  T *row(int64_t i) const { return matrix + (firstRow + i) * stride + firstColumn; }
};

/// y = block x, part by part, and `then` for the rows of each. x has a number for each of the matrix'
/// columns, y for each of the block's rows.
template <class T, class Then>
void multiplyRows(const Context &context, const Block<T> &block, const T *x, T *y, Then then) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  context.pool.parallelFor(divideUp(block.rows, kPartRows), [&](int64_t part) {
    int64_t first = part * kPartRows, count = std::min(kPartRows, block.rows - first);
    kernels.rowProducts[kKernelOf<T>](
        {block.row(first), block.stride, count, block.columns, x + block.firstColumn, y + first});
    then(first, count);
  });
}

/// block (I - factor x y^T), where x and y have a number for each of the matrix' columns.
template <class T>
void reflectRows(const Context &context, const Block<T> &block, T factor, const T *x, const T *y, T *sums) {
  multiplyRows(context, block, x, sums, [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i)
      sums[i] = product(factor, sums[i]);
    kernelsOf(context.isa)
        .rankUpdate[kKernelOf<T>]({block.row(first), block.stride, sums + first, 1, 1, y + block.firstColumn,
                                   0, count, block.columns, 1});
  });
}

/// Reflectors in rows: number k is that of step k. It begins at k + shift, and zeros stand around it.
template <class T> struct ReflectorRows {
  T *vectors = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
  int64_t shift = 0;
  T *taus = nullptr;
};

/// Their conjugates, from the line on that has number `begin`; real numbers where they are.
template <class T> const T *conjugatesOf(const T *numbers, int64_t begin, int64_t count, T *memory) {
  if constexpr (kIsReal<T>)
    return numbers;
  for (int64_t i = lineBegin<T>(begin); i < wholeLines<T>(count); ++i)
    memory[i] = conjugate(numbers[i]);
  return memory;
}

/// The transposed product of the reflectors: the first `rows` rows of it. `work` has room for that many, and
/// for the columns.
template <class T>
void makeTransposed(const Context &context, const ReflectorRows<T> &reflectors, T *matrix, int64_t stride,
                    int64_t rows, int64_t columns, T *work) {
  std::fill(matrix, matrix + rows * stride, T(0));
  for (int64_t i = 0; i < rows; ++i)
    matrix[i * stride + i] = T(1);
  for (int64_t step = reflectors.count - 1; step >= 0; --step) {
    T tau = reflectors.taus[step];
    const T *v = reflectors.vectors + step * reflectors.stride;
    int64_t begin = step + reflectors.shift;
    if (tau == T(0) || begin >= rows)
      continue;
    const T *x = conjugatesOf(v, begin, columns, work + rows);
    reflectRows(context, Block<T>(matrix, stride, begin, rows, begin, columns), tau, x, v, work);
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

/// A scaled copy whose rows are `stride` apart, with zeros between them; or one of the conjugate transpose.
template <class T>
void copyMatrix(const T *from, int64_t rows, int64_t columns, bool isAdjoint, double scale, T *to,
                int64_t stride) {
  auto factor = static_cast<typename Parts<T>::Real>(scale);
  std::fill(to, to + (isAdjoint ? columns : rows) * stride, T(0));
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
  constexpr int64_t parts = kIsReal<T> ? 1 : 2;
  bool isWide = sizeof(typename Parts<T>::Real) == 8;
  return RotatedRows(context, isWide, rows, stride * parts, wholeLines<T>(columns) * parts, longest, slot);
}

/// Eigenvalues of one matrix.
template <class T> class Eigen {
public:
  Eigen(const Context &context, const EigenArgs &args)
      : context_(context), size_(args.size), width_(wholeLines<T>(size_)), stride_(strideOf<T>(size_)),
        wantsVectors_(args.vectors), memory_(bytes()) {
    matrix_ = memory_.take<T>(size_ * stride_);
    taus_ = memory_.take<T>(size_);
    pairs_ = memory_.take<T>(2 * size_);
    work_ = memory_.take<T>(2 * width_);
    conjugates_ = memory_.take<T>(2 * width_);
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
    std::fill(conjugates_, conjugates_ + 2 * width_, T(0));
    for (int64_t step = 0; step + 1 < size_; ++step)
      reduce(step);
    diagonal_.back() = static_cast<double>(std::real(matrix_[(size_ - 1) * (stride_ + 1)]));
    if (!solve())
      return false;
    std::span<int32_t> order = orderOf(diagonal_, /*isAscending=*/true, order_);
    writeValues<T>(diagonal_, order, scale, values);
    if (vectors)
      writeVectors<T>(rows_, stride_, order, size_, size_, /*asColumns=*/true, vectors);
    return true;
  }

private:
  int64_t bytes() const {
    return Memory::bytesOf<T>(size_ * stride_) * (wantsVectors_ ? 2 : 1) + Memory::bytesOf<T>(size_) +
           Memory::bytesOf<T>(2 * size_) + 2 * Memory::bytesOf<T>(2 * width_) +
           3 * Memory::bytesOf<double>(size_);
  }

  bool solve() {
    if (!wantsVectors_)
      return solveTridiagonal(diagonal_, off_, kTolerance<T>, nullptr);
    makeTransposed<T>(context_, {matrix_, stride_, size_ - 1, 1, taus_}, rows_, stride_, size_, size_, work_);
    RotatedRows rows = rotatedRows(context_, rows_, stride_, size_, size_, kLeft);
    return solveTridiagonal(diagonal_, off_, kTolerance<T>, &rows);
  }

  /// H^H A H, where H takes what is below a column's neighbour of the diagonal. The reflector stays in the
  /// step's row, behind zeros.
  void reduce(int64_t step) {
    const int64_t begin = step + 1;
    T *v = matrix_ + step * stride_, *w = work_;
    const auto at = static_cast<size_t>(step);
    diagonal_[at] = static_cast<double>(std::real(v[step]));
    for (int64_t i = begin; i < size_; ++i)
      v[i] = matrix_[i * stride_ + step];
    Reflector<T> reflector = makeReflector(v + begin, size_ - begin);
    off_[at] = static_cast<double>(std::real(reflector.beta));
    taus_[step] = reflector.tau;
    std::fill(v, v + begin, T(0));
    conjugates_[step] = conjugates_[width_ + step] = T(0);
    if (reflector.tau == T(0))
      return;
    const Block<T> block(matrix_, stride_, begin, size_, begin, size_);
    multiplyRows(context_, block, v, w, [](int64_t, int64_t) {});
    T along = 0;
    for (int64_t i = 0; i < block.rows; ++i) {
      w[i] = product(reflector.tau, w[i]);
      along += product(conjugate(w[i]), v[begin + i]);
    }
    T factor = product(reflector.tau, along) * typename Parts<T>::Real(-0.5);
    for (int64_t i = 0; i < block.rows; ++i) {
      w[i] += product(factor, v[begin + i]);
      pairs_[2 * i] = v[begin + i];
      pairs_[2 * i + 1] = w[i];
      conjugates_[begin + i] = conjugate(w[i]);
      conjugates_[width_ + begin + i] = conjugate(v[begin + i]);
    }
    subtractPairs(block);
  }

  /// A - v w^H - w v^H.
  void subtractPairs(const Block<T> &block) {
    context_.pool.parallelFor(divideUp(block.rows, kPartRows), [&](int64_t part) {
      int64_t first = part * kPartRows, count = std::min(kPartRows, block.rows - first);
      kernelsOf(context_.isa)
          .rankUpdate[kKernelOf<T>]({block.row(first), stride_, pairs_ + 2 * first, 2, 1,
                                     conjugates_ + block.firstColumn, width_, count, block.columns, 2});
    });
  }

  const Context &context_;
  int64_t size_, width_, stride_;
  bool wantsVectors_;
  Memory memory_;
  T *matrix_, *taus_, *pairs_, *work_, *conjugates_, *rows_ = nullptr;
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
    work_ = memory_.take<T>(2 * wholeLines<T>(rows_));
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
    return Memory::bytesOf<T>(rows_ * stride_) + Memory::bytesOf<T>(2 * wholeLines<T>(rows_)) +
           2 * Memory::bytesOf<T>(columns_) + Memory::bytesOf<T>(columns_ * leftStride_) +
           3 * Memory::bytesOf<double>(columns_) + (wantsVectors_ ? ofVectors : 0);
  }

  bool solve() {
    if (!wantsVectors_)
      return sizeof(typename Parts<T>::Real) == 4
                 ? solveSquared()
                 : solveBidiagonal(diagonal_, off_, kTolerance<T>, nullptr, nullptr);
    makeTransposed<T>(context_, {leftVectors_, leftStride_, columns_, 0, leftTaus_}, left_, leftStride_,
                      leftRows_, rows_, work_);
    makeTransposed<T>(context_, {matrix_, stride_, columns_ - 1, 1, rightTaus_}, right_, stride_, columns_,
                      columns_, work_);
    RotatedRows left = rotatedRows(context_, left_, leftStride_, rows_, columns_, kLeft);
    RotatedRows right = rotatedRows(context_, right_, stride_, columns_, columns_, kRight);
    return solveBidiagonal(diagonal_, off_, kTolerance<T>, &left, &right);
  }

  /// By the eigenvalues of B^H B, whose errors in f64 are less than those of f32 in B even for values of
  /// zero.
  bool solveSquared() {
    const size_t size = diagonal_.size();
    double before = 0;
    for (size_t i = 0; i < size; ++i) {
      double x = diagonal_[i], y = i + 1 < size ? off_[i] : 0;
      diagonal_[i] = x * x + before * before;
      if (i + 1 < size)
        off_[i] = x * y;
      before = y;
    }
    if (!solveTridiagonal(diagonal_, off_, kTolerance<double>, nullptr))
      return false;
    for (double &x : diagonal_)
      x = std::sqrt(std::max(x, 0.0));
    return true;
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
    T *v = leftVectors_ + step * leftStride_;
    std::fill(v, v + leftStride_, T(0));
    for (int64_t i = step; i < rows_; ++i)
      v[i] = matrix_[i * stride_ + step];
    Reflector<T> reflector = makeReflector(v + step, rows_ - step);
    diagonal_[static_cast<size_t>(step)] = static_cast<double>(std::real(reflector.beta));
    leftTaus_[step] = reflector.tau;
    if (reflector.tau == T(0) || step + 1 == columns_)
      return;
    const Block<T> block(matrix_, stride_, step, rows_, step + 1, columns_);
    reflect(context_, v + step, conjugate(reflector.tau), block.row(0), stride_, block.rows, 0, block.columns,
            kSums);
  }

  /// Takes what is beyond the diagonal's neighbour in a row, where the reflector stays, behind zeros.
  void reduceRow(int64_t step) {
    const int64_t begin = step + 1;
    T *v = matrix_ + step * stride_;
    std::fill(v, v + begin, T(0));
    for (int64_t i = begin; i < columns_; ++i)
      v[i] = conjugate(v[i]);
    Reflector<T> reflector = makeReflector(v + begin, columns_ - begin);
    off_[static_cast<size_t>(step)] = static_cast<double>(std::real(reflector.beta));
    rightTaus_[step] = reflector.tau;
    if (reflector.tau == T(0))
      return;
    const T *y = conjugatesOf(v, begin, columns_, work_ + wholeLines<T>(rows_));
    reflectRows(context_, Block<T>(matrix_, stride_, begin, rows_, begin, columns_), reflector.tau, v, y,
                work_);
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
