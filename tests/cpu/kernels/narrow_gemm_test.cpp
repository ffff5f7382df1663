// Products of 16 bits and of bytes against sums in f64 and of integers.
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/isa_dispatch.h"
#include "test_values.h"

#include <algorithm>
#include <array>

namespace torchere::cpu {
namespace {

class NarrowGemm : public EveryIsa {};

/// 16-bit inputs: exact products, one rounding at the end.
void checkHalf(const Context &context, DType type, DType cType, uint16_t (*round)(float),
               float (*widen)(uint16_t)) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 40, 64},
                         {1, 1, 1},
                         {2, 33, 7},
                         {4, 70, 801},
                         {5, 33, 7},
                         {16, 16, 32},
                         {17, 20, 1},
                         {18, 33, 51},
                         {33, 96, 64},
                         {3, 9, 0},
                         {70, 64, 421},
                         {70, 260, 420}}) {
    auto af = randomFloats(m * k, 1), bf = randomFloats(k * n, 2), bias = randomFloats(n, 3);
    std::vector<uint16_t> a(m * k), b(k * n);
    std::transform(af.begin(), af.end(), a.begin(), round);
    std::transform(bf.begin(), bf.end(), b.begin(), round);
    PackedLayout layout = packedLayout(type, context.isa, m, k, n);
    AlignedBuffer<char> packed(layout.bytes());
    if (n % 2 == 0) {
      packMatrix(context, layout, b.data(), n, 1, packed.data);
    } else { // with columns that lie in one piece each
      std::vector<uint16_t> transposed(k * n);
      for (int64_t i = 0; i < k * n; ++i)
        transposed[i % n * k + i / n] = b[i];
      packMatrix(context, layout, transposed.data(), 1, k, packed.data);
    }
    std::vector<float> wide(m * n);
    std::vector<uint16_t> narrow(m * n);
    void *c = cType == DType::F32 ? static_cast<void *>(wide.data()) : narrow.data();
    GemmArgs args{layout, m, a.data(), k, 1, packed.data, c, cType, n, 1, 0, 0, 0, {}};
    args.epilogue.bias = bias.data();
    gemm(context, args);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = bias[j];
        for (int64_t x = 0; x < k; ++x)
          sum += double(widen(a[i * k + x])) * widen(b[x * n + j]);
        float got = cType == DType::F32 ? wide[i * n + j] : widen(narrow[i * n + j]);
        double bound = cType == DType::F32 ? 4e-5 : std::abs(sum) / (type == DType::BF16 ? 255 : 2040) + 4e-5;
        ASSERT_NEAR(got, sum, bound) << m << "x" << n << "x" << k;
      }
  }
}

TEST_P(NarrowGemm, HalfPrecision) {
  checkHalf(context, DType::BF16, DType::BF16, bf16OfFloat, floatOfBF16);
  checkHalf(context, DType::BF16, DType::F32, bf16OfFloat, floatOfBF16);
  checkHalf(context, DType::F16, DType::F16, f16OfFloat, floatOfF16);
  checkHalf(context, DType::F16, DType::F32, f16OfFloat, floatOfF16);
}

/// Sums that f32 holds exactly, of numbers that the type barely has.
void checkHalfSpecials(const Context &context, DType type, uint16_t (*round)(float), float (*widen)(uint16_t),
                       float denormal) {
  const int64_t k = 5, n = 4;
  for (int64_t m : {1, 3, 6}) {
    std::vector<uint16_t> a(m * k, round(1)), b(k * n, round(1)), c(m * n);
    for (int64_t row = 0; row < k; ++row)
      b[row * n + 3] = 1; // the least denormal
    b[4 * n + 1] = round(INFINITY);
    b[3 * n + 2] = round(INFINITY), b[4 * n + 2] = round(-INFINITY);
    a[(m - 1) * k + 2] = round(m == 1 ? 1 : NAN) | (m == 1 ? 0 : 0x40);
    PackedLayout layout = packedLayout(type, context.isa, m, k, n);
    AlignedBuffer<char> packed(layout.bytes());
    packMatrix(context, layout, b.data(), n, 1, packed.data);
    GemmArgs args{layout, m, a.data(), k, 1, packed.data, c.data(), type, n, 1, 0, 0, 0, {}};
    args.keepsDenormals = true;
    gemm(context, args);
    EXPECT_EQ(widen(c[0]), 5);
    EXPECT_EQ(widen(c[1]), INFINITY);
    EXPECT_TRUE(std::isnan(widen(c[2])));
    EXPECT_EQ(widen(c[3]), 5 * denormal);
    for (int64_t j = 0; m > 1 && j < n; ++j)
      EXPECT_TRUE(std::isnan(widen(c[(m - 1) * n + j])));
  }
}

