// Vector programs against plain loops in f64, over shapes, strides, types and special values.
#include "../kernels/test_values.h"
#include "base/random_blocks.h"
#include "cpu/vector/vector_plan.h"

#include <cmath>
#include <functional>
#include <limits>

namespace torchere::cpu {
namespace {

/// An operand in memory; strides in elements.
struct Operand {
  void *data = nullptr;
  VectorStrides strides = {};
};

void runProgram(const Context &context, const VectorProgram &program, const std::vector<int64_t> &dims,
                const std::vector<Operand> &inputs, const std::vector<Operand> &outputs) {
  VectorWalk walk;
  walk.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), walk.dims.begin());
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Operand &input : inputs) {
    walk.inputs.push_back(input.strides);
    from.push_back(input.data);
  }
  for (const Operand &output : outputs) {
    walk.outputs.push_back(output.strides);
    to.push_back(output.data);
  }
  VectorPlan(program, context.isa, walk).run(context, from.data(), to.data());
}

constexpr float kInf = std::numeric_limits<float>::infinity();

class Vector : public EveryIsa {
protected:
  template <class T, class R>
  std::vector<R> apply1(VectorOp op, DType type, DType result, const std::vector<T> &x) {
    VectorBuilder builder;
    builder.output(builder.apply(op, builder.input(type)), result);
    std::vector<R> y(x.size());
    run(builder, {int64_t(x.size())}, {{const_cast<T *>(x.data()), {1}}}, {{y.data(), {1}}});
    return y;
  }
  template <class T, class R>
  std::vector<R> apply2(VectorOp op, DType type, DType result, const std::vector<T> &x,
                        const std::vector<T> &y) {
    VectorBuilder builder;
    auto a = builder.input(type), b = builder.input(type);
    builder.output(builder.apply(op, a, b), result);
    std::vector<R> z(x.size());
    run(builder, {int64_t(x.size())}, {{const_cast<T *>(x.data()), {1}}, {const_cast<T *>(y.data()), {1}}},
        {{z.data(), {1}}});
    return z;
  }
  void run(const VectorBuilder &builder, std::vector<int64_t> dims, std::vector<Operand> inputs,
           std::vector<Operand> outputs, bool hasWholeRows = false) {
    auto program = hasWholeRows ? builder.finishWholeRows() : builder.finish();
    ASSERT_TRUE(program.has_value()) << program.error().message;
    ASSERT_TRUE(program->verify().has_value()) << program->verify().error().message;
    runProgram(context, *program, dims, inputs, outputs);
  }
};

struct Elementary {
  VectorOp op;
  double (*function)(double);
  float low, high;
  double units = 3; ///< in the last place
};

/// Within these units, and equal where f32 has no digits: infinities, NaN, zeros with their
/// sign.
TEST_P(Vector, ElementaryFunctions) {
  using enum VectorOp;
  const Elementary functions[] = {
      {Exponential, std::exp, -103, 88.7f},
      {ExponentialMinusOne, std::expm1, -20, 88},
      {ExponentialMinusOne, std::expm1, -0.01f, 0.01f},
      {Log, std::log, 1e-6f, 10},
      {LogPlusOne, std::log1p, -0.99f, 3},
      {Logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, -30, 30},
      {Sine, std::sin, -100, 100},
      {Cosine, std::cos, -100, 100},
      {Tan, std::tan, -1.5f, 1.5f},
      {Tanh, std::tanh, -10, 10},
      {Tanh, std::tanh, -1e-3f, 1e-3f},
      {Erf, std::erf, -5, 5},
      {Erfc, std::erfc, -5, 9, 4},
      {Erfc, std::erfc, -1, 1, 4},
      {Sqrt, std::sqrt, 0, 1e6f},
      {Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-3f, 1e6f},
      {Cbrt, std::cbrt, -100, 100},
      {Floor, std::floor, -20, 20},
      {Ceil, std::ceil, -20, 20},
      {RoundNearestEven, std::nearbyint, -20, 20},
      {RoundNearestAfz, std::round, -20, 20},
      {Abs, std::fabs, -2, 2},
  };
  for (const Elementary &f : functions) {
    std::vector<float> x;
    for (int i = 0; i <= 2000; ++i)
      x.push_back(f.low + (f.high - f.low) * float(i) / 2000);
    for (float special :
         {0.0f, -0.0f, kInf, -kInf, NAN, 1e-40f, -1e-40f, 0.5f, -0.5f, 2.5f, 1e30f, -1e30f, 9000.0f})
      x.push_back(special);
    auto y = apply1<float, float>(f.op, DType::F32, DType::F32, x);
    for (size_t i = 0; i < x.size(); ++i) {
      double exact = f.function(x[i]);
      float expected = float(exact);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[i])) << int(f.op) << " of " << x[i] << " gives " << y[i];
      } else if (std::isinf(expected) || expected == 0) {
        ASSERT_EQ(y[i], expected) << int(f.op) << " of " << x[i];
        ASSERT_EQ(std::signbit(y[i]), std::signbit(expected)) << int(f.op) << " of " << x[i];
      } else {
        double unit = std::nextafter(std::fabs(expected), kInf) - std::fabs(expected);
        ASSERT_LE(std::fabs(y[i] - exact), f.units * unit) << int(f.op) << " of " << x[i];
      }
    }
  }
}

