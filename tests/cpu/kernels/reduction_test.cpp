// Reductions against plain loops.
#include "cpu/kernels/reduction.h"
#include "test_values.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace torchere::cpu {
namespace {

class Reductions : public EveryIsa {
protected:
  template <class T>
  std::vector<T> run(DType type, Reduction reduction, const std::vector<T> &input, std::vector<int64_t> dims,
                     std::vector<int64_t> strides, std::vector<bool> reduced, const T *initial = nullptr,
                     double scale = 1) {
    ReductionArgs args;
    args.type = type;
    args.reduction = reduction;
    args.rank = static_cast<int>(dims.size());
    int64_t outputs = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      args.dims[i] = dims[i];
      args.strides[i] = strides[i];
      args.reduced[i] = reduced[i];
      outputs *= reduced[i] ? 1 : dims[i];
    }
    std::vector<T> output(outputs);
    args.input = input.data();
    args.initial = initial;
    args.output = output.data();
    args.scale = scale;
    reduce(context, args);
    return output;
  }
  static std::vector<int64_t> contiguous(const std::vector<int64_t> &dims) {
    std::vector<int64_t> strides(dims.size());
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= dims[i])
      strides[i] = stride;
    return strides;
  }
};

/// Every set of dimensions, contiguous and with the strides of a transpose.
TEST_P(Reductions, AnyDimensions) {
  for (std::vector<int64_t> dims : {std::vector<int64_t>{3, 4, 35, 33}, {1, 70, 1, 129}, {200, 2, 3, 1}}) {
    int64_t count = dims[0] * dims[1] * dims[2] * dims[3];
    auto input = randomFloats(count);
    for (int mask = 0; mask < 16; ++mask)
      for (bool transposed : {false, true}) {
        auto strides = contiguous(dims);
        if (transposed) {
          auto back = contiguous({dims[3], dims[1], dims[2], dims[0]});
          strides = {back[3], back[1], back[2], back[0]};
        }
        std::vector<bool> reduced;
        for (int i = 0; i < 4; ++i)
          reduced.push_back(mask >> i & 1);
        auto output = run(DType::F32, Reduction::Sum, input, dims, strides, reduced);
        auto highest = run(DType::F32, Reduction::Max, input, dims, strides, reduced);
        std::vector<double> sums(output.size());
        std::vector<float> most(output.size(), -INFINITY);
        for (int64_t i = 0; i < count; ++i) {
          int64_t rest = i, from = 0, to = 0, stride = 1;
          for (int j = 3; j >= 0; --j) {
            int64_t at = rest % dims[j];
            rest /= dims[j];
            from += at * strides[j];
            if (!reduced[j]) {
              to += at * stride;
              stride *= dims[j];
            }
          }
          sums[to] += input[from];
          most[to] = std::max(most[to], input[from]);
        }
        for (size_t i = 0; i < sums.size(); ++i)
          ASSERT_NEAR(output[i], sums[i], 1e-5 + 2e-8 * double(count) / double(sums.size()))
              << mask << transposed;
        ASSERT_EQ(highest, most);
      }
  }
}

TEST_P(Reductions, LongSumsStayAccurate) {
  std::vector<float> input(1 << 21, 0.1f);
  int64_t n = int64_t(input.size());
  auto sum = run(DType::F32, Reduction::Sum, input, {n}, {1}, {true});
  EXPECT_NEAR(sum[0], double(0.1f) * double(n), 1e-6 * 0.1 * double(n));
  auto mean = run(DType::F32, Reduction::Sum, input, {n / 2, 2}, {2, 1}, {true, false},
                  static_cast<const float *>(nullptr), 2.0 / double(n));
  EXPECT_NEAR(mean[0], 0.1, 1e-7);
  EXPECT_NEAR(mean[1], 0.1, 1e-7);
}

/// Columns that are fewer than the lanes of vectors: several rows are one of them.
TEST_P(Reductions, NarrowColumnsAcross) {
  for (int64_t columns = 1; columns < 40; ++columns)
    for (int64_t rows : {1, 7, 8, 100, 3001}) {
      auto input = randomFloats(rows * columns);
      std::vector<int8_t> bytes;
      for (float x : input)
        bytes.push_back(static_cast<int8_t>(100 * x));
      auto sums = run(DType::F32, Reduction::Sum, input, {rows, columns}, {columns, 1}, {true, false});
      auto most = run(DType::I8, Reduction::Max, bytes, {rows, columns}, {columns, 1}, {true, false});
      for (int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        int8_t largest = -128;
        for (int64_t row = 0; row < rows; ++row) {
          sum += input[row * columns + column];
          largest = std::max(largest, bytes[row * columns + column]);
        }
        ASSERT_NEAR(sums[column], sum, 1e-4) << rows << " " << columns;
        ASSERT_EQ(most[column], largest) << rows << " " << columns;
      }
    }
}

/// A row has the same sum whether it is computed with others or alone.
TEST_P(Reductions, RowsAreJoinedInTheSameOrderAsAlone) {
  for (int64_t columns : {8, 13, 15, 64, 250, 256, 257})
    for (int64_t rows : {1, 7, 8, 21, 900}) {
      auto input = randomFloats(rows * columns);
      float initial = 0.3f;
      auto sums =
          run(DType::F32, Reduction::Sum, input, {rows, columns}, {columns, 1}, {false, true}, &initial);
      for (int64_t row = 0; row < rows; ++row) {
        std::vector<float> alone(&input[row * columns], &input[row * columns] + columns);
        ASSERT_EQ(sums[row], run(DType::F32, Reduction::Sum, alone, {1, columns}, {columns, 1}, {false, true},
                                 &initial)[0])
            << rows << " " << columns;
        ASSERT_NEAR(sums[row], std::accumulate(alone.begin(), alone.end(), 0.3), 1e-4);
      }
    }
}