TEST_P(NarrowGemm, HalfPrecisionKeepsNotANumberInfinitiesAndDenormals) {
  checkHalfSpecials(context, DType::BF16, bf16OfFloat, floatOfBF16, 0x1p-133f);
  checkHalfSpecials(context, DType::F16, f16OfFloat, floatOfF16, 0x1p-24f);
}

/// Denormals may count as zeros; what is no number or infinite stays, and beside them the rest is right.
TEST_P(NarrowGemm, InstructionsForPairsKeepNotANumberAndInfinities) {
  const int64_t m = 20, k = 37, n = 20;
  std::vector<uint16_t> a(m * k, bf16OfFloat(1)), b(k * n, bf16OfFloat(1)), c(m * n);
  b[36 * n + 1] = bf16OfFloat(INFINITY);
  b[3 * n + 2] = bf16OfFloat(INFINITY), b[36 * n + 2] = bf16OfFloat(-INFINITY);
  a[17 * k + 36] = bf16OfFloat(NAN) | 0x40;
  PackedLayout layout = packedLayout(DType::BF16, context.isa, m, k, n);
  AlignedBuffer<char> packed(layout.bytes());
  packMatrix(context, layout, b.data(), n, 1, packed.data);
  gemm(context, {layout, m, a.data(), k, 1, packed.data, c.data(), DType::BF16, n, 1, 0, 0, 0, {}});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float x = floatOfBF16(c[i * n + j]);
      if (i == 17 || j == 2)
        ASSERT_TRUE(std::isnan(x)) << i << ", " << j;
      else
        ASSERT_EQ(x, j == 1 ? INFINITY : 37) << i << ", " << j;
    }
}

/// A tile of kBF16Dots as the table has it.
struct DotsCase {
  int64_t rows, tiles, vectors, steps;
  bool hasEpilogue;
};

void checkDots(TileFunction tile, int lanes, const DotsCase &c) {
  const int64_t columns = c.vectors * lanes, m = c.rows * c.tiles, k = 2 * c.steps, stride = c.steps + 3;
  auto af = randomFloats(m * 2 * stride, 1), bf = randomFloats(k * columns, 2);
  auto bias = randomFloats(columns, 3), residual = randomFloats(m * columns, 4);
  std::vector<uint16_t> a(af.size());
  std::transform(af.begin(), af.end(), a.begin(), bf16OfFloat);
  AlignedBuffer<uint16_t> b(k * columns + 1);
  for (int64_t i = 0; i < k * columns; ++i) // [step][column][element of the pair]
    b.data[i] = bf16OfFloat(bf[i]);
  std::vector<float> result(m * (columns + 5), 7);
  TileArgs args;
  args.a = a.data();
  args.aRowStride = stride;
  args.tiles = c.tiles;
  args.rows = c.rows;
  args.k = c.steps;
  args.b = b.data;
  args.bRowStride = columns;
  args.c = result.data();
  args.cRowStride = columns + 5;
  args.cVectorStride = lanes;
  if (c.hasEpilogue) {
    args.accumulate = true;
    args.bias = bias.data();
    args.residual = residual.data();
    args.residualRowStride = columns;
    args.residualVectorStride = lanes;
    args.activation = Activation::Relu;
  }
  tile(args);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = c.hasEpilogue ? 7 + bias[j] + residual[i * columns + j] : 0;
      for (int64_t x = 0; x < k; ++x)
        sum += double(floatOfBF16(a[i * 2 * stride + x])) *
               floatOfBF16(b.data[(x / 2 * columns + j) * 2 + x % 2]);
      ASSERT_NEAR(result[i * (columns + 5) + j], c.hasEpilogue ? std::max(sum, 0.0) : sum, 4e-5)
          << c.rows << " rows, " << c.vectors << " vectors, " << c.steps << " steps at " << i << ", " << j;
    }
    for (int64_t j = columns; j < columns + 5; ++j)
      ASSERT_EQ(result[i * (columns + 5) + j], 7) << "beyond the row";
  }
}

