// Softmax and norms against f64.
#include "cpu/kernels/normalization.h"
#include "test_values.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

class Normalization : public EveryIsa {};

std::vector<double> softmaxOf(const float *x, int64_t n, bool logarithm) {
  double most = *std::max_element(x, x + n), sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += std::exp(x[i] - most);
  std::vector<double> y(n);
  for (int64_t i = 0; i < n; ++i)
    y[i] = logarithm ? x[i] - most - std::log(sum) : std::exp(x[i] - most) / sum;
  return y;
}

TEST_P(Normalization, SoftmaxOfRows) {
  for (int64_t columns : {1, 3, 16, 17, 128, 1000})
    for (bool logarithm : {false, true}) {
      const int64_t rows = 5, stride = columns + 3;
      auto x = randomFloats(rows * stride, 1, 20), y = x;
      softmax(context, {{DType::F32, rows, columns, y.data(), stride, y.data(), stride}, logarithm});
      for (int64_t i = 0; i < rows; ++i) {
        auto expected = softmaxOf(&x[i * stride], columns, logarithm);
        for (int64_t j = 0; j < columns; ++j)
          ASSERT_NEAR(y[i * stride + j], expected[j],
                      1e-6 * std::max(logarithm ? 0.5 : 1e-2, std::fabs(expected[j])))
              << columns;
        for (int64_t j = columns; j < stride; ++j)
          ASSERT_EQ(y[i * stride + j], x[i * stride + j]);
      }
    }
}

TEST_P(Normalization, SoftmaxOfExtremes) {
  const float inf = INFINITY;
  std::vector<float> x = {0, -inf, 1000, -inf, -inf, -inf, 1, NAN, 2, inf, 0, 0}, y(12);
  softmax(context, {{DType::F32, 4, 3, x.data(), 3, y.data(), 3}, false});
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[2], 1);
  for (int i = 3; i < 9; ++i)
    EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_TRUE(std::isnan(y[9]));
}

/// Of elements that lie apart, in vectors of columns and what is left of them.
TEST_P(Normalization, SoftmaxAcross) {
  for (int64_t inner : {2, 9, 70, 300})
    for (int64_t length : {1, 3, 90})
      for (bool logarithm : {false, true}) {
        const int64_t outer = 3, count = outer * length * inner;
        auto x = randomFloats(count, 1, 20);
        std::vector<double> wide(x.begin(), x.end()), wideResult(count);
        std::vector<uint16_t> narrow, narrowResult(count);
        std::vector<float> y(count), row(length);
        for (float each : x)
          narrow.push_back(bf16OfFloat(each));
        auto run = [&](DType type, const void *input, void *output) {
          softmax(context, {{type, outer * inner, length, input, 0, output, 0},
                            logarithm,
                            /*zeroWhenMasked=*/false,
                            inner});
        };
        run(DType::F32, x.data(), y.data());
        run(DType::F64, wide.data(), wideResult.data());
        run(DType::BF16, narrow.data(), narrowResult.data());
        for (int64_t i = 0; i < outer * inner; ++i) {
          auto at = [&](int64_t j) { return (i / inner * length + j) * inner + i % inner; };
          for (int64_t j = 0; j < length; ++j)
            row[j] = x[at(j)];
          auto expected = softmaxOf(row.data(), length, logarithm);
          for (int64_t j = 0; j < length; ++j)
            row[j] = floatOfBF16(narrow[at(j)]);
          auto rounded = softmaxOf(row.data(), length, logarithm);
          for (int64_t j = 0; j < length; ++j) {
            double scale = std::max(logarithm ? 0.5 : 1e-2, std::fabs(expected[j]));
            ASSERT_NEAR(y[at(j)], expected[j], 1e-6 * scale) << inner << ' ' << length;
            ASSERT_NEAR(wideResult[at(j)], expected[j], 1e-13 * std::max(1.0, scale));
            ASSERT_NEAR(floatOfBF16(narrowResult[at(j)]), rounded[j],
                        5e-3 * std::max(1e-2, std::fabs(rounded[j])));
          }
        }
      }
}

/// NaN and rows of -inf alone spoil their own columns only.
TEST_P(Normalization, SoftmaxAcrossOfExtremes) {
  const int64_t inner = 20;
  std::vector<float> x(3 * inner, 1.0f), y(3 * inner);
  x[3] = x[inner + 3] = x[2 * inner + 3] = -INFINITY;
  x[inner + 5] = NAN;
  x[inner + 7] = -INFINITY;
  softmax(context, {{DType::F32, inner, 3, x.data(), 0, y.data(), 0}, false, false, inner});
  for (int64_t i = 0; i < 3 * inner; ++i)
    EXPECT_EQ(std::isnan(y[i]), i % inner == 3 || i % inner == 5) << i;
  EXPECT_EQ(y[inner + 7], 0);
  EXPECT_EQ(y[7], 0.5f);
}

