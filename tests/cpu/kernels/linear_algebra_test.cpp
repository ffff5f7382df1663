// Factorizations and substitutions, by multiplying their results.
#include "cpu/kernels/householder.h"
#include "cpu/kernels/linear_algebra.h"
#include "matrix_values.h"

#include <numeric>

namespace torchere::cpu {
namespace {

class LinearAlgebra : public EveryIsa {};

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
  std::vector<int32_t> wrong(2, -1);
  cholesky(context, {DType::F32, 2, 2, true, input.data(), output.data(), wrong.data()});
  EXPECT_EQ(wrong, (std::vector<int32_t>{2, 0}));
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(std::isnan(output[i]));
  EXPECT_EQ(std::vector<float>(output.begin() + 4, output.end()), (std::vector<float>{2, 0, 0, 3}));
}

/// P A = L U, where no element of L is larger than one.
template <class T> void checkLu(const Context &context, int64_t rows, int64_t columns, double tolerance) {
  const int64_t count = rows * columns, batches = count < 200 ? 19 : 3, steps = std::min(rows, columns);
  auto input = randomNumbers<T>(batches * count, 9);
  std::vector<T> output(input.size());
  std::vector<int32_t> pivots(batches * steps), permutation(batches * rows), firstZero(batches, -1);
  factorizeLu(context, {typeOf<T>, batches, rows, columns, 1, input.data(), output.data(), pivots.data(),
                        permutation.data(), firstZero.data()});
  for (int64_t batch = 0; batch < batches; ++batch) {
    ASSERT_EQ(firstZero[batch], 0);
    std::vector<int32_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < steps; ++i)
      std::swap(order[i], order[pivots[batch * steps + i] - 1]);
    ASSERT_EQ(order, std::vector<int32_t>(permutation.begin() + batch * rows,
                                          permutation.begin() + (batch + 1) * rows));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Complex sum = 0;
        for (int64_t k = 0; k <= std::min({i, j, steps - 1}); ++k) {
          Complex left = k == i ? 1 : at(output, batch * count + i * columns + k);
          ASSERT_LE(std::max(std::abs(left.real()), std::abs(left.imag())), 1.5);
          sum += left * at(output, batch * count + k * columns + j);
        }
        ASSERT_LT(std::abs(sum - at(input, batch * count + order[i] * columns + j)),
                  tolerance * double(steps))
            << rows << ' ' << columns << ' ' << i << ' ' << j;
      }
  }
}

TEST_P(LinearAlgebra, LuFactorsMultiplyToTheRowsInOrder) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                               {3, 3},
                               {8, 5},
                               {5, 8},
                               {12, 12},
                               {13, 4},
                               {100, 100},
                               {130, 40},
                               {40, 130}}) {
    checkLu<float>(context, rows, columns, 3e-6);
    checkLu<double>(context, rows, columns, 1e-14);
    if (rows + columns < 250) {
      checkLu<std::complex<float>>(context, rows, columns, 3e-6);
      checkLu<std::complex<double>>(context, rows, columns, 1e-14);
    }
  }
}

TEST_P(LinearAlgebra, LuFactorsOfSingularMatrices) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> input = {1, 2, 2, 4, 0, 0, 0, 3, NAN, 1, 5, 2, infinity, 1, 1, 1}, output(16);
  std::vector<int32_t> pivots(8), permutation(8), firstZero(4, -1);
  factorizeLu(context, {DType::F32, 4, 2, 2, 0, input.data(), output.data(), pivots.data(),
                        permutation.data(), firstZero.data()});
  EXPECT_EQ(firstZero, (std::vector<int32_t>{2, 1, 0, 0}));
  EXPECT_EQ(std::vector<float>(output.begin(), output.begin() + 8),
            (std::vector<float>{2, 4, 0.5, 0, 0, 0, 0, 3}));
  EXPECT_TRUE(std::isnan(output[8]) && std::isnan(output[10])); // in its place, as no element is the greatest
  EXPECT_EQ(pivots[4], 0);
  EXPECT_EQ(output[14], 0); // 1 / infinity
}

/// Q R = A from the reflectors, and Q^H takes R's place back.
template <class T> void checkQr(const Context &context, int64_t rows, int64_t columns, double tolerance) {
  const int64_t batches = 2, steps = std::min(rows, columns), count = rows * columns;
  auto input = randomNumbers<T>(batches * count, 11);
  for (int64_t i = 0; i < rows; ++i) // a column that needs no reflector
    input[i * columns] = i == 0 ? T(2) : T(0);
  std::vector<T> packed(input.size()), tau(batches * steps), product(input.size()), back(input.size());
  factorizeQr(context, {typeOf<T>, batches, rows, columns, input.data(), packed.data(), tau.data()});
  EXPECT_EQ(tau[0], T(0));
  EXPECT_EQ(packed[0], T(2));
  std::vector<T> upper = packed;
  for (int64_t i = 0; i < batches * count; ++i)
    if (i % count / columns > i % columns)
      upper[i] = 0;
  ReflectorsArgs args{typeOf<T>, batches,       rows,       columns,      columns,       steps,
                      false,     packed.data(), tau.data(), upper.data(), product.data()};
  applyReflectors(context, args);
  args.isAdjoint = true;
  args.input = input.data();
  args.output = back.data();
  applyReflectors(context, args);
  for (int64_t i = 0; i < batches * count; ++i) {
    ASSERT_LT(std::abs(at(product, i) - at(input, i)), tolerance * double(steps)) << rows << ' ' << columns;
    ASSERT_LT(std::abs(at(back, i) - at(upper, i)), tolerance * double(steps)) << rows << ' ' << columns;
  }
  for (int64_t i = 0; i < batches * count; ++i) // R has a real diagonal
    if (i % count / columns == i % columns) {
      ASSERT_EQ(at(packed, i).imag(), 0);
    }
}

TEST_P(LinearAlgebra, QrFactorsMultiplyToTheMatrix) {
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{2, 1}, {3, 3}, {9, 4}, {4, 9}, {90, 70}, {70, 150}}) {
    checkQr<float>(context, rows, columns, 3e-6);
    checkQr<double>(context, rows, columns, 1e-14);
    if (rows < 50) {
      checkQr<std::complex<float>>(context, rows, columns, 3e-6);
      checkQr<std::complex<double>>(context, rows, columns, 1e-14);
    }
  }
}

TEST_P(LinearAlgebra, FactorsAreTheSameForAnyNumberOfThreads) {
  const int64_t size = 150;
  auto input = randomNumbers<float>(size * size, 3);
  std::vector<float> first;
  for (int threads : {1, 3}) {
    ThreadPool ownPool(threads);
    Context own{ownPool, GetParam()};
    std::vector<float> results(2 * size * size + size);
    std::vector<int32_t> rows(2 * size + 1);
    factorizeLu(own, {DType::F32, 1, size, size, 0, input.data(), results.data(), rows.data(),
                      rows.data() + size, rows.data() + 2 * size});
    factorizeQr(own, {DType::F32, 1, size, size, input.data(), results.data() + size * size,
                      results.data() + 2 * size * size});
    if (first.empty())
      first = results;
    EXPECT_EQ(results, first) << threads;
  }
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
    for (auto [size, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {12, 2}, {5, 60}, {50, 4}, {55, 66}}) {
      TriangularSolveArgs args;
      args.batches = size < 20 ? 19 : 2;
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