/// A processor may have both kinds of tiles, of which products take one.
TEST_P(NarrowGemm, TilesOfPairs) {
  const IsaKernels &kernels = kernelsOf(context.isa);
  for (int64_t vectors : {1, 2})
    for (int64_t steps : {1, 15, 16, 17, 160, 203})
      for (int64_t tiles : {1, 3})
        for (bool hasEpilogue : {false, true}) {
          for (int64_t rows = 1; kernels.matrixTiles[kMatrixBF16][vectors] && rows <= kMatrixRows; ++rows)
            checkDots(kernels.matrixTiles[kMatrixBF16][vectors], kernels.lanes,
                      {rows, tiles, vectors, steps, hasEpilogue});
          for (int64_t rows = 1; rows <= kernels.maxRows[vectors]; ++rows)
            if (TileFunction tile = kernels.tiles[kBF16Dots][vectors][rows])
              checkDots(tile, kernels.lanes, {rows, tiles, vectors, steps, hasEpilogue});
        }
}

/// Rows of A lie three elements apart, or A is transposed; B in columns or in rows.
template <class A, class B>
void checkBytes(const Context &context, int64_t batches, int64_t m, int64_t n, int64_t k, bool transposed) {
  std::mt19937 generator(1);
  int64_t rows = transposed ? m : k + 3;
  std::vector<A> a(batches * (transposed ? k * m : m * rows));
  std::vector<B> b(batches * k * n);
  for (A &value : a)
    value = static_cast<A>(generator() % 4 == 0 ? 0x80 : generator()); // often the least, or the middle
  for (B &value : b)
    value = static_cast<B>(generator() % 4 == 0 ? 0xff : generator() % 3 == 0 ? 0x80 : generator());
  MatmulArgs args;
  args.gemm.layout = packedLayout(B(-1) < 0 ? DType::I8 : DType::U8, context.isa, m, k, n);
  args.gemm.aType = A(-1) < 0 ? DType::I8 : DType::U8;
  args.gemm.m = m;
  args.gemm.a = a.data();
  args.gemm.aRowStride = transposed ? 1 : rows;
  args.gemm.aColumnStride = transposed ? rows : 1;
  args.gemm.batches = batches;
  args.gemm.aBatchStride = static_cast<int64_t>(a.size()) / batches;
  args.gemm.cType = DType::I32;
  args.gemm.cRowStride = n;
  args.gemm.cBatchStride = m * n;
  args.b = b.data();
  args.bRowStride = transposed ? 1 : n;
  args.bColumnStride = transposed ? k : 1;
  args.bBatchStride = k * n;
  AlignedBuffer<char> workspace(matmulWorkspaceBytes(args));
  args.workspace = workspace.data;
  std::vector<int32_t> expected(batches * m * n);
  for (int64_t i = 0; i < batches * m * n; ++i)
    for (int64_t x = 0; x < k; ++x) {
      int64_t batch = i / (m * n), row = i / n % m, column = i % n;
      expected[i] +=
          a[batch * args.gemm.aBatchStride + row * args.gemm.aRowStride + x * args.gemm.aColumnStride] *
          b[batch * args.bBatchStride + x * args.bRowStride + column * args.bColumnStride];
    }
  for (int threads : {1, 3}) {
    ThreadPool other(threads);
    std::vector<int32_t> c(batches * m * n, 77);
    args.gemm.c = c.data();
    matmul({other, context.isa}, args);
    EXPECT_EQ(c, expected) << batches << 'x' << m << 'x' << n << 'x' << k << ", transposed " << transposed;
  }
}

TEST_P(NarrowGemm, ProductsOfBytesAreExact) {
  for (auto [batches, m, n, k] : {std::array<int64_t, 4>{1, 1, 1, 1},
                                  {1, 1, 70, 9},
                                  {1, 3, 33, 1001},
                                  {1, 20, 33, 64},
                                  {1, 150, 40, 1700},
                                  {1, 33, 40, 63},
                                  {1, 47, 70, 3101},
                                  {1, 16, 16, 64},
                                  {1, 7, 5, 0},
                                  {3, 18, 21, 33},
                                  {90, 9, 9, 16}})
    for (bool transposed : {false, true}) {
      checkBytes<int8_t, int8_t>(context, batches, m, n, k, transposed);
      checkBytes<uint8_t, int8_t>(context, batches, m, n, k, transposed);
      checkBytes<int8_t, uint8_t>(context, batches, m, n, k, transposed);
      checkBytes<uint8_t, uint8_t>(context, batches, m, n, k, transposed);
    }
}

TORCHERE_EVERY_ISA(NarrowGemm);

} // namespace
} // namespace torchere::cpu
