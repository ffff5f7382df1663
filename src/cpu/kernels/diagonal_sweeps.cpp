// Implicit QL steps of tridiagonal matrices, and QR steps of bidiagonal ones, each a sweep.
#include "cpu/kernels/diagonal_sweeps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torchere::cpu {

namespace {

constexpr int64_t kPartColumns = 64;
constexpr int64_t kMostSweepsOfValue = 60; ///< two or three are usual
constexpr int64_t kLeastRotations = 4096;

struct Rotation {
  double c, s, length;
};
/// What takes (x, y) to (length, 0): c x + s y and c y - s x.
Rotation rotationOf(double x, double y) {
  double length = std::sqrt(x * x + y * y);
  if (y == 0 || length < 1e-140) // beside numbers near one y is nothing, and the square is out of range
    return {1, 0, x};
  double factor = 1 / length;
  return {x * factor, y * factor, length};
}

double normOf(std::span<const double> diagonal, std::span<const double> off) {
  double norm = 0;
  for (double x : diagonal)
    norm = std::max(norm, std::abs(x));
  for (double x : off)
    norm = std::max(norm, std::abs(x));
  return norm;
}

/// The eigenvalue of [a b; b c] that is nearer to a.
double nearerEigenvalue(double a, double b, double c) {
  double half = (c - a) / 2, root = std::sqrt(half * half + b * b);
  return a - b * b / (half + std::copysign(root, half));
}

/// A QL step of rows `first` to `last`, with the shift.
void sweepUpwards(std::span<double> d, std::span<double> e, size_t first, size_t last, double shift,
                  RotatedRows *rows) {
  if (rows)
    rows->begin(static_cast<int64_t>(last), -1);
  double c = 1, s = 1, g = d[last] - shift, taken = 0;
  for (size_t i = last; i-- > first;) {
    double f = s * e[i], b = c * e[i];
    Rotation rotation = rotationOf(g, f);
    if (i + 1 < last)
      e[i + 1] = rotation.length;
    c = rotation.c;
    s = rotation.s;
    double above = d[i + 1] - taken, r = (d[i] - above) * s + 2 * c * b;
    taken = s * r;
    d[i + 1] = above + taken;
    g = c * r - b;
    if (rows)
      rows->add(c, s);
  }
  d[first] -= taken;
  e[first] = g;
}

/// The same without rotations, after Pal, Walker and Kahan, of the squares of `off`: no square root.
void sweepSquares(std::span<double> d, std::span<double> squares, size_t first, size_t last, double shift) {
  double c = 1, s = 0, gamma = d[last] - shift, p = gamma * gamma;
  for (size_t i = last; i-- > first;) {
    double b = squares[i], r = p + b;
    if (i + 1 < last)
      squares[i + 1] = s * r;
    double before = c, old = gamma;
    c = p / r;
    s = b / r;
    gamma = c * (d[i] - shift) - s * old;
    d[i + 1] = old + (d[i] - gamma);
    p = c == 0 ? before * b : gamma * gamma / c;
  }
  squares[first] = s * p;
  d[first] = shift + gamma;
}

/// The smaller singular value of [a b; 0 c].
double smallerSingularValue(double a, double b, double c) {
  a = std::abs(a);
  c = std::abs(c);
  double larger = (std::sqrt((a + c) * (a + c) + b * b) + std::sqrt((a - c) * (a - c) + b * b)) / 2;
  return larger > 0 ? a * (c / larger) : 0;
}

/// A QR step of B^H B on rows `first` to `last` of B, with the square of the shift.
void sweepDownwards(std::span<double> d, std::span<double> e, size_t first, size_t last, double shift,
                    RotatedRows *left, RotatedRows *right) {
  double f = (std::abs(d[first]) - shift) * (std::copysign(1, d[first]) + shift / d[first]), g = e[first];
  for (size_t i = first; i < last; ++i) {
    Rotation columns = rotationOf(f, g);
    if (i > first)
      e[i - 1] = columns.length;
    f = columns.c * d[i] + columns.s * e[i];
    e[i] = columns.c * e[i] - columns.s * d[i];
    g = columns.s * d[i + 1];
    d[i + 1] *= columns.c;
    Rotation rows = rotationOf(f, g);
    d[i] = rows.length;
    f = rows.c * e[i] + rows.s * d[i + 1];
    d[i + 1] = rows.c * d[i + 1] - rows.s * e[i];
    if (i + 1 < last) {
      g = rows.s * e[i + 1];
      e[i + 1] *= rows.c;
    }
    if (left) {
      left->add(rows.c, rows.s);
      right->add(columns.c, columns.s);
    }
  }
  e[last - 1] = f;
}

/// Without a shift, after Demmel and Kahan: nothing is subtracted, and a zero on the diagonal takes one step.
void sweepWithoutShift(std::span<double> d, std::span<double> e, size_t first, size_t last, RotatedRows *left,
                       RotatedRows *right) {
  Rotation columns{1, 0, 0}, rows{1, 0, 0};
  for (size_t i = first; i < last; ++i) {
    columns = rotationOf(d[i] * columns.c, e[i]);
    if (i > first)
      e[i - 1] = rows.s * columns.length;
    rows = rotationOf(rows.c * columns.length, d[i + 1] * columns.s);
    d[i] = rows.length;
    if (left) {
      left->add(rows.c, rows.s);
      right->add(columns.c, columns.s);
    }
  }
  double rest = d[last] * columns.c;
  d[last] = rest * rows.c;
  e[last - 1] = rest * rows.s;
}

} // namespace

