// Matrices of random numbers of the four types that kernels take.
#pragma once

#include "test_values.h"

#include <complex>

namespace torchere::cpu {

using Complex = std::complex<double>;

template <class T> constexpr DType typeOf = DType::F32;
template <> constexpr DType typeOf<double> = DType::F64;
template <> constexpr DType typeOf<std::complex<float>> = DType::C64;
template <> constexpr DType typeOf<std::complex<double>> = DType::C128;

template <class T> T number(float x, float y) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(x);
  else
    return {x, y};
}

template <class T> std::vector<T> randomNumbers(int64_t count, uint32_t seed) {
  auto parts = randomFloats(2 * count, seed);
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(number<T>(parts[2 * i], parts[2 * i + 1]));
  return numbers;
}

template <class T> Complex at(const std::vector<T> &matrices, int64_t place) {
  return Complex(matrices[static_cast<size_t>(place)]);
}

} // namespace torchere::cpu
