// Factorizations and substitutions, by multiplying their results.
#include "cpu/kernels/linear_algebra.h"
#include "test_values.h"

#include <complex>

namespace torchere::cpu {
namespace {

using Complex = std::complex<double>;

class LinearAlgebra : public EveryIsa {};

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

Complex conjugate(Complex x, bool isConjugate) {
  return isConjugate ? std::conj(x) : x;
}

/// Hermitian with eigenvalues away from zero.
template <class T> std::vector<T> positiveMatrix(int64_t size, uint32_t seed) {
  auto half = randomNumbers<T>(size * size, seed);
  std::vector<T> matrix(half.size());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      Complex sum = i == j ? static_cast<double>(size) : 0.0;
      for (int64_t k = 0; k < size; ++k)
        sum += Complex(half[i * size + k]) * std::conj(Complex(half[j * size + k]));
      matrix[i * size + j] =
          number<T>(static_cast<float>(sum.real()), static_cast<float>(i == j ? 0 : sum.imag()));
    }
  return matrix;
}

template <class T> void checkCholesky(const Context &context, int64_t size, bool isLower, double tolerance) {
  const int64_t batches = 2, count = size * size;
  std::vector<T> input, output(batches * count);
  for (uint32_t batch = 0; batch < batches; ++batch) {
    auto matrix = positiveMatrix<T>(size, batch + 1);
    input.insert(input.end(), matrix.begin(), matrix.end());
  }
  std::vector<T> given = input; // of which the other triangle is not read
  for (int64_t i = 0; i < batches * count; ++i)
    if (int64_t row = i % count / size, column = i % size; isLower ? column > row : column < row)
      given[i] = number<T>(NAN, NAN);
  cholesky(context, {typeOf<T>, batches, size, isLower, given.data(), output.data()});
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j) {
        auto at = [&](int64_t row, int64_t column) {
          return Complex(output[batch * count + row * size + column]);
        };
        Complex sum = 0;
        for (int64_t k = 0; k < size; ++k)
          sum += isLower ? at(i, k) * std::conj(at(j, k)) : std::conj(at(k, i)) * at(k, j);
        ASSERT_LT(std::abs(sum - Complex(input[batch * count + i * size + j])), tolerance * double(size))
            << size << ' ' << i << ' ' << j;
        if (isLower ? j > i : j < i) {
          ASSERT_EQ(at(i, j), 0.0);
        }
      }
}

TEST_P(LinearAlgebra, FactorsMultiplyToTheMatrix) {
  for (int64_t size : {1, 2, 7, 49, 100})
    for (bool isLower : {true, false}) {
      checkCholesky<float>(context, size, isLower, 3e-6);
      checkCholesky<double>(context, size, isLower, 1e-14);
      if (size < 50) {
        checkCholesky<std::complex<float>>(context, size, isLower, 3e-6);
        checkCholesky<std::complex<double>>(context, size, isLower, 1e-14);
      }
    }
}

TEST_P(LinearAlgebra, OtherMatricesHaveNoFactor) {
  std::vector<float> input = {1, 2, 2, 1, 4, 0, 0, 9}, output(8);
  cholesky(context, {DType::F32, 2, 2, true, input.data(), output.data()});
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(std::isnan(output[i]));
  EXPECT_EQ(std::vector<float>(output.begin() + 4, output.end()), (std::vector<float>{2, 0, 0, 3}));
}

template <class T> void checkSolve(const Context &context, TriangularSolveArgs args, double tolerance) {
  int64_t size = args.size, columns = args.columns;
  args.type = typeOf<T>;
  auto a = randomNumbers<T>(args.batches * size * size, 5),
       b = randomNumbers<T>(args.batches * size * columns, 6);
  for (int64_t i = 0; i < args.batches * size * size; ++i) {
    int64_t row = i / size % size, column = i % size;
    a[i] *= T(1 / static_cast<double>(size));
    if (row == column)
      a[i] += T(2);
    if ((args.isLower ? column > row : column < row) || (args.isUnit && row == column))
      a[i] = number<T>(NAN, NAN); // not read
  }
  std::vector<T> x(b.size());
  args.a = a.data();
  args.b = b.data();
  args.output = x.data();
  solveTriangular(context, args);
  for (int64_t batch = 0; batch < args.batches; ++batch) {
    auto triangle = [&](int64_t row, int64_t column) -> Complex {
      if (args.isTransposed)
        std::swap(row, column);
      if (args.isUnit && row == column)
        return 1.0;
      if (args.isLower ? column > row : column < row)
        return 0.0;
      return conjugate(Complex(a[(batch * size + row) * size + column]), args.isConjugate);
    };
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        auto place = [&](int64_t row) {
          return batch * size * columns + (args.isLeft ? row * columns + j : j * size + row);
        };
        Complex sum = 0;
        for (int64_t k = 0; k < size; ++k)
          sum += (args.isLeft ? triangle(i, k) : triangle(k, i)) * Complex(x[place(k)]);
        ASSERT_LT(std::abs(sum - Complex(b[place(i)])), tolerance) << size << ' ' << columns << ' ' << i;
      }
  }
}

TEST_P(LinearAlgebra, SolutionsSolve) {
  for (int form = 0; form < 32; ++form)
    for (auto [size, columns] : {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {50, 4}, {55, 66}}) {
      TriangularSolveArgs args;
      args.batches = 2;
      args.size = size;
      args.columns = columns;
      if ((form & 16) && !(form & 8))
        continue; // conjugates are of transposes alone
      args.isLeft = form & 1;
      args.isLower = form & 2;
      args.isUnit = form & 4;
      args.isTransposed = form & 8;
      args.isConjugate = args.isTransposed && (form & 16);
      checkSolve<float>(context, args, 2e-5);
      checkSolve<double>(context, args, 1e-13);
      if (columns < 10)
        checkSolve<std::complex<double>>(context, args, 1e-13);
    }
}

TORCHERE_EVERY_ISA(LinearAlgebra);

} // namespace
} // namespace torchere::cpu