TEST_P(Normalization, NormsOfRows) {
  for (int64_t columns : {1, 5, 16, 33, 768})
    for (bool mean : {true, false})
      for (bool affine : {true, false}) {
        const int64_t rows = 7;
        auto x = randomFloats(rows * columns, 1, 3), scale = randomFloats(columns, 2),
             bias = randomFloats(columns, 3);
        for (float &value : x)
          value += 10;
        std::vector<float> y(rows * columns);
        normalize(context, {{DType::F32, rows, columns, x.data(), columns, y.data(), columns},
                            mean,
                            1e-5,
                            affine ? scale.data() : nullptr,
                            affine ? bias.data() : nullptr});
        for (int64_t i = 0; i < rows; ++i) {
          double average = 0, variance = 0;
          for (int64_t j = 0; j < columns; ++j)
            average += x[i * columns + j] / double(columns);
          if (!mean)
            average = 0;
          for (int64_t j = 0; j < columns; ++j)
            variance += std::pow(x[i * columns + j] - average, 2) / double(columns);
          for (int64_t j = 0; j < columns; ++j) {
            double expected = (x[i * columns + j] - average) / std::sqrt(variance + 1e-5);
            expected = affine ? expected * scale[j] + bias[j] : expected;
            ASSERT_NEAR(y[i * columns + j], expected, 5e-6) << columns;
          }
        }
      }
}

TEST_P(Normalization, OtherTypes) {
  const int64_t n = 37;
  auto x = randomFloats(n, 1, 3);
  std::vector<double> wide(x.begin(), x.end()), result(n);
  softmax(context, {{DType::F64, 1, n, wide.data(), n, result.data(), n}, false});
  auto expected = softmaxOf(x.data(), n, false);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_NEAR(result[i], expected[i], 1e-15);
  std::vector<uint16_t> half(n), out(n);
  std::transform(x.begin(), x.end(), half.begin(), bf16OfFloat);
  std::vector<float> rounded(n);
  std::transform(half.begin(), half.end(), rounded.begin(), floatOfBF16);
  softmax(context, {{DType::BF16, 1, n, half.data(), n, out.data(), n}, false});
  expected = softmaxOf(rounded.data(), n, false);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_NEAR(floatOfBF16(out[i]), expected[i], expected[i] / 250);
  std::transform(x.begin(), x.end(), half.begin(), f16OfFloat);
  normalize(context, {{DType::F16, 1, n, half.data(), n, out.data(), n}, false, 0, nullptr, nullptr});
  double squares = 0;
  for (uint16_t bits : half)
    squares += std::pow(floatOfF16(bits), 2) / n;
  for (int64_t i = 0; i < n; ++i)
    ASSERT_NEAR(floatOfF16(out[i]), floatOfF16(half[i]) / std::sqrt(squares), 1e-3);
}

TEST_P(Normalization, WideFactorsOfNarrowRows) {
  const int64_t n = 37;
  auto x = randomFloats(n, 1, 3), scale = randomFloats(n, 2), bias = randomFloats(n, 3);
  for (DType type : {DType::BF16, DType::F16}) {
    auto bitsOf = type == DType::BF16 ? bf16OfFloat : f16OfFloat;
    auto floatOf = type == DType::BF16 ? floatOfBF16 : floatOfF16;
    std::vector<uint16_t> rows(n), out(n);
    std::transform(x.begin(), x.end(), rows.begin(), bitsOf);
    NormArgs args;
    args.rows = {type, 1, n, rows.data(), n, out.data(), n};
    args.subtractMean = false;
    args.epsilon = 0;
    args.scale = scale.data();
    args.bias = bias.data();
    args.hasWideFactors = true;
    normalize(context, args);
    double squares = 0;
    for (uint16_t bits : rows)
      squares += std::pow(floatOf(bits), 2) / n;
    for (int64_t i = 0; i < n; ++i) {
      double expected = floatOf(rows[i]) / std::sqrt(squares) * scale[i] + bias[i];
      double ulp = type == DType::BF16 ? 1.0 / 128 : 1.0 / 1024; // rounded once
      ASSERT_NEAR(floatOf(out[i]), expected, 1e-6 + std::abs(expected) * 0.51 * ulp) << i;
    }
  }
}

TEST_P(Normalization, EmptyIsLeftAlone) {
  softmax(context, {{DType::F32, 0, 5, nullptr, 5, nullptr, 5}, false});
  normalize(context, {{DType::F32, 5, 0, nullptr, 0, nullptr, 0}, true, 1e-5, nullptr, nullptr});
}

TORCHERE_EVERY_ISA(Normalization);

} // namespace
} // namespace torchere::cpu