TEST_P(Vector, Powers) {
  std::vector<float> bases = {0.0f,  -0.0f, 1.0f, -1.0f,  2.0f, -2.0f, kInf,
                              -kInf, NAN,   0.3f, 1e-40f, 7.5f, 1e20f},
                     x, y;
  for (float base : bases)
    for (float exponent : {0.0f, 1.0f, -1.0f, 2.0f, 3.0f, 0.5f, -0.5f, kInf, -kInf, NAN, 30.25f, -41.5f})
      x.push_back(base), y.push_back(exponent);
  for (int i = 0; i < 500; ++i)
    x.push_back(0.01f * float(i + 1)), y.push_back(float(i % 37) - 18.3f);
  auto z = apply2<float, float>(VectorOp::Power, DType::F32, DType::F32, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    float expected = float(std::pow(double(x[i]), double(y[i])));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(z[i])) << x[i] << " ^ " << y[i];
    else if (std::isinf(expected))
      ASSERT_EQ(z[i], expected) << x[i] << " ^ " << y[i];
    else if (std::fabs(expected) < 1e-37f)
      ASSERT_NEAR(z[i], expected, 1e-44) << x[i] << " ^ " << y[i];
    else
      ASSERT_NEAR(z[i], expected, 1.5e-7 * std::fabs(expected)) << x[i] << " ^ " << y[i];
  }
}

TEST_P(Vector, ExtremesAndSigns) {
  using enum VectorOp;
  std::vector<float> a = {1, NAN, 1, 0.0f, -0.0f, kInf, -3}, b = {2, 1, NAN, -0.0f, 0.0f, -kInf, -3};
  auto high = apply2<float, float>(Maximum, DType::F32, DType::F32, a, b);
  auto low = apply2<float, float>(Minimum, DType::F32, DType::F32, a, b);
  EXPECT_TRUE(std::isnan(high[1]) && std::isnan(high[2]) && std::isnan(low[1]) && std::isnan(low[2]));
  EXPECT_FALSE(std::signbit(high[3]) || std::signbit(high[4]));
  EXPECT_TRUE(std::signbit(low[3]) && std::signbit(low[4]));
  EXPECT_EQ(high[5], kInf);
  EXPECT_EQ(low[6], -3);
  auto sign = apply1<float, float>(Sign, DType::F32, DType::F32, {-2.0f, 0.0f, -0.0f, 5.0f, NAN});
  EXPECT_EQ(sign[0], -1);
  EXPECT_TRUE(std::signbit(sign[2]) && !std::signbit(sign[1]) && std::isnan(sign[4]));
  auto finite = apply1<float, uint8_t>(IsFinite, DType::F32, DType::Bool, {1.0f, kInf, -kInf, NAN});
  EXPECT_EQ(finite, (std::vector<uint8_t>{1, 0, 0, 0}));
}

