// Ops that share a pass over a tile, with operands read where they lie, against plain loops.
#include "../kernels/test_values.h"
#include "cpu/vector/joined_plan.h"
#include "cpu/vector/op_rules.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace torchere::cpu {
namespace {

using enum VectorOp;

float computed(VectorOp op, float a, float b) {
  return op == Add ? a + b : op == Subtract ? a - b : op == Multiply ? a * b : a / b;
}

bool holds(VectorOp op, float a, float b) {
  return op == Equal       ? a == b
         : op == NotEqual  ? a != b
         : op == Less      ? a < b
         : op == LessEqual ? a <= b
         : op == Greater   ? a > b
                           : a >= b;
}

/// How an operand of a matrix lies: all of it, rows that lie apart, one row, an element a row, or one
/// element.
enum Form : int { Whole, Apart, OneRow, OneEach, Scalar, Forms };

class Passes : public EveryIsa {
protected:
  struct Shape {
    int64_t rows, columns;
  };
  static VectorStrides stridesOf(int form, const Shape &shape) {
    VectorStrides strides = {};
    strides[0] = form == Whole ? shape.columns : form == Apart ? shape.columns + 3 : form == OneEach ? 1 : 0;
    strides[1] = form <= OneRow;
    return strides;
  }
  static std::vector<float> valuesOf(uint32_t seed, const Shape &shape) {
    std::vector<float> x = randomFloats(shape.rows * (shape.columns + 3), seed);
    constexpr float special[] = {std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(), -0.0f, 0.0f};
    for (size_t i = seed; i < x.size(); i += 97)
      x[i] = special[i % 4];
    return x;
  }
  static VectorWalk walkOf(const Shape &shape, std::initializer_list<int> forms) {
    VectorWalk walk;
    walk.rank = 2;
    walk.dims = {shape.rows, shape.columns};
    for (int form : forms)
      walk.inputs.push_back(stridesOf(form, shape));
    return walk;
  }
  static float at(const std::vector<float> &x, int form, const Shape &shape, int64_t row, int64_t column) {
    VectorStrides strides = stridesOf(form, shape);
    return x[static_cast<size_t>(row * strides[0] + column * strides[1])];
  }
};

const int64_t kSizes[][2] = {{1, 1}, {3, 5}, {70, 16}, {37, 100}, {9, 17}, {2, 3000}};

/// The same bits as one op after the other, wherever the operands lie.
TEST_P(Passes, PairsRoundEachOp) {
  for (auto [rows, columns] : kSizes)
    for (VectorOp first : {Add, Subtract, Multiply})
      for (VectorOp second : {Add, Subtract, Multiply, Divide})
        for (int forms = 0; forms < Forms * Forms * Forms; ++forms) {
          Shape shape{rows, columns};
          int f[] = {forms % Forms, forms / Forms % Forms, forms / Forms / Forms};
          bool isLeft = (forms + rows) % 2;
          std::vector<float> x[] = {valuesOf(1, shape), valuesOf(2, shape), valuesOf(3, shape)};
          VectorBuilder builder;
          auto a = builder.input(DType::F32), b = builder.input(DType::F32), c = builder.input(DType::F32);
          auto t = builder.apply(first, a, b);
          builder.output(isLeft ? builder.apply(second, t, c) : builder.apply(second, c, t), DType::F32);
          VectorWalk walk = walkOf(shape, {f[0], f[1], f[2]});
          walk.outputs = {stridesOf(Whole, shape)};
          std::vector<float> result(static_cast<size_t>(rows * columns));
          const void *from[] = {x[0].data(), x[1].data(), x[2].data()};
          void *to[] = {result.data()};
          VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
          for (int64_t i = 0; i < rows * columns; ++i) {
            float v[3];
            for (int k = 0; k < 3; ++k)
              v[k] = at(x[k], f[k], shape, i / columns, i % columns);
            volatile float between = computed(first, v[0], v[1]); // rounded
            float expected = isLeft ? computed(second, between, v[2]) : computed(second, v[2], between);
            float got = result[static_cast<size_t>(i)];
            ASSERT_TRUE(std::memcmp(&got, &expected, 4) == 0 || (std::isnan(got) && std::isnan(expected)))
                << vectorOpName(first) << " " << vectorOpName(second) << " of forms " << f[0] << f[1] << f[2]
                << ", " << rows << "x" << columns << " at " << i << ": got " << got << ", expected "
                << expected;
          }
        }
}

/// Each comparison with the choice by it, wherever the four operands lie. Some numbers are equal, some NaN.
TEST_P(Passes, ComparisonsChoose) {
  constexpr VectorOp comparisons[] = {Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual};
  for (auto [rows, columns] : kSizes)
    for (int forms = 0; forms < Forms * Forms * Forms * Forms; ++forms) {
      Shape shape{rows, columns};
      int f[4];
      std::vector<float> x[4];
      for (int k = 0, rest = forms; k < 4; ++k, rest /= Forms) {
        f[k] = rest % Forms;
        x[k] = valuesOf(k + 1, shape);
      }
      for (size_t i = 0; i < x[0].size(); i += 3)
        x[0][i] = x[1][i];
      VectorOp op = comparisons[(forms + rows) % 6];
      VectorBuilder builder;
      auto a = builder.input(DType::F32), b = builder.input(DType::F32);
      auto c = builder.input(DType::F32), d = builder.input(DType::F32);
      builder.output(builder.apply(Select, builder.apply(op, a, b), c, d), DType::F32);
      VectorWalk walk = walkOf(shape, {f[0], f[1], f[2], f[3]});
      walk.outputs = {stridesOf(Whole, shape)};
      std::vector<float> result(static_cast<size_t>(rows * columns));
      const void *from[] = {x[0].data(), x[1].data(), x[2].data(), x[3].data()};
      void *to[] = {result.data()};
      VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
      for (int64_t i = 0; i < rows * columns; ++i) {
        float v[4];
        for (int k = 0; k < 4; ++k)
          v[k] = at(x[k], f[k], shape, i / columns, i % columns);
        float expected = holds(op, v[0], v[1]) ? v[2] : v[3];
        ASSERT_EQ(std::memcmp(&result[static_cast<size_t>(i)], &expected, 4), 0)
            << vectorOpName(op) << " of forms " << f[0] << f[1] << f[2] << f[3] << ", " << rows << "x"
            << columns << " at " << i;
      }
    }
}

/// A comparison that is needed otherwise, or whose operand is overwritten before the choice, is computed.
TEST_P(Passes, ComparisonsThatAreNeededStay) {
  Shape shape{40, 50};
  std::vector<float> x = randomFloats(2000, 1), y = randomFloats(2000, 2);
  VectorBuilder builder;
  auto a = builder.input(DType::F32), b = builder.input(DType::F32);
  auto isLess = builder.apply(Less, a, b), isMore = builder.apply(Greater, a, b);
  auto square = builder.apply(Multiply, a, a), sum = builder.apply(Add, square, b);
  builder.output(builder.apply(Select, isMore, sum, square), DType::F32);
  builder.output(builder.apply(Select, isLess, a, b), DType::F32);
  builder.output(builder.apply(Select, isLess, b, a), DType::F32);
  VectorWalk walk = walkOf(shape, {Whole, Whole});
  walk.outputs.assign(3, stridesOf(Whole, shape));
  std::vector<float> chosen(2000), low(2000), high(2000);
  const void *from[] = {x.data(), y.data()};
  void *to[] = {chosen.data(), low.data(), high.data()};
  VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
  for (size_t i = 0; i < 2000; ++i) {
    volatile float q = x[i] * x[i], s = q + y[i];
    ASSERT_EQ(chosen[i], x[i] > y[i] ? s : q) << i;
    ASSERT_EQ(low[i], std::min(x[i], y[i])) << i;
    ASSERT_EQ(high[i], std::max(x[i], y[i])) << i;
  }
}

/// What lies between is needed as well, or is changed before it is read: all of it is still there.
TEST_P(Passes, ValuesThatAreNeededStay) {
  Shape shape{40, 50};
  std::vector<float> x = randomFloats(2000, 1), y = randomFloats(2000, 2);
  VectorBuilder builder;
  auto a = builder.input(DType::F32), b = builder.input(DType::F32);
  auto product = builder.apply(Multiply, a, b), sum = builder.apply(Add, product, a);
  auto square = builder.apply(Multiply, sum, sum), rest = builder.apply(Subtract, square, product);
  auto twice = builder.apply(Add, rest, rest);
  builder.output(sum, DType::F32);
  builder.output(twice, DType::F32);
  VectorWalk walk = walkOf(shape, {Whole, Whole});
  walk.outputs.assign(2, stridesOf(Whole, shape));
  std::vector<float> sums(2000), results(2000);
  const void *from[] = {x.data(), y.data()};
  void *to[] = {sums.data(), results.data()};
  VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
  for (size_t i = 0; i < 2000; ++i) {
    volatile float p = x[i] * y[i], s = p + x[i], q = s * s, r = q - p;
    ASSERT_EQ(sums[i], s) << i;
    ASSERT_EQ(results[i], r + r) << i;
  }
}

/// Both operands of the second op could be joined with it: one is.
TEST_P(Passes, OneOfTwoProductsIsJoined) {
  for (int form = 0; form < Forms; ++form) {
    Shape shape{40, 50};
    std::vector<float> x[] = {randomFloats(2200, 1), randomFloats(2200, 2), randomFloats(2200, 3)};
    VectorBuilder builder;
    auto a = builder.input(DType::F32), b = builder.input(DType::F32), c = builder.input(DType::F32);
    auto left = builder.apply(Multiply, a, c), right = builder.apply(Multiply, b, c);
    builder.output(builder.apply(Subtract, left, right), DType::F32);
    VectorWalk walk = walkOf(shape, {Whole, Whole, form});
    walk.outputs = {stridesOf(Whole, shape)};
    std::vector<float> result(2000);
    const void *from[] = {x[0].data(), x[1].data(), x[2].data()};
    void *to[] = {result.data()};
    VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
    for (int64_t i = 0; i < 2000; ++i) {
      float v[3];
      for (int k = 0; k < 3; ++k)
        v[k] = at(x[k], k == 2 ? form : Whole, shape, i / 50, i % 50);
      volatile float first = v[0] * v[2], second = v[1] * v[2], expected = first - second;
      ASSERT_EQ(result[static_cast<size_t>(i)], expected) << "form " << form << " at " << i;
    }
  }
}

/// As programs of 16 bits do: the same bits as where another pass rounds.
TEST_P(Passes, PairsRoundToSixteenBits) {
  for (auto [rows, columns] : kSizes)
    for (VectorOp first : {Add, Subtract, Multiply})
      for (DType narrow : {DType::F16, DType::BF16})
        for (int forms = 0; forms < Forms * Forms; ++forms) {
          Shape shape{rows, columns};
          std::vector<float> x[] = {valuesOf(1, shape), valuesOf(2, shape)};
          VectorWalk walk = walkOf(shape, {forms % Forms, forms / Forms});
          walk.outputs = {stridesOf(Whole, shape)};
          std::vector<float> results[2];
          for (bool isApart : {false, true}) {
            VectorBuilder builder;
            auto a = builder.input(DType::F32), b = builder.input(DType::F32);
            auto t = builder.apply(first, a, b);
            auto rounded = builder.convert(t, narrow);
            if (isApart) {
              builder.output(t, DType::F32);
              walk.outputs.push_back(stridesOf(Whole, shape));
            }
            builder.output(rounded, DType::F32);
            std::vector<float> exact(static_cast<size_t>(rows * columns));
            results[isApart].resize(exact.size());
            const void *from[] = {x[0].data(), x[1].data()};
            void *to[] = {exact.data(), results[isApart].data()};
            VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to + !isApart);
          }
          ASSERT_EQ(std::memcmp(results[0].data(), results[1].data(), 4 * results[0].size()), 0)
              << vectorOpName(first) << " of forms " << forms % Forms << forms / Forms << ", " << rows << "x"
              << columns;
        }
}

