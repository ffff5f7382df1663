// Products against sums in f64.
#include "cpu/kernels/gemm.h"
#include "test_values.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace torchere::cpu {
namespace {

class Gemm : public EveryIsa {};

struct ProductCase {
  int64_t m, n, k;
  Activation activation = Activation::None;
  bool bias = false, residual = false;
};

/// Rows of A and C lie 3 elements apart, B is `transposed` or not.
void check(const Context &context, const ProductCase &c, bool transposed) {
  auto a = randomFloats(c.m * (c.k + 3), 1), b = randomFloats(c.k * c.n, 2), bias = randomFloats(c.n, 3);
  auto residual = randomFloats(c.m * c.n, 4);
  PackedLayout layout = packedLayout(DType::F32, context.isa, c.m, c.k, c.n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), transposed ? 1 : c.n, transposed ? c.k : 1, packed.data);
  std::vector<float> result(c.m * (c.n + 3), 77);
  GemmArgs args;
  args.layout = layout;
  args.m = c.m;
  args.a = a.data();
  args.aRowStride = c.k + 3;
  args.packedB = packed.data;
  args.c = result.data();
  args.cRowStride = c.n + 3;
  args.epilogue.activation = c.activation;
  args.epilogue.bias = c.bias ? bias.data() : nullptr;
  args.epilogue.residual = c.residual ? residual.data() : nullptr;
  args.epilogue.residualRowStride = c.n;
  gemm(context, args);
  double bound = 4e-7 * std::sqrt(double(c.k) + 1) * 2 + 1e-6;
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < c.k; ++k)
        sum += double(a[i * (c.k + 3) + k]) * b[transposed ? j * c.k + k : k * c.n + j];
      sum += (c.bias ? bias[j] : 0) + (c.residual ? residual[i * c.n + j] : 0);
      ASSERT_NEAR(result[i * (c.n + 3) + j], activated(c.activation, sum), bound)
          << c.m << "x" << c.n << "x" << c.k << " at " << i << ", " << j;
    }
    for (int64_t j = c.n; j < c.n + 3; ++j)
      ASSERT_EQ(result[i * (c.n + 3) + j], 77) << "beyond the row";
  }
}

/// Each piece is there when it is told, and all together are what gemm() gives.
TEST_P(Gemm, RunsInPiecesAreTheWhole) {
  for (int64_t m : {1, 3, 5, 16})
    for (int64_t k : {7, 400}) {
      int64_t runs = 3, pieces = 4, panel = packedLayout(DType::F32, context.isa, m, k, 768).panelColumns();
      int64_t width = 2 * pieces * panel, n = runs * width;
      auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2), bias = randomFloats(n, 3);
      PackedLayout layout = packedLayout(DType::F32, context.isa, m, k, n);
      ASSERT_EQ(layout.panelColumns(), panel);
      AlignedBuffer<char> packed(layout.bytes());
      packMatrix(context, layout, b.data(), n, 1, packed.data);
      std::vector<float> whole(m * n), inPieces(m * n, 77), seen(m * n);
      GemmArgs args;
      args.layout = layout;
      args.m = m;
      args.a = a.data();
      args.aRowStride = k;
      args.packedB = packed.data;
      args.c = whole.data();
      args.cRowStride = n;
      args.epilogue.bias = bias.data();
      gemm(context, args);
      args.c = inPieces.data();
      gemmByRuns(context, args, runs, pieces, [&](int64_t piece) {
        for (int64_t row = 0; row < m; ++row)
          for (int64_t run = 0; run < runs; ++run)
            for (int64_t i = 0, at = row * n + run * width + piece * width / pieces; i < width / pieces; ++i)
              seen[at + i] = inPieces[at + i];
      });
      EXPECT_EQ(seen, whole) << m << "x" << k;
      EXPECT_EQ(inPieces, whole) << m << "x" << k;
    }
}

// The choice needs no processor of the instruction set.
TEST(PackedLayout, HasTilesForEveryType) {
  for (Isa isa : {Isa::Baseline, Isa::Avx2, Isa::Avx512})
    for (DType type : {DType::F64, DType::BF16, DType::F16, DType::I8, DType::U8, DType::I32, DType::I64})
      for (int64_t m : {1, 16, 17, 200})
        for (int64_t n = 1; n <= 300; ++n)
          EXPECT_LE(packedLayout(type, isa, m, 64, n).vectors, 2) << "m " << m << ", n " << n;
}

