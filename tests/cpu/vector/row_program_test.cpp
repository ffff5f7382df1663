// Vector programs with reductions and elements of rows, in phases and in tiles of whole rows.
#include "program_runs.h"

#include <algorithm>
#include <cmath>

namespace torchere::cpu {
namespace {

class RowPrograms : public ProgramRuns {};

/// RMS norm, from its elementwise ops: x * rsqrt(mean(x^2) + eps) * weight, and the mean itself as a second
/// result.
TEST_P(RowPrograms, ReductionsOfRows) {
  for (auto [rows, columns, hasWholeRows] : {std::tuple<int64_t, int64_t, bool>{1, 1, false},
                                             {5, 7, false},
                                             {3, 513, false},
                                             {4, 3000, false},
                                             {1, 1, true},
                                             {700, 7, true},
                                             {300, 16, true},
                                             {19, 513, true},
                                             {4, 3000, true},
                                             {3, 9000, true}}) {
    auto x = randomFloats(rows * columns, 1), weight = randomFloats(columns, 2);
    std::vector<float> y(rows * columns), mean(rows);
    VectorBuilder builder;
    auto v = builder.input(DType::F32), w = builder.input(DType::F32);
    auto sum = builder.apply(VectorOp::ReduceSum, builder.apply(VectorOp::Multiply, v, v));
    auto average =
        builder.apply(VectorOp::Multiply, sum, builder.constant(DType::F32, 1.0 / double(columns)));
    auto shifted = builder.apply(VectorOp::Add, average, builder.constant(DType::F32, 1e-6));
    auto normal = builder.apply(VectorOp::Multiply, v, builder.apply(VectorOp::Rsqrt, shifted));
    builder.output(builder.apply(VectorOp::Multiply, normal, w), DType::F32);
    builder.output(average, DType::F32);
    run(builder, {rows, columns}, {{x.data(), {columns, 1}}, {weight.data(), {0, 1}}},
        {{y.data(), {columns, 1}}, {mean.data(), {1, 0}}}, hasWholeRows);
    for (int64_t i = 0; i < rows; ++i) {
      double total = 0;
      for (int64_t j = 0; j < columns; ++j)
        total += double(x[i * columns + j]) * x[i * columns + j];
      total /= double(columns);
      ASSERT_NEAR(mean[i], total, 1e-6);
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_NEAR(y[i * columns + j], x[i * columns + j] / std::sqrt(total + 1e-6) * weight[j], 1e-5);
    }
  }
}

/// softmax in three phases, over a row that is longer than a tile, and over whole rows.
TEST_P(RowPrograms, PhasesFollowEachOther) {
  for (bool hasWholeRows : {false, true})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 1300}, {700, 30}}) {
      auto x = randomFloats(rows * columns, 1, 5);
      std::vector<float> y(rows * columns);
      VectorBuilder builder;
      auto v = builder.input(DType::F32);
      auto shifted = builder.apply(VectorOp::Subtract, v, builder.apply(VectorOp::ReduceMaximum, v));
      auto exponential = builder.apply(VectorOp::Exponential, shifted);
      auto total = builder.apply(VectorOp::ReduceSum, exponential);
      builder.output(builder.apply(VectorOp::Divide, exponential, total), DType::F32);
      run(builder, {rows, columns}, {{x.data(), {columns, 1}}}, {{y.data(), {columns, 1}}}, hasWholeRows);
      for (int64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < columns; ++j)
          sum += std::exp(double(x[i * columns + j]));
        for (int64_t j = 0; j < columns; ++j) {
          double expected = std::exp(double(x[i * columns + j])) / sum;
          ASSERT_NEAR(y[i * columns + j], expected, 1e-8 + 1e-6 * expected);
        }
      }
    }
}

/// Elements of rows from memory and to it, in rows and columns that lie apart; sums of products, and
/// operands that are converted.
TEST_P(RowPrograms, ElementsOfWholeRows) {
  for (auto [outer, rows, columns] : {std::tuple<int64_t, int64_t, int64_t>{1, 5, 100}, {3, 70, 40}}) {
    int64_t n = outer * rows, apart = columns + 3;
    auto x = randomFloats(n * apart, 1), g = randomFloats(columns, 2);
    std::vector<uint16_t> given(n * 2), sums(n);
    for (int64_t i = 0; i < n * 2; ++i)
      given[i] = bf16OfFloat(float(i % 7) / 2);
    std::vector<float> y(n * columns);
    VectorBuilder builder;
    auto v = builder.input(DType::F32), w = builder.input(DType::F32), shift = builder.rowInput(DType::BF16);
    auto sum = builder.apply(VectorOp::ReduceSum, builder.apply(VectorOp::Multiply, v, w));
    auto rounded = builder.convert(builder.apply(VectorOp::Add, sum, shift), DType::BF16);
    builder.output(builder.apply(VectorOp::Subtract, v, rounded), DType::F32);
    builder.output(rounded, DType::BF16);
    run(builder, {outer, rows, columns},
        {{x.data(), {rows * apart, apart, 1}}, {g.data(), {0, 0, 1}}, {given.data(), {2, 2 * outer, 0}}},
        {{y.data(), {rows * columns, columns, 1}}, {sums.data(), {rows, 1, 0}}}, /*hasWholeRows=*/true);
    for (int64_t i = 0; i < n; ++i) {
      double total = floatOfBF16(given[2 * (i / rows) + 2 * outer * (i % rows)]);
      for (int64_t j = 0; j < columns; ++j)
        total += double(x[i * apart + j]) * g[j];
      ASSERT_NEAR(floatOfBF16(sums[i]), total, 0.004 * std::fabs(total) + 1e-5);
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(y[i * columns + j], x[i * apart + j] - floatOfBF16(sums[i])) << i << ", " << j;
    }
  }
}