/// Sums of products, of squares and of squared differences, which are computed with the sum, and of one that
/// is stored as well, which is not.
TEST_P(Passes, SumsOfProducts) {
  for (auto [rows, columns] : kSizes)
    for (int reduced = 1; reduced < 4; ++reduced)
      for (int kind = 0; kind < 4; ++kind)
        for (int forms = 0; forms < Forms * Forms; ++forms) {
          Shape shape{rows, columns};
          int f[] = {forms % Forms, forms / Forms};
          std::vector<float> x = randomFloats(rows * (columns + 3), 1),
                             y = randomFloats(rows * (columns + 3), 2);
          VectorBuilder builder;
          auto a = builder.input(DType::F32), b = builder.input(DType::F32);
          auto difference = builder.apply(Subtract, a, b);
          auto value = kind == 0   ? builder.apply(Multiply, a, b)
                       : kind == 1 ? builder.apply(Multiply, a, a)
                                   : builder.apply(Multiply, difference, difference);
          VectorWalk walk = walkOf(shape, {f[0], f[1]});
          bool isStored = kind == 3;
          if (isStored) {
            builder.output(value, DType::F32);
            walk.outputs = {stridesOf(Whole, shape)};
          }
          builder.output(value, DType::F32);
          JoinedOutput output{DType::F32, Reduction::Sum, {}};
          output.strides[0] = !(reduced & 1);
          output.strides[1] = !(reduced & 2);
          int64_t count = (reduced & 1 ? 1 : rows) * (reduced & 2 ? 1 : columns);
          std::vector<float> sums(static_cast<size_t>(count)), stored(static_cast<size_t>(rows * columns));
          std::vector<double> expected(sums.size(), 0.5);
          float initial = 0.5f;
          const void *from[] = {x.data(), y.data()}, *initials[] = {&initial};
          void *kept[] = {stored.data()}, *to[] = {sums.data()};
          JoinedPlan(*builder.finish(), context.isa, walk, {&output, 1})
              .run(context, {from, kept, initials, to});
          for (int64_t i = 0; i < rows * columns; ++i) {
            double v = at(x, f[0], shape, i / columns, i % columns),
                   w = at(y, f[1], shape, i / columns, i % columns);
            double term = kind == 0 ? v * w : kind == 1 ? v * v : (v - w) * (v - w);
            expected[static_cast<size_t>((reduced & 1 ? 0 : i / columns) +
                                         (reduced & 2 ? 0 : i % columns))] += term;
            if (isStored) {
              ASSERT_NEAR(stored[static_cast<size_t>(i)], term, 1e-6);
            }
          }
          for (size_t i = 0; i < sums.size(); ++i)
            ASSERT_NEAR(sums[i], expected[i],
                        2e-6 * (1 + std::abs(expected[i]) + std::sqrt(double(rows * columns))))
                << rows << "x" << columns << ", reduced " << reduced << ", kind " << kind << ", forms "
                << f[0] << f[1] << " at " << i;
        }
}

