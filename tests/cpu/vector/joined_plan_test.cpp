// Vector programs whose results are reduced, against plain loops, over shapes, dimensions and types.
#include "../kernels/test_values.h"
#include "cpu/vector/joined_plan.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace torchere::cpu {
namespace {

using Dims = std::vector<int64_t>;

int64_t countOf(const Dims &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
}

VectorStrides stridesOf(const Dims &dims, unsigned reduced) {
  VectorStrides strides = {};
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;)
    if (!(reduced >> i & 1)) {
      strides[i] = stride;
      stride *= dims[i];
    }
  return strides;
}

/// Calls fn(place in the tensor, place in the result).
template <class Fn> void eachElement(const Dims &dims, unsigned reduced, const Fn &fn) {
  VectorStrides strides = stridesOf(dims, reduced);
  for (int64_t at = 0; at < countOf(dims); ++at) {
    int64_t to = 0, rest = at;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i])
      to += rest % dims[i] * strides[i];
    fn(at, to);
  }
}

class Joined : public EveryIsa {
protected:
  /// Of x and y, of one type: the product, which is stored, the largest product, and the sum of all products.
  template <class T> struct Results {
    std::vector<T> products, largest, sums;
    bool operator==(const Results &) const = default;
  };
  template <class T>
  Results<T> run(const Context &with, DType type, const Dims &dims, unsigned reduced, const std::vector<T> &x,
                 const std::vector<T> &y, T initial) {
    VectorBuilder builder;
    auto product = builder.apply(VectorOp::Multiply, builder.input(type), builder.input(type));
    for (int i = 0; i < 3; ++i)
      builder.output(product, type);
    VectorWalk walk;
    walk.rank = static_cast<int>(dims.size());
    std::copy(dims.begin(), dims.end(), walk.dims.begin());
    walk.inputs.assign(2, stridesOf(dims, 0));
    walk.outputs.assign(1, stridesOf(dims, 0));
    VectorStrides strides = stridesOf(dims, reduced);
    std::vector<JoinedOutput> outputs{{type, Reduction::Max, strides}, {type, Reduction::Sum, strides}};
    JoinedPlan plan(*builder.finish(), with.isa, walk, outputs);
    int64_t count = 1;
    for (size_t i = 0; i < dims.size(); ++i)
      count *= reduced >> i & 1 ? 1 : dims[i];
    Results<T> results{std::vector<T>(x.size()), std::vector<T>(count), std::vector<T>(count)};
    const void *from[] = {x.data(), y.data()}, *initials[] = {&initial, &initial};
    void *stored[] = {results.products.data()}, *to[] = {results.largest.data(), results.sums.data()};
    plan.run(with, {from, stored, initials, to});
    return results;
  }
};

const Dims kShapes[] = {{1},         {1, 1},       {7},          {1000},        {70000},    {3, 5, 7},
                        {17, 2100},  {2100, 17},   {1500, 4},    {4, 1500},     {300, 300}, {2, 3, 4, 5, 6},
                        {64, 9, 65}, {9, 1030, 3}, {1, 2049, 1}, {40, 1, 1100}, {20000, 2}, {5, 5, 5, 5, 5}};

TEST_P(Joined, SumsAndMaximaOverAnyDimensions) {
  for (const Dims &dims : kShapes)
    for (unsigned reduced = 0; reduced < 1u << dims.size(); ++reduced) {
      auto x = randomFloats(countOf(dims), 1), y = randomFloats(countOf(dims), 2);
      auto got = run<float>(context, DType::F32, dims, reduced, x, y, 0.25f);
      std::vector<double> sums(got.sums.size(), 0.25), magnitudes(sums);
      std::vector<float> largest(sums.size(), 0.25f);
      eachElement(dims, reduced, [&](int64_t at, int64_t to) {
        float product = x[at] * y[at];
        ASSERT_EQ(got.products[at], product);
        sums[to] += product;
        magnitudes[to] += std::abs(product);
        largest[to] = std::max(largest[to], product);
      });
      EXPECT_EQ(got.largest, largest);
      for (size_t i = 0; i < sums.size(); ++i)
        ASSERT_NEAR(got.sums[i], sums[i], 1e-6 * magnitudes[i]) << dims.size() << " " << reduced;
    }
}