TEST_P(Vector, IntegersWrapAndDivide) {
  using enum VectorOp;
  std::vector<int32_t> a = {7, -7, INT32_MIN, 5, INT32_MAX}, b = {2, 2, -1, 0, 2};
  EXPECT_EQ((apply2<int32_t, int32_t>(Divide, DType::I32, DType::I32, a, b)),
            (std::vector<int32_t>{3, -3, INT32_MIN, -1, INT32_MAX / 2}));
  EXPECT_EQ((apply2<int32_t, int32_t>(Remainder, DType::I32, DType::I32, a, b)),
            (std::vector<int32_t>{1, -1, 0, 5, 1}));
  EXPECT_EQ((apply2<int32_t, int32_t>(Add, DType::I32, DType::I32, a, b))[4], INT32_MIN + 1);
  std::vector<int8_t> c = {-128, 127, 3, -2}, d = {1, 9, 3, 63};
  EXPECT_EQ((apply2<int8_t, int8_t>(ShiftRightArithmetic, DType::I8, DType::I8, c, d)),
            (std::vector<int8_t>{-64, 0, 0, -1}));
  EXPECT_EQ((apply2<int8_t, int8_t>(ShiftLeft, DType::I8, DType::I8, c, d)),
            (std::vector<int8_t>{0, 0, 24, 0}));
  EXPECT_EQ((apply2<int8_t, int8_t>(Power, DType::I8, DType::I8, {3, -2, -1, 5}, {3, 3, -3, -1})),
            (std::vector<int8_t>{27, -8, -1, 0}));
  EXPECT_EQ((apply1<uint16_t, uint16_t>(CountLeadingZeros, DType::U16, DType::U16, {0, 1, 0x8000})),
            (std::vector<uint16_t>{16, 15, 0}));
  EXPECT_EQ((apply1<int64_t, int64_t>(PopulationCount, DType::I64, DType::I64, {-1, 5})),
            (std::vector<int64_t>{64, 2}));
}

template <class From, class To> To converted(const Context &context, From x, DType from, DType to) {
  VectorBuilder builder;
  builder.output(builder.convert(builder.input(from), to), to);
  To y{};
  runProgram(context, *builder.finish(), {1}, {{&x, {1}}}, {{&y, {1}}});
  return y;
}

TEST_P(Vector, Conversions) {
  EXPECT_EQ((converted<float, int32_t>(context, -2.9f, DType::F32, DType::I32)), -2);
  EXPECT_EQ((converted<float, int32_t>(context, 1e20f, DType::F32, DType::I32)), INT32_MAX);
  EXPECT_EQ((converted<double, int64_t>(context, -1e30, DType::F64, DType::I64)), INT64_MIN);
  EXPECT_EQ((converted<float, uint8_t>(context, NAN, DType::F32, DType::U8)), 0);
  EXPECT_EQ((converted<float, uint8_t>(context, 0.5f, DType::F32, DType::Bool)), 1);
  EXPECT_EQ((converted<int64_t, int8_t>(context, 300, DType::I64, DType::I8)), 44);
  EXPECT_EQ((converted<uint64_t, double>(context, UINT64_MAX, DType::U64, DType::F64)),
            18446744073709551616.0);
  EXPECT_EQ((converted<float, uint16_t>(context, 1.00390625f, DType::F32, DType::BF16)), bf16OfFloat(1.0f));
  EXPECT_EQ((converted<float, uint16_t>(context, 65520.0f, DType::F32, DType::F16)), 0x7c00);
  for (float x : {1e-7f, 6e-8f, 3e-8f, 65519.0f, 1.0009766f, -0.0f, 2049.0f, 6.1e-5f, 6.05e-5f})
    EXPECT_EQ((converted<float, uint16_t>(context, x, DType::F32, DType::F16)), f16OfFloat(x)) << x;
}

TEST_P(Vector, HalvesOfEveryLength) {
  for (int64_t n : {1, 3, 16, 17, 100, 1500}) {
    std::vector<uint16_t> x(n), y(n);
    for (int64_t i = 0; i < n; ++i)
      x[i] = f16OfFloat(float(i) * 0.37f - 20);
    VectorBuilder builder;
    auto v = builder.input(DType::F16);
    builder.output(builder.apply(VectorOp::Multiply, v, v), DType::F16);
    run(builder, {n}, {{x.data(), {1}}}, {{y.data(), {1}}});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], f16OfFloat(floatOfF16(x[i]) * floatOfF16(x[i])));
  }
}

/// y = (x + bias) * scale with x transposed, bias broadcast along rows, scale along columns.
TEST_P(Vector, StridesAndBroadcasts) {
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {70, 33}, {2, 2000}, {0, 4}, {4, 0}}) {
    auto x = randomFloats(rows * columns, 1), bias = randomFloats(columns, 2), scale = randomFloats(rows, 3);
    std::vector<float> y(rows * columns * 2, 9);
    VectorBuilder builder;
    auto a = builder.input(DType::F32), b = builder.input(DType::F32), c = builder.input(DType::F32);
    auto sum = builder.apply(VectorOp::Add, a, b);
    builder.output(builder.apply(VectorOp::Multiply, sum, c), DType::F32);
    run(builder, {rows, columns}, {{x.data(), {1, rows}}, {bias.data(), {0, 1}}, {scale.data(), {1, 0}}},
        {{y.data(), {columns * 2, 2}}});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        ASSERT_EQ(y[(i * columns + j) * 2], (x[j * rows + i] + bias[j]) * scale[i]);
        ASSERT_EQ(y[(i * columns + j) * 2 + 1], 9);
      }
  }
}

