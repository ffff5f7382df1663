// What kernels on matrices share: numbers that are real or complex, and batches.
#pragma once

#include "base/dtype.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/thread_pool.h"

#include <algorithm>
#include <complex>
#include <type_traits>

namespace torchere::cpu {

template <class T> struct Parts {
  using Real = T;
};
template <class T> struct Parts<std::complex<T>> {
  using Real = T;
};
template <class T> constexpr bool kIsReal = std::is_floating_point_v<T>;

template <class T> T conjugate(T x) {
  if constexpr (kIsReal<T>)
    return x;
  else
    return std::conj(x);
}
/// Without C's recovery of infinities.
template <class T> T product(T x, T y) {
  if constexpr (kIsReal<T>)
    return x * y;
  else
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// The type's place in tables of kernels: f32, f64, then complex numbers of these.
template <class T>
constexpr size_t kKernelOf = (kIsReal<T> ? 0 : 2) + (sizeof(typename Parts<T>::Real) == 8 ? 1 : 0);

/// function(a number of the type), which is F32, F64, C64 or C128.
template <class Function> void withMatrixType(DType type, Function function) {
  if (type == DType::F64)
    return function(double());
  if (type == DType::C64)
    return function(std::complex<float>());
  if (type == DType::C128)
    return function(std::complex<double>());
  function(float());
}

/// function(batch) for all, in parts that depend on the multiplications of one alone: a part of the job has
/// several small matrices.
template <class Function>
void forEachMatrix(const Context &context, int64_t batches, int64_t work, Function function) {
  constexpr int64_t workOfPart = 16384;
  if (batches == 1) // which may be cut into parts itself
    return function(0);
  int64_t size = std::max<int64_t>(1, workOfPart / std::max<int64_t>(1, work));
  context.pool.parallelFor(divideUp(batches, size), [&](int64_t part) {
    for (int64_t batch = part * size; batch < std::min(batches, (part + 1) * size); ++batch)
      function(batch);
  });
}

} // namespace torchere::cpu
