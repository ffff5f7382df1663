// Eigenvalues of tridiagonal and singular values of bidiagonal matrices, by sweeps of rotations.
#pragma once

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <span>

namespace torchere::cpu {

/// Rows that are rotated, later and many rotations at once. What is recorded lies in scratch memory.
class RotatedRows {
public:
  /// Rows of `columns` numbers of f32 or f64, a whole number of vectors, `stride` from one to the next.
  /// `longest` is how many rotations a sweep may have; the slot is one of scratch memory.
  RotatedRows(const Context &context, bool isWide, void *rows, int64_t stride, int64_t columns,
              int64_t longest, int slot);

  /// Begins a sweep from this row in steps of 1 or -1.
  void begin(int64_t first, int64_t step);
  /// Rows a and a + step become c a + s b and c b - s a.
  void add(double c, double s) {
    double *to = rotations_ + 2 * count_++;
    to[0] = c;
    to[1] = s;
  }
  /// Rotates the rows.
  void finish();

private:
  static constexpr int64_t kMostSweeps = 256;

  const Context &context_;
  bool isWide_;
  RotationsJob job_;
  int64_t longest_, capacity_;
  RotationSweep *sweeps_;
  double *rotations_;
  int64_t count_ = 0, sweepCount_ = 0;
};

/// The eigenvalues, in `diagonal` and in any order, of a real symmetric matrix with this diagonal and, beside
/// it, `off`. What is below `tolerance` times the norm counts as zero. `rows`, if not null, are rotated as
/// the columns of eigenvectors are. Numbers are of a size near one. False if it does not converge.
bool solveTridiagonal(std::span<double> diagonal, std::span<double> off, double tolerance, RotatedRows *rows);

/// Likewise the singular values of a bidiagonal matrix, with `off` above its diagonal. They may be negative.
/// `left` and `right`, both or none, are rotated as the columns of U and of V are.
bool solveBidiagonal(std::span<double> diagonal, std::span<double> off, double tolerance, RotatedRows *left,
                     RotatedRows *right);

} // namespace torchere::cpu