/// Rows of a tile come from a dimension that is not the last but one.
TEST_P(Vector, FewShortRowsOfManyPlaces) {
  for (auto [heads, places, parts, columns] :
       {std::array<int64_t, 4>{3, 70, 2, 5}, {1, 700, 2, 3}, {40, 1, 2, 16}, {2, 5, 3, 1}, {2, 3, 0, 4}}) {
    int64_t row = parts * columns;
    auto x = randomFloats(places * heads * row + 1, 1), factor = randomFloats(places * row + 1, 2);
    std::vector<float> y(heads * places * row + 1);
    VectorBuilder builder;
    auto a = builder.input(DType::F32), b = builder.input(DType::F32), c = builder.input(DType::F32);
    builder.output(builder.apply(VectorOp::Add, a, builder.apply(VectorOp::Multiply, b, c)), DType::F32);
    float *last = x.data() + (parts > 0 ? (parts - 1) * columns : 0); // of reversed parts
    run(builder, {heads, places, parts, columns},
        {{x.data(), {row, heads * row, columns, 1}},
         {last, {row, heads * row, -columns, 1}},
         {factor.data(), {0, row, columns, 1}}},
        {{y.data(), {places * row, row, columns, 1}}});
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t place = 0; place < places; ++place)
        for (int64_t part = 0; part < parts; ++part)
          for (int64_t i = 0; i < columns; ++i) {
            const float *of = &x[(place * heads + head) * row];
            float expected = std::fma(of[(parts - 1 - part) * columns + i],
                                      factor[place * row + part * columns + i], of[part * columns + i]);
            ASSERT_NEAR(y[((head * places + place) * parts + part) * columns + i], expected, 1e-6);
          }
  }
}

TEST_P(Vector, InPlaceWithSeveralOutputs) {
  auto x = randomFloats(3000, 1), before = x;
  std::vector<float> y(3000);
  VectorBuilder builder;
  auto a = builder.input(DType::F32);
  auto doubled = builder.apply(VectorOp::Add, a, a);
  auto squared = builder.apply(VectorOp::Multiply, a, a);
  builder.output(doubled, DType::F32);
  builder.output(squared, DType::F32);
  builder.output(a, DType::F32);
  std::vector<float> same(3000);
  run(builder, {3000}, {{x.data(), {1}}}, {{x.data(), {1}}, {y.data(), {1}}, {same.data(), {1}}});
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i], before[i] * 2);
    ASSERT_EQ(y[i], before[i] * before[i]);
    ASSERT_EQ(same[i], before[i]);
  }
}

/// RMS norm, from its elementwise ops: x * rsqrt(mean(x^2) + eps) * weight, and the mean itself as a second
/// result.
/// Numbers that lie in turns or, in the last form, in two memories with something else between them. Rows of
/// the inputs follow each other closely, lie apart, or are one that is repeated.
template <class T> void checkPairs(const Context &context, DType type, int64_t columns, int form) {
  VectorBuilder builder;
  auto a = builder.input(type), b = builder.input(type);
  builder.output(builder.apply(VectorOp::Add, a, b), type);
  builder.output(builder.apply(VectorOp::Subtract, a, b), type);
  auto program = builder.finish();
  ASSERT_TRUE(program.has_value());
  auto placesIn = [form](std::vector<T> &one, std::vector<T> &other) {
    return std::pair(one.data() + (form == 1), form == 2 ? other.data() : one.data() + (form == 0));
  };
  const int64_t rows = 3, outputStride = 2 * columns + 4;
  for (int64_t inputStride : {2 * columns, 2 * columns + 2, int64_t(0)}) {
    std::vector<T> one(rows * outputStride), other(one.size()), first(one.size(), T(-7)), second = first;
    for (size_t i = 0; i < one.size(); ++i) {
      one[i] = static_cast<T>(i % 101);
      other[i] = static_cast<T>(3 * i % 17);
    }
    auto [x, y] = placesIn(one, other);
    auto [sums, differences] = placesIn(first, second);
    runProgram(context, *program, {rows, columns}, {{x, {inputStride, 2}}, {y, {inputStride, 2}}},
               {{sums, {outputStride, 2}}, {differences, {outputStride, 2}}});
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t from = i / columns * inputStride + i % columns * 2,
              to = i / columns * outputStride + i % columns * 2;
      ASSERT_EQ(sums[to], x[from] + y[from]) << columns << ' ' << form;
      ASSERT_EQ(differences[to], x[from] - y[from]) << columns << ' ' << form;
      if (form == 2) {
        ASSERT_TRUE(first[to + 1] == -7 && second[to + 1] == -7);
      }
    }
    ASSERT_EQ(first[2 * columns], -7);
  }
}