TEST(PackedLayout, OfF32TakesTheWidestTileThatWastesLittle) {
  auto vectors = [](Isa isa, int64_t m, int64_t n) {
    return packedLayout(DType::F32, isa, m, 64, n).vectors;
  };
  EXPECT_EQ(vectors(Isa::Avx512, 1, 768), 4);
  EXPECT_EQ(vectors(Isa::Avx512, 100, 768), 2);
  EXPECT_EQ(vectors(Isa::Avx512, 100, 48), 3);
  EXPECT_EQ(vectors(Isa::Avx2, 1, 768), 2);
  EXPECT_EQ(vectors(Isa::Avx2, 100, 768), 3);
  EXPECT_EQ(vectors(Isa::Avx2, 100, 1024), 3); // 1032 columns
  EXPECT_EQ(vectors(Isa::Avx2, 100, 512), 2);  // 528
  EXPECT_EQ(vectors(Isa::Avx2, 100, 8), 1);
}

TEST_P(Gemm, MatchesSumsForAllTails) {
  for (int64_t m : {1, 2, 5, 14, 15, 29})
    for (int64_t n : {1, 3, 8, 16, 17, 33, 48, 64, 100})
      for (int64_t k : {1, 2, 7, 32})
        check(context, {m, n, k, Activation::None, n % 2 == 0, m % 2 == 0}, (m + n + k) % 2);
}

TEST_P(Gemm, CutsDeepAndTallProducts) {
  check(context, {70, 40, 800, Activation::Relu, true, true}, true);
  check(context, {133, 70, 50, Activation::None, true, false}, false);
  check(context, {64, 10, 512, Activation::Relu, true, true}, false); // parts of rows
  check(context, {50, 3, 900, Activation::None, false, true}, true);
  check(context, {2, 300, 900, Activation::None, true, false}, true);
}

TEST_P(Gemm, AppliesEveryActivation) {
  for (int i = 0; i < kActivations; ++i)
    for (int64_t n : {20, 64})
      check(context, {9, n, 40, static_cast<Activation>(i), true, true}, false);
}

TEST_P(Gemm, AnEmptyDepthLeavesTheEpilogue) {
  check(context, {5, 40, 0, Activation::Relu, true, true}, false);
}

TEST_P(Gemm, EmptyResultsAreLeftAlone) {
  GemmArgs args;
  args.layout = packedLayout(DType::F32, context.isa, 0, 5, 4);
  gemm(context, args);
  args.layout = packedLayout(DType::F32, context.isa, 3, 5, 0);
  EXPECT_EQ(args.layout.bytes(), 0);
  args.m = 3;
  gemm(context, args);
}

/// C of f32 is the product of A and of b in rows, summed in f64.
void expectProduct(const GemmArgs &args, const float *b, int64_t bBatchStride, double tolerance) {
  const auto *a = static_cast<const float *>(args.a), *c = static_cast<const float *>(args.c);
  for (int64_t batch = 0; batch < args.batches; ++batch)
    for (int64_t i = 0; i < args.m; ++i)
      for (int64_t j = 0; j < args.layout.n; ++j) {
        const float *row = a + batch * args.aBatchStride + i * args.aRowStride;
        const float *column = b + batch * bBatchStride + j;
        double sum = 0;
        for (int64_t x = 0; x < args.layout.k; ++x)
          sum += double(row[x * args.aColumnStride]) * column[x * args.layout.n];
        ASSERT_NEAR(c[batch * args.cBatchStride + i * args.cRowStride + j], sum, tolerance)
            << batch << ", " << i << ", " << j;
      }
}

TEST_P(Gemm, RowsThatShareSetsOfTheCache) {
  const int64_t m = 20, k = 1024, n = 24;
  auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
  PackedLayout layout = packedLayout(DType::F32, context.isa, m, k, n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), n, 1, packed.data);
  std::vector<float> c(m * n);
  GemmArgs args{layout, m, a.data(), k, 1, packed.data, c.data(), DType::F32, n, 1, 0, 0, 0, {}};
  gemm(context, args);
  expectProduct(args, b.data(), 0, 5e-5);
}

/// Parts of few columns share rows that are packed once: transposed, of several batches, chunks of K and
/// parts of rows.
TEST_P(Gemm, PartsShareRowsThatArePackedOnce) {
  const int64_t batches = 2, m = 133, n = 200, k = 800;
  auto a = randomFloats(batches * m * k, 1), b = randomFloats(k * n, 2);
  PackedLayout layout = packedLayout(DType::F32, context.isa, m, k, n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), n, 1, packed.data);
  for (bool transposed : {false, true}) {
    std::vector<float> c(batches * m * n);
    GemmArgs args{layout,     m, a.data(), k,     1, packed.data, c.data(),
                  DType::F32, n, batches,  m * k, 0, m * n,       {}};
    if (transposed)
      std::tie(args.aRowStride, args.aColumnStride) = std::pair(1, m);
    gemm(context, args);
    expectProduct(args, b.data(), 0, 5e-5);
  }
}