/// Rows shorter than a vector have the sum of a loop.
TEST_P(Reductions, ShortRowsAreJoinedInTheirOrder) {
  for (int64_t columns : {1, 2, 3, 7})
    for (int64_t rows : {1, 7, 8, 21, 9000}) {
      auto input = randomFloats(rows * columns);
      float initial = 0.3f;
      std::vector<float> expected;
      for (int64_t row = 0; row < rows; ++row) {
        float sum = input[row * columns];
        for (int64_t i = 1; i < columns; ++i)
          sum += input[row * columns + i];
        expected.push_back(sum + initial);
      }
      ASSERT_EQ(
          run(DType::F32, Reduction::Sum, input, {rows, columns}, {columns, 1}, {false, true}, &initial),
          expected)
          << rows << " " << columns;
      input[(rows - 1) * columns] = NAN;
      auto most = run(DType::F32, Reduction::Max, input, {rows, columns}, {columns, 1}, {false, true});
      for (int64_t row = 0; row < rows - 1; ++row)
        ASSERT_EQ(most[row], *std::max_element(&input[row * columns], &input[row * columns] + columns));
      ASSERT_TRUE(std::isnan(most[rows - 1])) << rows << " " << columns;
    }
}

TEST_P(Reductions, TypesAndInitialElements) {
  std::vector<int8_t> bytes = {100, 100, -3};
  int8_t ten = 10;
  EXPECT_EQ(run(DType::I8, Reduction::Sum, bytes, {3}, {1}, {true}, &ten)[0], int8_t(207 - 256));
  EXPECT_EQ(run(DType::I8, Reduction::Min, bytes, {3}, {1}, {true})[0], -3);
  EXPECT_EQ(run(DType::I8, Reduction::Max, bytes, {3}, {1}, {true}, &ten)[0], 100);
  std::vector<uint8_t> flags = {1, 0, 1};
  EXPECT_EQ(run(DType::Bool, Reduction::And, flags, {3}, {1}, {true})[0], 0);
  EXPECT_EQ(run(DType::Bool, Reduction::Or, flags, {3}, {1}, {true})[0], 1);
  std::vector<uint64_t> wide = {1, UINT64_MAX, 7};
  EXPECT_EQ(run(DType::U64, Reduction::Max, wide, {3}, {1}, {true})[0], UINT64_MAX);
  std::vector<double> doubles = {2, 3, 4};
  EXPECT_EQ(run(DType::F64, Reduction::Product, doubles, {3}, {1}, {true})[0], 24);
}

TEST_P(Reductions, OfNothing) {
  std::vector<float> none;
  EXPECT_EQ(run(DType::F32, Reduction::Sum, none, {2, 0}, {0, 1}, {false, true}), (std::vector<float>{0, 0}));
  EXPECT_EQ(run(DType::F32, Reduction::Max, none, {0}, {1}, {true})[0], -INFINITY);
  EXPECT_EQ(run(DType::F32, Reduction::Sum, none, {0, 3}, {3, 1}, {false, true}).size(), 0u);
  std::vector<int16_t> shorts;
  EXPECT_EQ(run(DType::I16, Reduction::Min, shorts, {0}, {1}, {true})[0], INT16_MAX);
  std::vector<float> one = {5};
  EXPECT_EQ(run(DType::F32, Reduction::Sum, one, {}, {}, {})[0], 5);
}

TEST_P(Reductions, NotANumberWins) {
  for (int at : {0, 5, 99}) {
    std::vector<float> input(100, 1);
    input[at] = NAN;
    EXPECT_TRUE(std::isnan(run(DType::F32, Reduction::Max, input, {100}, {1}, {true})[0]));
    EXPECT_TRUE(std::isnan(run(DType::F32, Reduction::Min, input, {50, 2}, {2, 1}, {true, false})[at % 2]));
  }
}

TEST_P(Reductions, HalvesAreRoundedOnce) {
  std::vector<uint16_t> input(1000, bf16OfFloat(0.1f));
  auto sum = run(DType::BF16, Reduction::Sum, input, {1000}, {1}, {true});
  EXPECT_EQ(sum[0], bf16OfFloat(1000 * floatOfBF16(input[0])));
  std::vector<uint16_t> halves(200, f16OfFloat(0.25f));
  auto mean = run(DType::F16, Reduction::Sum, halves, {100, 2}, {2, 1}, {true, false},
                  static_cast<const uint16_t *>(nullptr), 0.01);
  EXPECT_EQ(mean, (std::vector<uint16_t>{halves[0], halves[0]}));
}

TEST_P(Reductions, TheSameForAnyNumberOfThreads) {
  auto input = randomFloats(300000);
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    ThreadPool other(threads);
    float sum = 0;
    ReductionArgs args;
    args.rank = 1;
    args.dims[0] = 300000;
    args.strides[0] = 1;
    args.reduced[0] = true;
    args.input = input.data();
    args.output = &sum;
    reduce({other, context.isa}, args);
    first.push_back(sum);
    EXPECT_EQ(first.front(), sum);
  }
}

TORCHERE_EVERY_ISA(Reductions);

} // namespace
} // namespace torchere::cpu