TEST_P(Vector, PartsOfComplexNumbers) {
  for (int64_t columns : {1, 7, 16, 1031})
    for (int form = 0; form < 3; ++form) {
      checkPairs<float>(context, DType::F32, columns, form);
      checkPairs<double>(context, DType::F64, columns, form);
    }
}

TEST_P(Vector, ReductionsOfRows) {
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
TEST_P(Vector, PhasesFollowEachOther) {
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
TEST_P(Vector, ElementsOfWholeRows) {
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
TEST_P(Vector, SumsOfWholeRowsKeepTheirOperands) {
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

TEST_P(Vector, ReductionsOfEveryTypeAndOfNothing) {
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

TEST_P(Vector, IndicesAndSelection) {
  const int64_t rows = 4, columns = 700;
  auto x = randomFloats(rows * columns, 1);
  std::vector<float> y(rows * columns);
  VectorBuilder builder; // a causal mask
  auto v = builder.input(DType::F32);
  auto seen = builder.apply(VectorOp::LessEqual, builder.iota(DType::I32, 0), builder.iota(DType::I32, 1));
  builder.output(builder.apply(VectorOp::Select, seen, v, builder.constant(DType::F32, -1e9)), DType::F32);
  run(builder, {rows, columns}, {{x.data(), {columns, 1}}}, {{y.data(), {columns, 1}}});
  for (int64_t i = 0; i < rows * columns; ++i)
    ASSERT_EQ(y[i], i % columns <= i / columns ? x[i] : -1e9f);
}

TEST_P(Vector, ElementsOfRows) {
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

TEST_P(Vector, ElementsOfRowsAreSpread) {
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

/// Of all pairs of these: the angle within 4 units in the last place, the rest of a division exactly.
TEST_P(Vector, AnglesAndRests) {
  std::vector<float> values{0.0f,  -0.0f,  kInf,    -kInf,   NAN,    1.0f,
                            -1.0f, 1e-40f, -3e-42f, 3.4e38f, -1e30f, 1e-30f};
  auto random = randomFloats(150, 1, 3);
  for (int i = 0; i < 150; ++i)
    values.push_back(std::ldexp(random[i], i % 3 == 0 ? 0 : i % 41 - 20));
  for (int i = -9; i < 10; ++i)
    values.push_back(static_cast<float>(i) / 2);
  std::vector<float> y, x;
  for (float a : values)
    for (float b : values) {
      y.push_back(a);
      x.push_back(b);
    }
  auto angles = apply2<float, float>(VectorOp::Atan2, DType::F32, DType::F32, y, x);
  auto rests = apply2<float, float>(VectorOp::Remainder, DType::F32, DType::F32, y, x);
  for (size_t i = 0; i < x.size(); ++i) {
    double angle = std::atan2(double(y[i]), double(x[i]));
    float rest = std::fmod(y[i], x[i]), rounded = float(angle);
    if (std::isnan(rounded)) {
      ASSERT_TRUE(std::isnan(angles[i])) << y[i] << ", " << x[i];
    } else {
      double unit = std::nextafter(std::fabs(rounded), kInf) - std::fabs(rounded);
      ASSERT_LE(std::fabs(angles[i] - angle), 4 * unit) << y[i] << ", " << x[i];
      ASSERT_EQ(std::signbit(angles[i]), std::signbit(rounded)) << y[i] << ", " << x[i];
    }
    if (std::isnan(rest)) {
      ASSERT_TRUE(std::isnan(rests[i])) << y[i] << ", " << x[i];
    } else {
      ASSERT_EQ(rests[i], rest) << y[i] << ", " << x[i];
      ASSERT_EQ(std::signbit(rests[i]), std::signbit(rest)) << y[i] << ", " << x[i];
    }
  }
}

/// Bounds that are tiles, and those that are one element for all or one a row.
TEST_P(Vector, ClampsBetweenTilesAndElements) {
  const int64_t rows = 20, columns = 70;
  auto x = randomFloats(rows * columns, 1, 2), low = randomFloats(rows * columns, 2),
       high = randomFloats(rows, 3);
  for (int form = 0; form < 8; ++form) {
    bool isTile[] = {(form & 1) != 0, (form & 2) != 0, (form & 4) != 0};
    auto stridesOf = [&](int operand) {
      return isTile[operand] ? VectorStrides{columns, 1} : VectorStrides{operand == 1 ? 0 : 1, 0};
    };
    std::vector<float> upper = isTile[2] ? randomFloats(rows * columns, 4) : high, y(rows * columns);
    VectorBuilder builder;
    auto a = builder.input(DType::F32), b = builder.input(DType::F32), c = builder.input(DType::F32);
    builder.output(builder.apply(VectorOp::Clamp, a, b, c), DType::F32);
    run(builder, {rows, columns},
        {{low.data(), stridesOf(0)}, {x.data(), stridesOf(1)}, {upper.data(), stridesOf(2)}},
        {{y.data(), {columns, 1}}});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        auto at = [&](int operand, const std::vector<float> &of) {
          VectorStrides strides = stridesOf(operand);
          return of[static_cast<size_t>(i * strides[0] + j * strides[1])];
        };
        ASSERT_EQ(y[i * columns + j], std::min(std::max(at(1, x), at(0, low)), at(2, upper))) << form;
      }
  }
}

TEST_P(Vector, InverseErrorFunction) {
  std::vector<float> x{0.0f, -0.0f, 1.0f, -1.0f, 1.5f, NAN, 0x1.fffffep-1f, -0x1.fffffep-1f, 1e-30f};
  for (int i = -999; i < 1000; ++i)
    x.push_back(static_cast<float>(i) / 1000);
  for (int i = 2; i < 24; ++i)
    x.push_back(1 - std::ldexp(1.0f, -i));
  auto y = apply1<float, float>(VectorOp::ErfInv, DType::F32, DType::F32, x);
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::signbit(y[1]));
  EXPECT_EQ(y[2], kInf);
  EXPECT_EQ(y[3], -kInf);
  EXPECT_TRUE(std::isnan(y[4]) && std::isnan(y[5]));
  for (size_t i = 6; i < x.size(); ++i) {
    double at = y[i], given = x[i];
    double above = given > 0 ? (1 - given) - std::erfc(at) : std::erfc(-at) - (1 + given);
    double correct = at + above / (1.1283791670955126 * std::exp(-at * at)); // a step of Newton's
    ASSERT_NEAR(at, correct, 5e-7 * std::abs(correct)) << given;
  }
}

TEST_P(Vector, ThreeFryIsThatOfItsWords) {
  for (size_t count : {1, 7, 8, 64, 1000}) {
    std::vector<uint64_t> counters(count), keys(count);
    for (size_t i = 0; i < count; ++i) {
      counters[i] = i * 0x9E3779B97F4A7C15 + 3;
      keys[i] = i % 3 == 0 ? 0 : i * 0xD1B54A32D192ED03;
    }
    auto blocks = apply2<uint64_t, uint64_t>(VectorOp::ThreeFry, DType::U64, DType::U64, counters, keys);
    for (size_t i = 0; i < count; ++i) {
      auto [low, high] = wordsOf(counters[i]);
      auto [keyLow, keyHigh] = wordsOf(keys[i]);
      std::array<uint32_t, 2> words = threeFry({high, low}, {keyHigh, keyLow});
      ASSERT_EQ(blocks[i], joinedWords(words[1], words[0]));
    }
  }
}

/// A plan knows shapes alone: each run may have its operands elsewhere, in each other's memory as well.
TEST_P(Vector, APlanRunsAtAnyPlace) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32), b = builder.input(DType::F32);
  auto sum = builder.apply(VectorOp::Add, a, b);
  builder.output(sum, DType::F32);
  builder.output(builder.apply(VectorOp::Multiply, sum, builder.constant(DType::F32, 2)), DType::F32);
  for (int64_t count : {1, 7, 3000}) {
    VectorPlan plan(*builder.finish(), context.isa, {1, {count}, {{1}, {1}}, {{1}, {1}}});
    for (uint64_t seed = 1; seed < 4; ++seed) {
      auto x = randomFloats(count, seed), y = randomFloats(count, seed + 10);
      std::vector<float> sums(x.size()), doubles(x.size()), inX = x, inY = y;
      const void *from[] = {x.data(), y.data()};
      void *to[] = {sums.data(), doubles.data()};
      plan.run(context, from, to);
      const void *own[] = {inX.data(), inY.data()};
      void *swapped[] = {inY.data(), inX.data()};
      plan.run(context, own, swapped);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(sums[i], x[i] + y[i]);
        ASSERT_EQ(doubles[i], 2 * (x[i] + y[i]));
      }
      EXPECT_EQ(inY, sums);
      EXPECT_EQ(inX, doubles);
    }
  }
}

TEST_P(Vector, TheSameForAnyNumberOfThreads) {
  auto x = randomFloats(50 * 3000, 1);
  VectorBuilder builder;
  auto v = builder.input(DType::F32);
  auto total = builder.apply(VectorOp::ReduceSum, builder.apply(VectorOp::Exponential, v));
  builder.output(builder.apply(VectorOp::Divide, v, total), DType::F32);
  auto program = builder.finish();
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    ThreadPool other(threads);
    std::vector<float> y(x.size());
    runProgram({other, context.isa}, *program, {50, 3000}, {{x.data(), {3000, 1}}}, {{y.data(), {3000, 1}}});
    if (first.empty())
      first = y;
    EXPECT_EQ(first, y);
  }
}

TEST(VectorBuilder, ErrorsNameTheOp) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32), b = builder.input(DType::I32);
  builder.output(builder.apply(VectorOp::Add, a, b), DType::F32);
  EXPECT_EQ(builder.finish().error().message, "[Add] operands of different types: got f32 and i32");
  VectorBuilder bits;
  bits.output(bits.apply(VectorOp::PopulationCount, bits.input(DType::F32)), DType::F32);
  EXPECT_EQ(bits.finish().error().message, "[PopulationCount] no such op of this type: got f32");
}