TEST_P(Gemm, TransposedAAndBatches) {
  const int64_t batches = 3, m = 7, n = 21, k = 33;
  auto a = randomFloats(batches * m * k, 1), b = randomFloats(batches * k * n, 2);
  MatmulArgs args;
  args.gemm.layout = packedLayout(DType::F32, context.isa, m, k, n);
  args.gemm.m = m;
  args.gemm.a = a.data(); // [batch][k][m]
  args.gemm.aRowStride = 1;
  args.gemm.aColumnStride = m;
  args.gemm.batches = batches;
  args.gemm.aBatchStride = m * k;
  args.gemm.cBatchStride = m * n;
  args.gemm.cRowStride = n;
  args.b = b.data();
  args.bRowStride = n;
  for (int64_t stride : {int64_t(0), k * n}) {
    std::vector<float> c(batches * m * n);
    args.bBatchStride = stride;
    args.gemm.c = c.data();
    AlignedBuffer<char> workspace(matmulWorkspaceBytes(args));
    args.workspace = workspace.data;
    matmul(context, args);
    expectProduct(args.gemm, b.data(), stride, 1e-5);
  }
}

TEST_P(Gemm, SmallBatches) {
  for (auto [batches, m, n, k] : {std::array<int64_t, 4>{130, 9, 9, 64}, {40, 27, 33, 20}, {2, 1, 1, 1}})
    for (bool transposed : {false, true}) {
      auto a = randomFloats(batches * m * k, 1), b = randomFloats(batches * k * n, 2);
      std::vector<float> c(batches * m * n);
      MatmulArgs args;
      args.gemm.layout = packedLayout(DType::F32, context.isa, m, k, n);
      args.gemm.m = m;
      args.gemm.a = a.data();
      args.gemm.aRowStride = k;
      args.gemm.c = c.data();
      args.gemm.batches = batches;
      args.gemm.aBatchStride = m * k;
      args.gemm.cBatchStride = m * n;
      args.gemm.cRowStride = n;
      args.b = b.data();
      args.bRowStride = transposed ? 1 : n;
      args.bColumnStride = transposed ? k : 1;
      args.bBatchStride = k * n;
      AlignedBuffer<char> workspace(matmulWorkspaceBytes(args));
      args.workspace = workspace.data;
      matmul(context, args);
      std::vector<float> rows = b; // [batch][k][n]
      for (int64_t i = 0; transposed && i < batches * k * n; ++i)
        rows[i] = b[i / (k * n) * k * n + i % n * k + i / n % k];
      expectProduct(args.gemm, rows.data(), k * n, 1e-5);
    }
}

TEST_P(Gemm, BatchesWithoutRowsWriteNothing) {
  float b[12] = {}, c = 7;
  MatmulArgs args;
  args.gemm.layout = packedLayout(DType::F32, context.isa, 0, 2, 3);
  args.gemm.c = &c;
  args.gemm.batches = 2;
  args.b = b;
  args.bRowStride = 3;
  args.bBatchStride = 6;
  AlignedBuffer<char> workspace(matmulWorkspaceBytes(args));
  args.workspace = workspace.data;
  matmul(context, args);
  EXPECT_EQ(c, 7);
}

TEST_P(Gemm, ResidualInPlace) {
  const int64_t m = 20, n = 32, k = 900;
  auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2), c = randomFloats(m * n, 3), before = c;
  PackedLayout layout = packedLayout(DType::F32, context.isa, m, k, n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), n, 1, packed.data);
  GemmArgs args{layout, m, a.data(), k, 1, packed.data, c.data(), DType::F32, n, 1, 0, 0, 0, {}};
  args.epilogue.residual = c.data();
  args.epilogue.residualRowStride = n;
  gemm(context, args);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = before[i * n + j];
      for (int64_t x = 0; x < k; ++x)
        sum += double(a[i * k + x]) * b[x * n + j];
      ASSERT_NEAR(c[i * n + j], sum, 5e-5);
    }
}