TEST_P(Joined, IntegersWrap) {
  for (const Dims &dims : kShapes)
    for (unsigned reduced = 1; reduced < 1u << dims.size(); ++reduced) {
      std::vector<int8_t> x(countOf(dims)), y(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<int8_t>(i * 37);
        y[i] = static_cast<int8_t>(i * 11 + 3);
      }
      auto got = run<int8_t>(context, DType::I8, dims, reduced, x, y, -128);
      std::vector<int8_t> sums(got.sums.size(), -128), largest(sums);
      eachElement(dims, reduced, [&](int64_t at, int64_t to) {
        auto product = static_cast<int8_t>(x[at] * y[at]);
        sums[to] = static_cast<int8_t>(sums[to] + product);
        largest[to] = std::max(largest[to], product);
      });
      EXPECT_EQ(got.sums, sums);
      EXPECT_EQ(got.largest, largest);
    }
}

/// BF16 is summed in f32 and rounded once; what is stored is rounded.
TEST_P(Joined, NarrowSumsAreRoundedOnce) {
  Dims dims{3, 4000};
  std::vector<uint16_t> ones(12000, 0x3f80);
  uint16_t zero = 0;
  auto got = run<uint16_t>(context, DType::BF16, dims, 2, ones, ones, zero);
  EXPECT_EQ(got.sums, std::vector<uint16_t>(3, 0x457a)); // 4000
  EXPECT_EQ(got.largest, std::vector<uint16_t>(3, 0x3f80));
  EXPECT_EQ(got.products, ones);
}

TEST_P(Joined, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = NAN;
  for (int64_t rows : {1, 9, 1100})
    for (int64_t special = 0; special < rows; special += 7) {
      std::vector<float> x(rows * 3, -2.0f), y(x.size(), 1.0f);
      x[special * 3] = kNan;
      x[special * 3 + 1] = -kInf;
      for (unsigned reduced : {1u, 2u}) {
        auto got = run<float>(context, DType::F32, {rows, 3}, reduced, x, y, -kInf);
        size_t at = reduced == 1 ? 0 : static_cast<size_t>(special);
        ASSERT_TRUE(std::isnan(got.largest[at]) && std::isnan(got.sums[at]));
        if (reduced == 1) {
          ASSERT_EQ(got.largest[1], rows == 1 ? -kInf : -2);
          ASSERT_EQ(got.sums[1], -kInf);
          ASSERT_EQ(got.largest[2], -2);
        }
      }
    }
}

TEST_P(Joined, LongSumsStayAccurate) {
  for (Dims dims : {Dims{1 << 21}, Dims{1 << 19, 4}, Dims{4, 1 << 19}})
    for (unsigned reduced : {1u, 2u}) {
      if (dims.size() == 1 && reduced == 2)
        continue;
      std::vector<float> x(1 << 21, 0.1f), ones(x.size(), 1.0f);
      auto got = run<float>(context, DType::F32, dims, reduced, x, ones, 0.0f);
      double each = double(x.size()) / double(got.sums.size());
      for (float sum : got.sums)
        ASSERT_NEAR(sum, double(0.1f) * each, 1e-6 * 0.1 * each);
    }
}

TEST_P(Joined, TheSameForAnyNumberOfThreads) {
  for (const Dims &dims : {Dims{70000}, Dims{300, 300}, Dims{40, 1100}, Dims{9, 1030, 30}})
    for (unsigned reduced = 1; reduced < 1u << dims.size(); ++reduced) {
      auto x = randomFloats(countOf(dims), 1), y = randomFloats(countOf(dims), 2);
      auto expected = run<float>(context, DType::F32, dims, reduced, x, y, 0);
      for (int threads : {1, 5}) {
        ThreadPool other(threads);
        EXPECT_TRUE((run<float>({other, context.isa}, DType::F32, dims, reduced, x, y, 0) == expected));
      }
    }
}

TORCHERE_EVERY_ISA(Joined);

} // namespace
} // namespace torchere::cpu