/// Comparisons and choices with an operand that is one element, of either type that has them.
TEST_P(Passes, ChoicesOfRows) {
  for (auto [rows, columns] : kSizes)
    for (int forms = 0; forms < Forms * Forms; ++forms) {
      Shape shape{rows, columns};
      int f[] = {forms % Forms, forms / Forms};
      std::vector<float> x = valuesOf(1, shape), y = valuesOf(2, shape);
      VectorBuilder builder;
      auto a = builder.input(DType::F32), b = builder.input(DType::F32);
      auto isLess = builder.apply(Less, a, b);
      auto number = builder.convert(isLess, DType::I32);
      auto more = builder.apply(Add, number, builder.constant(DType::I32, 7));
      builder.output(builder.apply(Select, isLess, b, builder.constant(DType::F32, 2)), DType::F32);
      builder.output(builder.apply(Select, isLess, more, number), DType::I32);
      VectorWalk walk = walkOf(shape, {f[0], f[1]});
      walk.outputs.assign(2, stridesOf(Whole, shape));
      std::vector<float> chosen(static_cast<size_t>(rows * columns));
      std::vector<int32_t> numbers(chosen.size());
      const void *from[] = {x.data(), y.data()};
      void *to[] = {chosen.data(), numbers.data()};
      VectorPlan(*builder.finish(), context.isa, walk).run(context, from, to);
      for (int64_t i = 0; i < rows * columns; ++i) {
        float v = at(x, f[0], shape, i / columns, i % columns),
              w = at(y, f[1], shape, i / columns, i % columns);
        ASSERT_EQ(chosen[static_cast<size_t>(i)], v < w ? w : 2.0f) << f[0] << f[1] << " at " << i;
        ASSERT_EQ(numbers[static_cast<size_t>(i)], v < w ? 8 : 0) << f[0] << f[1] << " at " << i;
      }
    }
}

TORCHERE_EVERY_ISA(Passes);

} // namespace
} // namespace torchere::cpu
