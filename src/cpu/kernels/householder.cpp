// A reflector is applied by two products of rank one: rows that it weighs are summed, and taken off each.
#include "cpu/kernels/householder.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/matrix_types.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartColumns = 64;
constexpr int64_t kLeastWork = 100; ///< what a matrix costs beside its multiplications
// Scratch slots.
constexpr int kVector = 0;
constexpr int kSums = 1;

/// (I - factor v v^H) X, for the columns of X from `first` on. v is contiguous.
template <class T>
void reflect(const Context &context, const T *v, T factor, T *matrix, int64_t stride, int64_t rows,
             int64_t first, int64_t columns) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  context.pool.parallelFor(divideUp(columns - first, kPartColumns), [&](int64_t part) {
    int64_t begin = first + part * kPartColumns, width = std::min(kPartColumns, columns - begin);
    auto *sums = static_cast<T *>(ThreadPool::scratch(kPartColumns * sizeof(T), kSums));
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

/// Of a contiguous column, which becomes v. Norms are taken of numbers divided by the greatest part, so that
/// no square is out of range; where nothing is to be done, the reflector is the identity.
template <class T> Reflector<T> makeReflector(T *x, int64_t count) {
  using Real = typename Parts<T>::Real;
  Real scale = 0;
  for (int64_t i = 0; i < count; ++i)
    scale = std::max({scale, std::abs(std::real(x[i])), std::abs(std::imag(x[i]))});
  if (!(scale > 0) || std::isinf(scale))
    scale = 1;
  double square = 0;
  auto squareOf = [&](T number) {
    auto real = static_cast<double>(std::real(number) / scale);
    auto imaginary = static_cast<double>(std::imag(number) / scale);
    return real * real + imaginary * imaginary;
  };
  for (int64_t i = 1; i < count; ++i)
    square += squareOf(x[i]);
  T head = x[0];
  x[0] = T(1);
  if (square == 0 && std::imag(head) == 0)
    return {T(0), head};
  Real norm = static_cast<Real>(std::sqrt(squareOf(head) + square)) * scale;
  Real beta = std::real(head) < 0 ? norm : -norm;
  T divisor = head - T(beta);
  for (int64_t i = 1; i < count; ++i)
    x[i] /= divisor;
  return {(T(beta) - head) / beta, T(beta)};
}

template <class T> void factorize(const Context &context, const QrArgs &args, int64_t batch) {
  int64_t rows = args.rows, columns = args.columns, steps = std::min(rows, columns);
  T *matrix = static_cast<T *>(args.output) + batch * rows * columns;
  T *tau = static_cast<T *>(args.tau) + batch * steps;
  std::memcpy(matrix, static_cast<const T *>(args.input) + batch * rows * columns,
              static_cast<size_t>(rows * columns) * sizeof(T));
  auto *v = static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(rows) * sizeof(T), kVector));
  for (int64_t step = 0; step < steps; ++step) {
    T *corner = matrix + step * columns + step;
    int64_t count = rows - step;
    for (int64_t i = 0; i < count; ++i)
      v[i] = corner[i * columns];
    Reflector<T> reflector = makeReflector(v, count);
    reflect(context, v, conjugate(reflector.tau), corner, columns, count, 1, columns - step);
    corner[0] = reflector.beta;
    for (int64_t i = 1; i < count; ++i)
      corner[i * columns] = v[i];
    tau[step] = reflector.tau;
  }
}

template <class T> void apply(const Context &context, const ReflectorsArgs &args, int64_t batch) {
  int64_t rows = args.rows, count = rows * args.columns;
  T *matrix = static_cast<T *>(args.output) + batch * count;
  const T *packed = static_cast<const T *>(args.packed) + batch * rows * args.packedColumns;
  const T *tau = static_cast<const T *>(args.tau) + batch * args.count;
  std::memcpy(matrix, static_cast<const T *>(args.input) + batch * count,
              static_cast<size_t>(count) * sizeof(T));
  auto *v = static_cast<T *>(ThreadPool::scratch(static_cast<size_t>(rows) * sizeof(T), kVector));
  for (int64_t i = 0; i < args.count; ++i) {
    int64_t step = args.isAdjoint ? i : args.count - 1 - i; // Q is H_0 H_1 ...: the last one meets X first
    v[0] = T(1);
    for (int64_t row = step + 1; row < rows; ++row)
      v[row - step] = packed[row * args.packedColumns + step];
    T factor = args.isAdjoint ? conjugate(tau[step]) : tau[step];
    reflect(context, v, factor, matrix + step * args.columns, args.columns, rows - step, 0, args.columns);
  }
}

} // namespace

void factorizeQr(const Context &context, const QrArgs &args) {
  int64_t steps = std::min(args.rows, args.columns);
  if (args.batches * steps == 0)
    return;
  withMatrixType(args.type, [&]<class T>(T) {
    forEachMatrix(context, args.batches, 2 * steps * args.rows * args.columns + kLeastWork,
                  [&](int64_t batch) { factorize<T>(context, args, batch); });
  });
}

void applyReflectors(const Context &context, const ReflectorsArgs &args) {
  if (args.batches * args.rows * args.columns == 0)
    return;
  withMatrixType(args.type, [&]<class T>(T) {
    forEachMatrix(context, args.batches, 2 * args.count * args.rows * args.columns + kLeastWork,
                  [&](int64_t batch) { apply<T>(context, args, batch); });
  });
}

} // namespace torchere::cpu