TEST(VectorProgram, VerifyFindsWhatIsOutOfBounds) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32);
  builder.output(builder.apply(VectorOp::Add, a, a), DType::F32);
  VectorProgram good = *builder.finish();
  ASSERT_TRUE(good.verify().has_value());
  for (int what = 0; what < 7; ++what) {
    VectorProgram bad = good;
    VectorInstruction &last = bad.instructions.back();
    if (what == 0)
      bad.instructions[1].operands[1] = 99;
    else if (what == 1)
      last.index = 5;
    else if (what == 2)
      bad.phases.back().end += 1;
    else if (what == 3)
      bad.instructions[1].op = static_cast<VectorOp>(200);
    else if (what == 4)
      bad.instructions[1].type = DType::C64;
    else if (what == 5)
      bad.instructions[0].result = 77;
    else
      last.operands[2] = 99; // which a store does not have
    EXPECT_FALSE(bad.verify().has_value()) << what;
  }
}

/// A row's sum, added to its elements: two phases.
VectorProgram rowSums() {
  VectorBuilder builder;
  auto x = builder.input(DType::F32);
  auto sum = builder.apply(VectorOp::ReduceSum, x);
  builder.output(builder.apply(VectorOp::Add, x, sum), DType::F32);
  return *builder.finish();
}

