// Fourier transforms against the definition in f64.
#include "cpu/kernels/fft.h"
#include "test_values.h"

#include <complex>
#include <numbers>

namespace torchere::cpu {
namespace {

using Complex = std::complex<double>;

class Fft : public EveryIsa {};

std::vector<Complex> definition(const std::vector<Complex> &line, bool isInverse) {
  auto size = static_cast<int64_t>(line.size());
  std::vector<Complex> result(line.size());
  for (int64_t out = 0; out < size; ++out) {
    for (int64_t in = 0; in < size; ++in)
      result[out] +=
          line[in] * std::polar(1.0, (isInverse ? 2 : -2) * std::numbers::pi *
                                         static_cast<double>(in * out % size) / static_cast<double>(size));
    if (isInverse)
      result[out] /= static_cast<double>(size);
  }
  return result;
}

template <class T> constexpr DType realTypeOf = sizeof(T) == 8 ? DType::F64 : DType::F32;

/// The largest error of a transform of [outer][size][inner], relative to the largest result.
template <class T>
double errorOf(const Context &context, int64_t outer, int64_t size, int64_t inner, bool isInverse) {
  auto random = randomFloats(outer * size * inner * 2);
  std::vector<std::complex<T>> input(outer * size * inner), output(input.size());
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = {random[2 * i], random[2 * i + 1]};
  FftPlan plan(realTypeOf<T>, size);
  FftArgs args{&plan, isInverse, outer, inner, input.data(), false, false, output.data(), false, size};
  fft(context, args);
  double worst = 0, scale = 0;
  for (int64_t line = 0; line < outer * inner; ++line) {
    auto at = [&](int64_t i) { return (line / inner * size + i) * inner + line % inner; };
    std::vector<Complex> numbers(size);
    for (int64_t i = 0; i < size; ++i)
      numbers[i] = input[at(i)];
    std::vector<Complex> expected = definition(numbers, isInverse);
    for (int64_t i = 0; i < size; ++i) {
      worst = std::max(worst, std::abs(Complex(output[at(i)]) - expected[i]));
      scale = std::max(scale, std::abs(expected[i]));
    }
  }
  return worst / scale;
}

TEST_P(Fft, OfAnySize) {
  for (int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 37, 60, 64, 97, 100, 101, 128, 210, 222})
    for (bool isInverse : {false, true}) {
      EXPECT_LT(errorOf<float>(context, 3, size, 1, isInverse), 1e-6) << size;
      EXPECT_LT(errorOf<double>(context, 3, size, 1, isInverse), 2e-14) << size;
    }
}

TEST_P(Fft, OfManyLinesAlongAnyDimension) {
  for (int64_t inner : {1, 3, 20})
    for (int64_t outer : {1, 17}) {
      EXPECT_LT(errorOf<float>(context, outer, 24, inner, false), 1e-6) << inner;
      EXPECT_LT(errorOf<double>(context, outer, 41, inner, true), 2e-14) << inner;
    }
}

TEST_P(Fft, OfRealLinesAndBack) {
  for (int64_t size : {1, 2, 5, 8, 37, 90}) {
    const int64_t lines = 19, half = size / 2 + 1;
    auto input = randomFloats(lines * size), back = input;
    std::vector<std::complex<float>> spectrum(lines * half);
    FftPlan plan(DType::F32, size);
    fft(context, {&plan, false, lines, 1, input.data(), true, false, spectrum.data(), false, half});
    std::vector<Complex> line(input.begin(), input.begin() + size), expected = definition(line, false);
    for (int64_t i = 0; i < half; ++i)
      EXPECT_LT(std::abs(Complex(spectrum[i]) - expected[i]), 1e-5) << size;
    spectrum[0] += std::complex<float>(0, 5); // must be zero, and is not read
    fft(context, {&plan, true, lines, 1, spectrum.data(), false, true, back.data(), true, size});
    for (size_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(back[i], input[i], 1e-6) << size;
  }
}

TEST_P(Fft, InPlaceAndWithAnyNumberOfThreads) {
  auto input = randomFloats(40 * 30 * 2);
  FftPlan plan(DType::F32, 30);
  std::vector<float> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool ownPool(threads);
    std::vector<float> numbers = input;
    fft({ownPool, GetParam()},
        {&plan, false, 40, 1, numbers.data(), false, false, numbers.data(), false, 30});
    if (first.empty())
      first = numbers;
    EXPECT_EQ(numbers, first) << threads;
  }
}

TORCHERE_EVERY_ISA(Fft);

} // namespace
} // namespace torchere::cpu
