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
  std::vector<Complex> result(line.size()), roots(line.size());
  for (int64_t i = 0; i < size; ++i)
    roots[i] = std::polar(1.0, (isInverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i) /
                                   static_cast<double>(size));
  for (int64_t out = 0; out < size; ++out) {
    for (int64_t in = 0; in < size; ++in)
      result[out] += line[in] * roots[in * out % size];
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
  FftPlan plan(realTypeOf<T>, size, {false, inner == 1 ? outer : 0});
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
  for (int64_t size :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 37, 60, 64, 97, 100, 101, 128, 210, 222, 262, 331})
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
      EXPECT_LT(errorOf<float>(context, outer, 149, inner, false), 1e-6) << inner;
      EXPECT_LT(errorOf<double>(context, outer, 149, inner, true), 2e-14) << inner;
    }
}

TEST_P(Fft, OfLinesThatAreMatrices) {
  for (int64_t size : {256, 300, 1000, 2160})
    for (bool isInverse : {false, true})
      for (int64_t lines : {1, 4}) {
        EXPECT_LT(errorOf<float>(context, lines, size, 1, isInverse), 1e-6) << size;
        EXPECT_LT(errorOf<double>(context, lines, size, 1, isInverse), 2e-14) << size;
      }
}

void checkRealLines(const Context &context, int64_t lines, std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes) {
    const int64_t half = size / 2 + 1;
    auto input = randomFloats(lines * size), back = input;
    std::vector<std::complex<float>> spectrum(lines * half);
    FftPlan plan(DType::F32, size, {true, lines});
    fft(context, {&plan, false, lines, 1, input.data(), true, false, spectrum.data(), false, half});
    for (int64_t at : {int64_t(0), lines - 1}) {
      std::vector<Complex> line(input.begin() + at * size, input.begin() + (at + 1) * size);
      std::vector<Complex> expected = definition(line, false);
      for (int64_t i = 0; i < half; ++i)
        EXPECT_LT(std::abs(Complex(spectrum[at * half + i]) - expected[i]), 2e-6 * std::sqrt(double(size)))
            << size;
    }
    spectrum[0] += std::complex<float>(0, 5); // must be zero, and is not read
    if (size % 2 == 0)
      spectrum[half - 1] += std::complex<float>(0, NAN);
    fft(context, {&plan, true, lines, 1, spectrum.data(), false, true, back.data(), true, size});
    for (size_t i = 0; i < input.size(); ++i)
      EXPECT_NEAR(back[i], input[i], 1e-6) << size;
  }
}

TEST_P(Fft, OfRealLinesAndBack) {
  checkRealLines(context, 19, {1, 2, 4, 5, 6, 8, 37, 74, 90, 149, 298, 331});
  checkRealLines(context, 1, {2, 8, 74, 90, 512, 1000, 1021});
  checkRealLines(context, 5, {4096, 4320});
}

TEST_P(Fft, OfOneLineDoesNotReachAnother) {
  for (int64_t size : {8, 15, 22, 64, 149}) {
    const int64_t lines = 20, half = size / 2 + 1;
    std::vector<float> input(lines * size, 1e-20f);
    std::fill(input.begin() + 3 * size, input.begin() + 4 * size, NAN);
    std::fill(input.begin() + 5 * size, input.begin() + 6 * size, 1e20f);
    std::vector<std::complex<float>> spectrum(lines * half);
    FftPlan plan(DType::F32, size, {true, lines});
    fft(context, {&plan, false, lines, 1, input.data(), true, false, spectrum.data(), false, half});
    for (int64_t line = 0; line < lines; ++line)
      if (line == 3) {
        EXPECT_TRUE(std::isnan(spectrum[line * half].real()));
      } else {
        float scale = line == 5 ? 1e20f : 1e-20f;
        EXPECT_NEAR(spectrum[line * half].real() / scale, static_cast<float>(size), 1e-5 * double(size));
        EXPECT_LT(std::abs(spectrum[line * half + 1]) / scale, 1e-5 * double(size));
      }
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
