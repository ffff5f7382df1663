// Eigenvalues and singular values, by what they and their vectors multiply to.
#include "cpu/kernels/spectrum.h"
#include "matrix_values.h"

#include <functional>
#include <limits>

namespace torchere::cpu {
namespace {

class Spectrum : public EveryIsa {};

template <class T> using RealOf = decltype(std::real(T()));
template <class T> constexpr double kEpsilon = std::numeric_limits<RealOf<T>>::epsilon();

/// V has orthonormal columns: [rows][columns] from `first` on.
template <class T> void expectOrthonormal(const T *v, int64_t rows, int64_t columns) {
  double tolerance = 8 * kEpsilon<T> * static_cast<double>(rows);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      Complex sum = 0;
      for (int64_t k = 0; k < rows; ++k)
        sum += std::conj(Complex(v[k * columns + i])) * Complex(v[k * columns + j]);
      ASSERT_LT(std::abs(sum - Complex(i == j)), tolerance) << rows << ' ' << columns << ' ' << i << ' ' << j;
    }
}

/// Numbers of a matrix by row and column.
using Maker = std::function<Complex(int64_t row, int64_t column)>;

template <class T> T numberOf(Complex x) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(x.real());
  else
    return T(x);
}

/// A V = V S, and the same values without vectors.
template <class T>
void checkEigen(const Context &context, int64_t size, const Maker &maker, double scale = 1) {
  std::vector<T> input, vectors(size * size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      Complex x = i == j ? maker(i, i).real() : i > j ? maker(i, j) : std::conj(maker(j, i));
      input.push_back(numberOf<T>(x * scale));
    }
  std::vector<RealOf<T>> values(size), alone(size);
  findEigenvalues(context, {typeOf<T>, 1, size, input.data(), values.data(), vectors.data()});
  findEigenvalues(context, {typeOf<T>, 1, size, input.data(), alone.data(), nullptr});
  ASSERT_TRUE(std::is_sorted(values.begin(), values.end()));
  double norm = std::max(std::abs(values.front()), std::abs(values.back()));
  double tolerance = 8 * kEpsilon<T> * norm * std::sqrt(static_cast<double>(size));
  for (int64_t i = 0; i < size; ++i)
    ASSERT_LE(std::abs(values[i] - alone[i]), tolerance) << size << ' ' << i;
  expectOrthonormal(vectors.data(), size, size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      Complex sum = 0;
      for (int64_t k = 0; k < size; ++k)
        sum += at(input, i * size + k) * at(vectors, k * size + j);
      ASSERT_LE(std::abs(sum - at(vectors, i * size + j) * double(values[j])), tolerance) << size << ' ' << j;
    }
}

/// A = U S V^H, in both sizes of U and V^H, and the same values without them.
template <class T>
void checkSingular(const Context &context, int64_t rows, int64_t columns, const Maker &maker,
                   double scale = 1) {
  std::vector<T> input;
  for (int64_t i = 0; i < rows * columns; ++i)
    input.push_back(numberOf<T>(maker(i / columns, i % columns) * scale));
  const int64_t least = std::min(rows, columns);
  std::vector<RealOf<T>> alone(least);
  findSingularValues(context, {typeOf<T>, 1, rows, columns, false, input.data(), alone.data()});
  ASSERT_TRUE(std::is_sorted(alone.rbegin(), alone.rend()));
  double tolerance = 8 * kEpsilon<T> * alone.front() * std::sqrt(static_cast<double>(rows + columns));
  for (bool isFull : {false, true}) {
    int64_t uColumns = isFull ? rows : least, vRows = isFull ? columns : least;
    std::vector<T> u(rows * uColumns), vh(vRows * columns), v(vh.size());
    std::vector<RealOf<T>> values(least);
    findSingularValues(
        context, {typeOf<T>, 1, rows, columns, isFull, input.data(), values.data(), u.data(), vh.data()});
    for (int64_t i = 0; i < least; ++i)
      ASSERT_LE(std::abs(values[i] - alone[i]), tolerance) << rows << ' ' << columns << ' ' << i;
    ASSERT_GE(values.back(), 0);
    expectOrthonormal(u.data(), rows, uColumns);
    for (int64_t i = 0; i < vRows * columns; ++i)
      v[i % columns * vRows + i / columns] = numberOf<T>(std::conj(at(vh, i)));
    expectOrthonormal(v.data(), columns, vRows);
    for (int64_t i = 0; i < rows * columns; ++i) {
      Complex sum = 0;
      for (int64_t k = 0; k < least; ++k)
        sum += at(u, i / columns * uColumns + k) * double(values[k]) * at(vh, k * columns + i % columns);
      ASSERT_LE(std::abs(sum - at(input, i)), tolerance) << rows << ' ' << columns << ' ' << i;
    }
  }
}

Maker randomMaker(uint32_t seed) {
  auto numbers = std::make_shared<std::vector<Complex>>(randomNumbers<Complex>(200 * 200, seed));
  return [numbers](int64_t row, int64_t column) { return (*numbers)[row * 200 + column]; };
}

template <class T>
void checkMaker(const Context &context, int64_t rows, int64_t columns, const Maker &maker) {
  checkEigen<T>(context, std::max(rows, columns), maker);
  checkSingular<T>(context, rows, columns, maker);
}
void checkTypes(const Context &context, int64_t rows, int64_t columns, const Maker &maker) {
  checkMaker<float>(context, rows, columns, maker);
  checkMaker<double>(context, rows, columns, maker);
  checkMaker<std::complex<float>>(context, rows, columns, maker);
  checkMaker<std::complex<double>>(context, rows, columns, maker);
}

