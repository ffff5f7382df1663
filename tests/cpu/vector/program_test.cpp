// Vector programs against plain loops in f64, over shapes, strides, types and special values.
#include "base/random_blocks.h"
#include "program_runs.h"

#include <cmath>
#include <functional>
#include <limits>

namespace torchere::cpu {
namespace {

class Vector : public ProgramRuns {};

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
      {Tan, std::tan, -1.5f, 1.5f, 4},
      {Tan, std::tan, -100, 100, 4},
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

/// Within three units in the last place of f64, beside the C library's in more digits.
TEST_P(Vector, ElementaryFunctionsOfF64) {
  using enum VectorOp;
  using Long = long double;
  struct Function {
    VectorOp op;
    Long (*exact)(Long);
    double low, high;
  };
  auto exponential = [](Long x) { return std::exp(x); };
  auto logarithm = [](Long x) { return std::log(x); };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Function &f : {Function{Exponential, exponential, -746, 710},
                            {Exponential, exponential, -0.4, 0.4},
                            {Log, logarithm, 0, 3},
                            {Log, logarithm, 0.999, 1.001},
                            {Log, logarithm, 0, 1e300},
                            {Logistic, [](Long x) { return 1 / (1 + std::exp(-x)); }, -40, 40},
                            {Silu, [](Long x) { return x / (1 + std::exp(-x)); }, -700, 40},
                            {ExponentialMinusOne, [](Long x) { return std::expm1(x); }, -45, 711},
                            {ExponentialMinusOne, [](Long x) { return std::expm1(x); }, -1, 1},
                            {Tanh, [](Long x) { return std::tanh(x); }, -25, 25},
                            {Tanh, [](Long x) { return std::tanh(x); }, -0.01, 0.01},
                            {Sine, [](Long x) { return std::sin(x); }, -10, 10},
                            {Sine, [](Long x) { return std::sin(x); }, -999999, 1000010},
                            {Cosine, [](Long x) { return std::cos(x); }, -10, 10},
                            {Cosine, [](Long x) { return std::cos(x); }, -999999, 1000010},
                            {Tan, [](Long x) { return std::tan(x); }, -10, 10},
                            {Tan, [](Long x) { return std::tan(x); }, -999999, 1000010}}) {
    std::vector<double> x = {0.0,
                             -0.0,
                             infinity,
                             -infinity,
                             NAN,
                             -1.0,
                             1.0,
                             5e-324,
                             1e-310,
                             2.2250738585072e-308,
                             1.797693134862e308,
                             -2e9,
                             1e9,
                             0x1.921fb54442d18p+0, // next to poles and zeros
                             0x1.921fb54442d18p+1,
                             0x1.f9cbe7a2e4f6p+18};
    for (int i = 0; i <= 3001; ++i)
      x.push_back(f.low + (f.high - f.low) * i / 3001);
    auto y = apply1<double, double>(f.op, DType::F64, DType::F64, x);
    for (size_t i = 0; i < x.size(); ++i) {
      Long exact = f.exact(x[i]);
      auto expected = static_cast<double>(exact);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[i])) << int(f.op) << " of " << x[i] << " gives " << y[i];
      } else if (std::isinf(expected) || expected == 0) {
        ASSERT_EQ(y[i], expected) << int(f.op) << " of " << x[i];
      } else {
        double unit = std::nextafter(std::fabs(expected), infinity) - std::fabs(expected);
        ASSERT_LE(std::fabs(static_cast<double>(y[i] - exact)), 3 * unit) << int(f.op) << " of " << x[i];
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

TEST_P(Vector, PowersOfTwo) {
  std::vector<float> y = {0.0f,   -0.0f,   kInf,    -kInf,   NAN,   127.99f,
                          128.0f, -126.0f, -149.0f, -150.5f, 1e30f, -1e30f};
  for (int i = -1300; i < 1290; ++i)
    y.push_back(0.1f * float(i));
  auto z =
      apply2<float, float>(VectorOp::Power, DType::F32, DType::F32, std::vector<float>(y.size(), 2.0f), y);
  for (size_t i = 0; i < y.size(); ++i) {
    float expected = float(std::exp2(double(y[i])));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(z[i])) << y[i];
    else if (std::isinf(expected))
      ASSERT_EQ(z[i], expected) << y[i];
    else
      ASSERT_NEAR(z[i], expected, std::max(1.5e-7 * expected, 1.5e-45)) << y[i];
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

/// Also where f64 would not be exact.
class Divisions : public ProgramRuns {
protected:
  template <class T> void check(DType type) {
    using Wide = __int128;
    std::vector<T> numbers, a, b;
    for (int shift = 0; shift < static_cast<int>(sizeof(T)) * 8 - 1; ++shift)
      for (int64_t near : {-1, 0, 1})
        for (int64_t sign : {-1, 1})
          numbers.push_back(static_cast<T>(sign * ((int64_t(1) << shift) + near)));
    numbers.insert(numbers.end(),
                   {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 7, -7, 1000003});
    for (T y : numbers) // vectors of one divisor each, most of them exact in f64
      for (T x : numbers) {
        a.push_back(x);
        b.push_back(y);
      }
    uint64_t state = 1;
    for (int i = 0; i < 4096; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      a.push_back(static_cast<T>(static_cast<int64_t>(state) >> (state % 61)));
      b.push_back(static_cast<T>(static_cast<int64_t>(state * 3) >> (13 + state % 50)));
    }
    std::vector<T> quotients = apply2<T, T>(VectorOp::Divide, type, type, a, b);
    std::vector<T> rests = apply2<T, T>(VectorOp::Remainder, type, type, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      Wide x = a[i], y = b[i];
      ASSERT_EQ(quotients[i], y == 0 ? T(-1) : static_cast<T>(x / y)) << a[i] << " / " << b[i];
      ASSERT_EQ(rests[i], y == 0 ? a[i] : static_cast<T>(x % y)) << a[i] << " % " << b[i];
    }
  }
};
TORCHERE_EVERY_ISA(Divisions);
TEST_P(Divisions, OfI32) {
  check<int32_t>(DType::I32);
}
TEST_P(Divisions, OfI64) {
  check<int64_t>(DType::I64);
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

/// A minimum of a maximum, each with a number, is one op, but where zeros would have another sign.
TEST_P(Vector, AMinimumOfAMaximumIsAClamp) {
  std::vector<float> x{0.0f, -0.0f, 1.0f, -1.0f, 3.0f, -3.0f, NAN, INFINITY, -INFINITY}, y(x.size());
  struct Bounds {
    float low, high;
    bool isOne;
  };
  for (auto [low, high, isOne] :
       {Bounds{-1, 2, true}, Bounds{0, 6, true}, Bounds{2, 1, true}, Bounds{-0.0f, 1, false},
        Bounds{-1, 0, false}, Bounds{-1, -0.0f, false}, Bounds{NAN, 1, false}})
    for (bool isLeft : {true, false}) {
      VectorBuilder builder;
      auto bounded = [&](VectorOp op, int value, float bound) {
        auto constant = builder.constant(DType::F32, bound);
        return isLeft ? builder.apply(op, value, constant) : builder.apply(op, constant, value);
      };
      auto above = bounded(VectorOp::Maximum, builder.input(DType::F32), low);
      builder.output(bounded(VectorOp::Minimum, above, high), DType::F32);
      auto program = builder.finish();
      auto has = [&](VectorOp op) {
        return std::ranges::any_of(program->instructions, [&](const auto &each) { return each.op == op; });
      };
      ASSERT_EQ(has(VectorOp::Clamp), isOne) << low << ", " << high;
      ASSERT_EQ(has(VectorOp::Maximum), !isOne) << low << ", " << high;
      auto length = static_cast<int64_t>(x.size());
      run(builder, {length}, {{x.data(), {1}}}, {{y.data(), {1}}});
      for (size_t i = 0; i < x.size() && isOne; ++i) {
        float expected = std::isnan(x[i]) ? x[i] : std::min(x[i] > low ? x[i] : low, high);
        ASSERT_TRUE(y[i] == expected || std::isnan(expected)) << x[i];
        ASSERT_EQ(std::isnan(y[i]), std::isnan(expected)) << x[i];
        ASSERT_EQ(std::signbit(y[i]), std::signbit(expected)) << x[i];
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

TORCHERE_EVERY_ISA(Vector);

} // namespace
} // namespace torchere::cpu