RotatedRows::RotatedRows(const Context &context, bool isWide, void *rows, int64_t stride, int64_t columns,
                         int64_t longest, int slot)
    : context_(context), isWide_(isWide), longest_(longest), capacity_(std::max(kLeastRotations, longest)) {
  job_.rows = rows;
  job_.stride = stride;
  job_.columns = columns;
  size_t bytes = kMostSweeps * sizeof(RotationSweep);
  auto *memory = static_cast<char *>(
      ThreadPool::scratch(bytes + static_cast<size_t>(2 * capacity_) * sizeof(double), slot));
  sweeps_ = reinterpret_cast<RotationSweep *>(memory);
  rotations_ = reinterpret_cast<double *>(memory + bytes);
}

void RotatedRows::begin(int64_t first, int64_t step) {
  if (sweepCount_ > 0)
    sweeps_[sweepCount_ - 1].count = count_ - sweeps_[sweepCount_ - 1].place;
  if (sweepCount_ == kMostSweeps || count_ + longest_ > capacity_)
    finish();
  sweeps_[sweepCount_++] = {first, step, 0, count_};
}

void RotatedRows::finish() {
  if (sweepCount_ == 0)
    return;
  sweeps_[sweepCount_ - 1].count = count_ - sweeps_[sweepCount_ - 1].place;
  job_.sweeps = sweeps_;
  job_.sweepCount = sweepCount_;
  job_.rotations = rotations_;
  const IsaKernels &kernels = kernelsOf(context_.isa);
  context_.pool.parallelFor(divideUp(job_.columns, kPartColumns), [&](int64_t part) {
    RotationsJob job = job_;
    int64_t first = part * kPartColumns;
    job.columns = std::min(kPartColumns, job_.columns - first);
    job.rows = static_cast<char *>(job_.rows) + first * (isWide_ ? 8 : 4);
    kernels.rotateRows[isWide_](job);
  });
  sweepCount_ = count_ = 0;
}

bool solveTridiagonal(std::span<double> d, std::span<double> e, double tolerance, RotatedRows *rows) {
  const size_t size = d.size();
  double least = tolerance * normOf(d, e);
  if (!rows) {
    least *= least;
    for (double &x : e)
      x *= x;
  }
  auto sweepsLeft = static_cast<int64_t>(size) * kMostSweepsOfValue;
  for (size_t first = 0; first < size;) {
    size_t last = first;
    while (last + 1 < size && std::abs(e[last]) > least)
      ++last;
    if (last == first) {
      ++first;
      continue;
    }
    if (sweepsLeft-- == 0)
      return false;
    double beside = rows ? e[first] : std::sqrt(e[first]);
    double shift = nearerEigenvalue(d[first], beside, d[first + 1]);
    if (rows)
      sweepUpwards(d, e, first, last, shift, rows);
    else
      sweepSquares(d, e, first, last, shift);
  }
  if (rows)
    rows->finish();
  return true;
}

bool solveBidiagonal(std::span<double> d, std::span<double> e, double tolerance, RotatedRows *left,
                     RotatedRows *right) {
  const size_t size = d.size();
  const double least = tolerance * normOf(d, e);
  auto sweepsLeft = static_cast<int64_t>(size) * kMostSweepsOfValue;
  for (size_t last = size - 1; last > 0;) {
    if (std::abs(e[last - 1]) <= least) {
      --last;
      continue;
    }
    if (sweepsLeft-- == 0)
      return false;
    size_t first = last;
    bool isSingular = false;
    for (; first > 0 && std::abs(e[first - 1]) > least; --first)
      isSingular |= std::abs(d[first]) <= least;
    isSingular |= std::abs(d[first]) <= least;
    double shift = smallerSingularValue(d[last - 1], e[last - 1], d[last]);
    double ratio = shift / d[first]; // whose square may be lost in rounding
    for (RotatedRows *rows : {left, right})
      if (rows)
        rows->begin(static_cast<int64_t>(first), 1);
    if (isSingular || ratio * ratio < std::numeric_limits<double>::epsilon())
      sweepWithoutShift(d, e, first, last, left, right);
    else
      sweepDownwards(d, e, first, last, shift, left, right);
  }
  for (RotatedRows *rows : {left, right})
    if (rows)
      rows->finish();
  return true;
}

} // namespace torchere::cpu