TEST_P(Spectrum, VectorsAndValuesMultiplyToTheMatrix) {
  uint32_t seed = 0;
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {2, 2},
                               {3, 3},
                               {4, 1},
                               {1, 5},
                               {5, 3},
                               {3, 7},
                               {16, 16},
                               {33, 20},
                               {20, 41},
                               {70, 70}})
    checkTypes(context, rows, columns, randomMaker(++seed));
  checkMaker<float>(context, 150, 130, randomMaker(1));
  checkMaker<double>(context, 90, 190, randomMaker(2));
}

TEST_P(Spectrum, MatricesOfSpecialForms) {
  auto random = randomMaker(7);
  const std::vector<Maker> makers = {
      [](int64_t, int64_t) { return 0.0; },
      [](int64_t, int64_t) { return 1.0; },
      [](int64_t i, int64_t j) { return double(i == j); },
      [](int64_t i, int64_t j) { return i == j ? 3.0 - double(i) : 0.0; },
      [](int64_t i, int64_t j) { return double(std::abs(i - j) == 1); }, // a diagonal of zeros
      [](int64_t i, int64_t j) { return double(i - j == 1); },
      [](int64_t i, int64_t j) { return double(j - i == 1); },
      [](int64_t i, int64_t j) { return 1.0 / double(i + j + 1); },
      [&](int64_t i, int64_t j) { return random(i, j) * std::pow(0.1, double(i + j)); },
      [&](int64_t i, int64_t j) { return random(i, j) * std::pow(0.1, double(40 - i - j)); },
      [&](int64_t i, int64_t j) { return random(i % 2, j % 2); },
      [&](int64_t i, int64_t j) { return i > 5 && i == j ? Complex(0) : random(i, j); },
      [&](int64_t i, int64_t j) { return i > 3 || j > 3 ? Complex(0) : random(i, j); },
      [&](int64_t i, int64_t j) { return Complex(0, 1) * (i == j ? 0.0 : random(i, j).real()); },
  };
  for (const Maker &maker : makers)
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2, 2}, {9, 9}, {12, 7}, {6, 20}})
      checkTypes(context, rows, columns, maker);
}

TEST_P(Spectrum, NumbersWhoseSquaresAreOutOfRange) {
  auto maker = randomMaker(3);
  for (double scale : {1e-30, 1e30}) {
    checkEigen<float>(context, 9, maker, scale);
    checkSingular<float>(context, 9, 5, maker, scale);
  }
  for (double scale : {1e-290, 1e290}) {
    checkEigen<Complex>(context, 9, maker, scale);
    checkSingular<double>(context, 5, 9, maker, scale);
  }
}

TEST_P(Spectrum, ABatchWithNumbersThatAreNotFinite) {
  const int64_t size = 6, count = size * size, batches = 4;
  auto input = randomNumbers<float>(batches * count, 5);
  for (int64_t i = 0; i < batches * count; ++i) {
    int64_t row = i / size % size, column = i % size;
    input[i] = input[i - i % count + std::min(row, column) * size + std::max(row, column)];
  }
  input[count + 7] = NAN;
  input[2 * count + 35] = INFINITY;
  std::vector<float> values(batches * size), vectors(batches * count), u(batches * count),
      vh(batches * count), sizes(batches * size), one(size);
  findEigenvalues(context, {DType::F32, batches, size, input.data(), values.data(), vectors.data()});
  findSingularValues(
      context, {DType::F32, batches, size, size, true, input.data(), sizes.data(), u.data(), vh.data()});
  for (int64_t i = 0; i < batches * count; ++i) {
    bool isWrong = i / count == 1 || i / count == 2;
    ASSERT_EQ(std::isnan(vectors[i]), isWrong);
    ASSERT_EQ(std::isnan(u[i]) && std::isnan(vh[i]), isWrong);
    ASSERT_EQ(std::isnan(values[i / size]) && std::isnan(sizes[i / size]), isWrong);
  }
  findEigenvalues(context, {DType::F32, 1, size, input.data() + 3 * count, one.data(), vectors.data()});
  EXPECT_EQ(one, std::vector<float>(values.end() - size, values.end()));
}

TEST_P(Spectrum, ResultsAreTheSameForAnyNumberOfThreads) {
  const int64_t size = 150;
  auto input = randomNumbers<float>(size * size, 3);
  for (int64_t i = 0; i < size * size; ++i)
    input[i] = input[std::min(i / size, i % size) * size + std::max(i / size, i % size)];
  std::vector<float> first;
  for (int threads : {1, 3}) {
    ThreadPool ownPool(threads);
    Context own{ownPool, GetParam()};
    std::vector<float> results(3 * size * size + 2 * size);
    float *values = results.data() + 3 * size * size;
    findEigenvalues(own, {DType::F32, 1, size, input.data(), values, results.data()});
    findSingularValues(own, {DType::F32, 1, size, size, false, input.data(), values + size,
                             results.data() + size * size, results.data() + 2 * size * size});
    if (first.empty())
      first = results;
    EXPECT_EQ(results, first) << threads;
  }
}

TORCHERE_EVERY_ISA(Spectrum);

} // namespace
} // namespace torchere::cpu
