// Householder's reflectors. One is applied by two products of rank one: rows that it weighs are summed, and
// taken off each.
#pragma once

#include "cpu/kernels/matrix_types.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace torchere::cpu {

/// (I - factor v v^H) X, for the columns of X from `first` on. v is contiguous. `slot` is one of scratch
/// memory that the caller does not use.
template <class T>
void reflect(const Context &context, const T *v, T factor, T *matrix, int64_t stride, int64_t rows,
             int64_t first, int64_t columns, int slot) {
  constexpr int64_t partColumns = 64;
  const IsaKernels &kernels = kernelsOf(context.isa);
  context.pool.parallelFor(divideUp(columns - first, partColumns), [&](int64_t part) {
    int64_t begin = first + part * partColumns, width = std::min(partColumns, columns - begin);
    auto *sums = static_cast<T *>(ThreadPool::scratch(partColumns * sizeof(T), slot));
    std::fill(sums, sums + width, T(0));
    T *x = matrix + begin;
    RankUpdateJob job{sums, width, v, 0, 1, x, stride, 1, width, rows, true};
    kernels.rankUpdate[kKernelOf<T>](job); // less the sums
    for (int64_t i = 0; i < width; ++i)
      sums[i] = -product(factor, sums[i]);
    job = {x, stride, v, 1, 1, sums, width, rows, width, 1, false};
    kernels.rankUpdate[kKernelOf<T>](job);
  });
}

template <class T> struct Reflector {
  T tau;
  T beta; ///< what is left of the column, real
};

/// The sum of the squares of magnitudes in units of `scale`.
template <class T> double squaresOf(const T *x, int64_t count, double scale) {
  double sum = 0, factor = 1 / scale;
  for (int64_t i = 0; i < count; ++i) {
    double real = static_cast<double>(std::real(x[i])) * factor;
    double imaginary = static_cast<double>(std::imag(x[i])) * factor;
    sum += real * real + imaginary * imaginary;
  }
  return sum;
}

/// About the greatest magnitude of a part, such that its square and its reciprocal are in range; one where
/// that is infinite or zero.
template <class T> double scaleOf(const T *x, int64_t count) {
  double scale = 0;
  for (int64_t i = 0; i < count; ++i)
    scale = std::max({scale, static_cast<double>(std::abs(std::real(x[i]))),
                      static_cast<double>(std::abs(std::imag(x[i])))});
  return scale > 0 && !std::isinf(scale) ? std::clamp(scale, 1e-300, 1e300) : 1;
}

/// Of a contiguous column, which becomes v. Where squares are out of range, those of scaled numbers are
/// taken; where nothing is to be done, the reflector is the identity.
template <class T> Reflector<T> makeReflector(T *x, int64_t count) {
  using Real = typename Parts<T>::Real;
  double scale = 1, below = squaresOf(x + 1, count - 1, scale), square = below + squaresOf(x, 1, scale);
  if (!(square > 1e-280 && square < 1e280)) {
    scale = scaleOf(x, count);
    below = squaresOf(x + 1, count - 1, scale);
    square = below + squaresOf(x, 1, scale);
  }
  T head = x[0];
  x[0] = T(1);
  if (below == 0 && std::imag(head) == 0)
    return {T(0), head};
  Real norm = static_cast<Real>(std::sqrt(square) * scale);
  Real beta = std::real(head) < 0 ? norm : -norm;
  T divisor = head - T(beta), factor = T(1) / divisor;
  bool isInRange = norm > 4 * std::numeric_limits<Real>::min(); // the reciprocal
  for (int64_t i = 1; i < count; ++i)
    x[i] = isInRange ? product(x[i], factor) : x[i] / divisor;
  return {(T(beta) - head) / beta, T(beta)};
}

} // namespace torchere::cpu
