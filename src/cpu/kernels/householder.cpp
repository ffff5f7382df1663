// QR factors and products with Q, reflector by reflector.
#include "cpu/kernels/householder.h"

#include "cpu/kernels/reflector.h"

#include <cstring>

namespace torchere::cpu {
namespace {

constexpr int64_t kLeastWork = 100; ///< what a matrix costs beside its multiplications
// Scratch slots.
constexpr int kVector = 0;
constexpr int kSums = 1;

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
    reflect(context, v, conjugate(reflector.tau), corner, columns, count, 1, columns - step, kSums);
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
    reflect(context, v, factor, matrix + step * args.columns, args.columns, rows - step, 0, args.columns,
            kSums);
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