/// What is summed may no longer be in its slot when the sum takes it.
TEST_P(RowPrograms, SumsOfWholeRowsKeepTheirOperands) {
  const int64_t rows = 20, columns = 50;
  auto x = randomFloats(rows * columns, 1);
  std::vector<float> y(rows * columns);
  VectorBuilder builder;
  auto v = builder.input(DType::F32);
  auto highest = builder.apply(VectorOp::ReduceMaximum, v);
  auto scaled = builder.apply(VectorOp::Multiply, v, highest); // the last that reads the maximum
  builder.output(builder.apply(VectorOp::Add, v, builder.apply(VectorOp::ReduceSum, scaled)), DType::F32);
  run(builder, {rows, columns}, {{x.data(), {columns, 1}}}, {{y.data(), {columns, 1}}},
      /*hasWholeRows=*/true);
  for (int64_t i = 0; i < rows; ++i) {
    const float *row = &x[i * columns];
    double total = 0;
    for (int64_t j = 0; j < columns; ++j)
      total += double(row[j]) * *std::max_element(row, row + columns);
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_NEAR(y[i * columns + j], row[j] + total, 1e-4);
  }
}

TEST_P(RowPrograms, ReductionsOfEveryTypeAndOfNothing) {
  using enum VectorOp;
  std::vector<int16_t> x = {3, -5, 7, 2}, y(4);
  VectorBuilder builder;
  auto v = builder.input(DType::I16);
  for (VectorOp op : {ReduceSum, ReduceProduct, ReduceMaximum, ReduceMinimum})
    builder.output(builder.apply(op, v), DType::I16);
  for (int64_t columns : {4, 0}) {
    run(builder, {1, columns}, {{x.data(), {4, 1}}},
        {{&y[0], {1, 0}}, {&y[1], {1, 0}}, {&y[2], {1, 0}}, {&y[3], {1, 0}}});
    EXPECT_EQ(y, columns ? (std::vector<int16_t>{7, -210, 7, -5})
                         : (std::vector<int16_t>{0, 1, INT16_MIN, INT16_MAX}));
  }
  std::vector<float> floats = {1, NAN, 3};
  float highest = 0;
  VectorBuilder maximum;
  maximum.output(maximum.apply(ReduceMaximum, maximum.input(DType::F32)), DType::F32);
  run(maximum, {1, 3}, {{floats.data(), {3, 1}}}, {{&highest, {1, 0}}});
  EXPECT_TRUE(std::isnan(highest));
}

TEST_P(RowPrograms, ElementsOfRows) {
  const int64_t rows = 3, columns = 600;
  auto x = randomFloats(rows * columns, 1), shift = randomFloats(rows, 2);
  std::vector<float> y(rows * columns);
  VectorBuilder builder;
  auto v = builder.input(DType::F32), s = builder.rowInput(DType::F32);
  builder.output(builder.apply(VectorOp::Add, v, builder.apply(VectorOp::Negate, s)), DType::F32);
  run(builder, {rows, columns}, {{x.data(), {columns, 1}}, {shift.data(), {1, 0}}},
      {{y.data(), {columns, 1}}});
  for (int64_t i = 0; i < rows * columns; ++i)
    ASSERT_EQ(y[i], x[i] - shift[i / columns]);
}

TEST_P(RowPrograms, ElementsOfRowsAreSpread) {
  VectorBuilder builder;
  auto row = builder.iota(DType::I32, 1);
  builder.output(builder.spread(builder.apply(VectorOp::Add, row, row)), DType::I32);
  builder.output(row, DType::I32); // one element a row
  std::vector<int32_t> wide(3 * 700), narrow(3);
  run(builder, {3, 700}, {}, {{wide.data(), {700, 1}}, {narrow.data(), {1, 0}}});
  for (int32_t i = 0; i < 3 * 700; ++i)
    ASSERT_EQ(wide[i], i / 700 * 2) << i;
  EXPECT_EQ(narrow, (std::vector<int32_t>{0, 1, 2}));
}

TORCHERE_EVERY_ISA(RowPrograms);

} // namespace
} // namespace torchere::cpu