TEST(VectorProgram, VerifyFindsSlotsThatHoldSomethingElse) {
  VectorProgram good = rowSums();
  ASSERT_TRUE(good.verify()) << good.verify().error().message;
  auto place = [&](VectorOp op) {
    auto found = std::find_if(good.instructions.begin(), good.instructions.end(),
                              [&](const VectorInstruction &each) { return each.op == op; });
    return static_cast<size_t>(found - good.instructions.begin());
  };
  auto refusal = [&](VectorOp op, auto change) {
    VectorProgram bad = good;
    change(bad.instructions[place(op)]);
    Status status = bad.verify();
    return status ? "accepted" : status.error().message;
  };
  size_t add = place(VectorOp::Add), spread = place(VectorOp::Broadcast), sum = place(VectorOp::ReduceSum);
  EXPECT_EQ(
      refusal(VectorOp::Add, [](auto &each) { each.type = each.to = DType::F64; }),
      fmt::format("[vector program] instruction {}: an operand that is not there, or of another type", add));
  EXPECT_EQ(
      refusal(VectorOp::Add, [&](auto &each) { each.operands[1] = good.instructions[sum].result; }),
      fmt::format("[vector program] instruction {}: an operand that is not there, or of another type", add));
  EXPECT_EQ(refusal(VectorOp::Add, [&](auto &each) { each.result = good.instructions[spread].result; }),
            fmt::format("[vector program] instruction {}: a slot whose value is still needed", add));
  EXPECT_EQ(refusal(VectorOp::Add, [](auto &each) { each.perRow = true; }),
            fmt::format("[vector program] instruction {}: it stands in the wrong place", add));
  EXPECT_EQ(refusal(VectorOp::Broadcast, [](auto &each) { each.perRow = false; }),
            fmt::format("[vector program] instruction {}: it stands in the wrong place", spread));
  EXPECT_EQ(
      refusal(VectorOp::ReduceSum, [&](auto &each) { each.result = good.instructions[add].result; }),
      fmt::format("[vector program] instruction {}: a reduction that does not begin with an element", sum));
}