TEST_P(Gemm, DoublePrecision) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 9, 20}, {20, 16, 30}, {70, 19, 410}}) {
    auto af = randomFloats(m * k, 1), bf = randomFloats(k * n, 2);
    std::vector<double> a(af.begin(), af.end()), b(bf.begin(), bf.end()), c(m * n);
    PackedLayout layout = packedLayout(DType::F64, context.isa, m, k, n);
    AlignedBuffer<char> packed(layout.bytes());
    packMatrix(context, layout, b.data(), n, 1, packed.data);
    GemmArgs args{layout, m, a.data(), k, 1, packed.data, c.data(), DType::F64, n, 1, 0, 0, 0, {}};
    args.epilogue.activation = Activation::Tanh;
    gemm(context, args);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t x = 0; x < k; ++x)
          sum += a[i * k + x] * b[x * n + j];
        ASSERT_NEAR(c[i * n + j], std::tanh(sum), 1e-13);
      }
  }
}

/// The product of A [m x k] and B [k x n], both dense and of this type, by 1, 2 and 5 threads.
void expectSameForThreads(const Context &context, DType type, int64_t m, int64_t n, int64_t k, const void *a,
                          const void *b) {
  PackedLayout layout = packedLayout(type, context.isa, m, k, n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b, n, 1, packed.data);
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    ThreadPool other(threads);
    std::vector<float> c(m * n);
    GemmArgs args{layout, m, a, k, 1, packed.data, c.data(), DType::F32, n, 1, 0, 0, 0, {}};
    gemm({other, context.isa}, args);
    if (first.empty())
      first = c;
    EXPECT_EQ(first, c);
  }
}

TEST_P(Gemm, TheSameForAnyNumberOfThreads) {
  const int64_t m = 130, n = 100, k = 500;
  auto a = randomFloats(m * k, 1), b = randomFloats(k * n, 2);
  expectSameForThreads(context, DType::F32, m, n, k, a.data(), b.data());
}

TEST_P(Gemm, HalfPrecisionIsTheSameForAnyNumberOfThreads) {
  const int64_t n = 200, k = 901;
  for (DType type : {DType::BF16, DType::F16})
    for (int64_t m : {1, 4, 130}) {
      auto af = randomFloats(m * k, 1), bf = randomFloats(k * n, 2);
      std::vector<uint16_t> a(m * k), b(k * n);
      std::transform(af.begin(), af.end(), a.begin(), type == DType::BF16 ? bf16OfFloat : f16OfFloat);
      std::transform(bf.begin(), bf.end(), b.begin(), type == DType::BF16 ? bf16OfFloat : f16OfFloat);
      expectSameForThreads(context, type, m, n, k, a.data(), b.data());
    }
}

TEST_P(Gemm, NotANumberStays) {
  std::vector<float> a(3 * 4, 1), b(4 * 5, 1), c(15);
  a[5] = NAN;
  b[2] = INFINITY;
  PackedLayout layout = packedLayout(DType::F32, context.isa, 3, 4, 5);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), 5, 1, packed.data);
  GemmArgs args{layout, 3, a.data(), 4, 1, packed.data, c.data(), DType::F32, 5, 1, 0, 0, 0, {}};
  args.epilogue.activation = Activation::Relu;
  gemm(context, args);
  EXPECT_EQ(c[0], 4);
  EXPECT_EQ(c[2], INFINITY);
  EXPECT_TRUE(std::isnan(c[5]) && std::isnan(c[9]));
}

template <class T> void checkIntegers(const Context &context, DType type, int64_t m, int64_t n, int64_t k) {
  std::mt19937_64 generator(1);
  std::vector<T> a(m * k), b(k * n), c(m * n), expected(m * n);
  for (auto *values : {&a, &b})
    for (T &value : *values)
      value = static_cast<T>(generator());
  for (int64_t i = 0; i < m * n * k; ++i)
    expected[i / k] += a[i / (k * n) * k + i % k] * b[i % k * n + i / k % n];
  MatmulArgs args;
  args.gemm.layout = packedLayout(type, context.isa, m, k, n);
  args.gemm.m = m;
  args.gemm.a = a.data();
  args.gemm.aRowStride = k;
  args.gemm.c = c.data();
  args.gemm.cType = type;
  args.gemm.cRowStride = n;
  args.b = b.data();
  args.bRowStride = n;
  AlignedBuffer<char> workspace(matmulWorkspaceBytes(args));
  args.workspace = workspace.data;
  matmul(context, args);
  EXPECT_EQ(c, expected) << m << 'x' << n << 'x' << k;
}

TEST_P(Gemm, IntegersWrap) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {3, 70, 9}, {20, 33, 500}, {7, 5, 0}}) {
    checkIntegers<uint32_t>(context, DType::I32, m, n, k);
    checkIntegers<uint64_t>(context, DType::U64, m, n, k);
  }
}

TORCHERE_EVERY_ISA(Gemm);

} // namespace
} // namespace torchere::cpu