TEST(VectorProgram, VerifyFindsWhatWholeRowsHaveNot) {
  VectorBuilder builder;
  auto x = builder.input(DType::F32);
  auto sum = builder.apply(VectorOp::ReduceSum, x);
  auto root = builder.apply(VectorOp::Sqrt, sum);
  builder.output(builder.apply(VectorOp::Multiply, x,
                               builder.apply(VectorOp::Add, root, builder.constant(DType::F32, 1))),
                 DType::F32);
  VectorProgram good = *builder.finishWholeRows();
  ASSERT_TRUE(good.verify()) << good.verify().error().message;
  // A constant, then: input, sum, root, sum with the constant, product, store.
  ASSERT_EQ(good.instructions.size(), 7u);
  auto refusal = [&](auto change) {
    VectorProgram bad = good;
    change(bad);
    Status status = bad.verify();
    return status ? "accepted" : status.error().message;
  };
  EXPECT_EQ(refusal([](auto &bad) { bad.phases.push_back(bad.phases.front()); }),
            "[vector program] phases out of order");
  EXPECT_EQ(refusal([](auto &bad) { bad.phases.front().rowEnd += 1; }),
            "[vector program] 1 phases of whole rows: expected one that begins with the tile");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[2].index = 9; }),
            "[vector program] instruction 2: an index is out of bounds");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[2].perRow = true; }),
            "[vector program] instruction 2: it stands in the wrong place");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[1].op = VectorOp::Iota; }),
            "[vector program] instruction 1: it stands in the wrong place");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[3].operands[0] = bad.instructions[1].result; }),
            "[vector program] instruction 3: an operand that is not there, or of another type");
  EXPECT_EQ(refusal([](auto &bad) { bad.instructions[3].result = bad.instructions[0].result; }),
            "[vector program] instruction 3: a slot whose value is still needed");
  DType one[] = {DType::F32};
  EXPECT_EQ(good.verifyLanes(one, one).error().message, "[vector program] rows in a program of lanes");
}

TEST(VectorProgram, VerifyFindsWhatLanesHaveNot) {
  VectorBuilder builder;
  auto a = builder.input(DType::F32);
  builder.output(builder.apply(VectorOp::Add, a, builder.input(DType::F32)), DType::F32);
  VectorProgram program = *builder.finish();
  DType two[] = {DType::F32, DType::F32}, mixed[] = {DType::F32, DType::F64};
  EXPECT_TRUE(program.verifyLanes(two, {two, 1}));
  EXPECT_EQ(program.verifyLanes(mixed, {two, 1}).error().message,
            "[vector program] instruction 1: elements of another size: got f32, expected f64");
  EXPECT_EQ(program.verifyLanes(two, two).error().message,
            "[vector program] operands: got 2 and 1, expected 2 and 2");
  EXPECT_EQ(rowSums().verifyLanes({two, 1}, {two, 1}).error().message,
            "[vector program] rows in a program of lanes");
  VectorBuilder counting;
  counting.output(counting.iota(DType::F32, 0), DType::F32);
  EXPECT_EQ(counting.finish()->verifyLanes({}, {two, 1}).error().message,
            "[vector program] instruction 0: Iota in a program of lanes");
}

TORCHERE_EVERY_ISA(Vector);

} // namespace
} // namespace torchere::cpu
