// Products of BF16 and of bytes on AMX's matrix unit: 32 rows by two vectors in four registers of sums.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kUnitRows = 16;     ///< of a register
constexpr int kUnitElements = 16; ///< of a row of a register: pairs of BF16, fours of bytes, sums
constexpr int kUnits = 8;

/// The type of B in the tiles that the epilogue is shared with.
template <int kProduct> struct ElementOf {
  using Type = I8Pair;
};
template <> struct ElementOf<kMatrixBF16> {
  using Type = BF16Dots;
};
template <int kProduct> using SumOf = Compute<typename ElementOf<kProduct>::Type>;

// The registers: sums of the upper and the lower rows, by vector; A's rows; B's vectors.
constexpr int kSums = 0, kA = 4, kB = 6;

/// What LDTILECFG reads (Intel's manual, volume 1, chapter 18).
struct alignas(64) UnitShapes {
  uint8_t palette = 1;
  uint8_t startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {};
  uint8_t rows[16] = {};
};

#if defined(TORCHERE_EMULATED_AVX512)

thread_local UnitShapes unitShapes;
thread_local uint32_t units[kUnits][kUnitRows][kUnitElements];

void configure(const UnitShapes &shapes) {
  unitShapes = shapes;
  memset(units, 0, sizeof(units));
}
void release() {
  configure({});
}
template <int kUnit> void clear() {
  memset(units[kUnit], 0, sizeof(units[kUnit]));
}
template <int kUnit> void loadUnit(const void *p, int64_t stride) {
  for (int row = 0; row < unitShapes.rows[kUnit]; ++row)
    memcpy(units[kUnit][row], static_cast<const char *>(p) + row * stride, unitShapes.rowBytes[kUnit]);
}
template <int kUnit> void storeUnit(void *p, int64_t stride) {
  for (int row = 0; row < unitShapes.rows[kUnit]; ++row)
    memcpy(static_cast<char *>(p) + row * stride, units[kUnit][row], unitShapes.rowBytes[kUnit]);
}
float sumOfProducts(const uint32_t *a, const uint32_t (*b)[kUnitElements], int column) {
  float first = 0, second = 0;
  for (int pair = 0; pair < kUnitElements; ++pair) {
    uint32_t x = a[pair], w = b[pair][column];
    first += bitsToFloat(x << 16) * bitsToFloat(w << 16);
    second += bitsToFloat(x & 0xffff0000u) * bitsToFloat(w & 0xffff0000u);
  }
  return first + second;
}
template <class A, class B>
uint32_t sumOfBytes(const uint32_t *a, const uint32_t (*b)[kUnitElements], int column) {
  uint32_t sum = 0;
  for (int four = 0; four < kUnitElements; ++four)
    for (int byte = 0; byte < 4; ++byte)
      sum += static_cast<uint32_t>(static_cast<A>(a[four] >> 8 * byte) *
                                   static_cast<B>(b[four][column] >> 8 * byte));
  return sum;
}
template <int kProduct, int kSum, int kLeft, int kRight> void addProductsOf() {
  for (int row = 0; row < unitShapes.rows[kSum]; ++row)
    for (int column = 0; column < kUnitElements; ++column) {
      uint32_t &sum = units[kSum][row][column];
      const uint32_t *a = units[kLeft][row], (*b)[kUnitElements] = units[kRight];
      if constexpr (kProduct == kMatrixBF16)
        sum = floatToBits(bitsToFloat(sum) + sumOfProducts(a, b, column));
      else if constexpr (kProduct == kMatrixI8I8)
        sum += sumOfBytes<int8_t, int8_t>(a, b, column);
      else if constexpr (kProduct == kMatrixI8U8)
        sum += sumOfBytes<int8_t, uint8_t>(a, b, column);
      else if constexpr (kProduct == kMatrixU8I8)
        sum += sumOfBytes<uint8_t, int8_t>(a, b, column);
      else
        sum += sumOfBytes<uint8_t, uint8_t>(a, b, column);
    }
}

#else

// The compiler's intrinsics take no template argument for a register.
void configure(const UnitShapes &shapes) {
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}
void release() {
  asm volatile("tilerelease");
}
template <int kUnit> TORCHERE_INLINE void clear() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kUnit));
}
template <int kUnit> TORCHERE_INLINE void loadUnit(const void *p, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(p), "r"(stride), "i"(kUnit) : "memory");
}
template <int kUnit> TORCHERE_INLINE void storeUnit(void *p, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(p), "r"(stride), "i"(kUnit) : "memory");
}
template <int kProduct, int kSum, int kLeft, int kRight> TORCHERE_INLINE void addProductsOf() {
  if constexpr (kProduct == kMatrixBF16)
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  else if constexpr (kProduct == kMatrixI8I8)
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  else if constexpr (kProduct == kMatrixI8U8)
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  else if constexpr (kProduct == kMatrixU8I8)
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  else
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
}

#endif

/// A tile of `upper` rows and `lower` ones below them, and what of its depth is no whole register.
template <int kProduct, int kN, bool kIsTall> class UnitTile {
  using Sum = SumOf<kProduct>;

public:
  UnitTile(const TileArgs &args, int upper, int lower);
  void run(const void *a, Sum *c, const Sum *residual, const char *&ahead);

private:
  TORCHERE_INLINE void addStep(const void *a, int64_t aStride, const void *b, int64_t bStride);
  TORCHERE_INLINE void startSums(const Sum *c);
  TORCHERE_INLINE void storeSums(Sum *to, int64_t rowStride);
  void finish(Sum *c, const Sum *residual);

  const TileArgs &args_;
  TileArgs epilogue_;          ///< what is done to the sums, which begin with C's
  const int64_t whole_, rest_; ///< steps of the depth
  int rows_;
  bool isPlain_; ///< sums are stored as they are
  alignas(64) uint32_t lastOfB_[kUnitElements][kN * kLanes] = {};
  alignas(64) uint32_t lastOfA_[kMatrixRows][kUnitElements] = {};
  alignas(64) Sum sums_[kMatrixRows][kN * kLanes];
};

template <int kProduct, int kN, bool kIsTall>
UnitTile<kProduct, kN, kIsTall>::UnitTile(const TileArgs &args, int upper, int lower)
    : args_(args), epilogue_(args), whole_(args.k / kUnitElements * kUnitElements), rest_(args.k - whole_),
      rows_(upper + lower), isPlain_(!args.bias && !args.residual && args.activation == Activation::None) {
  const auto *b = static_cast<const uint32_t *>(args.b) + whole_ * args.bRowStride;
  for (int64_t step = 0; step < rest_; ++step)
    memcpy(lastOfB_[step], b + step * args.bRowStride, sizeof(lastOfB_[step]));
  epilogue_.accumulate = false;
  UnitShapes shapes;
  for (int unit = 0; unit < kUnits; ++unit) {
    shapes.rowBytes[unit] = kUnitElements * 4;
    bool isUpper = unit == kSums || unit == kSums + 1 || unit == kA;
    shapes.rows[unit] = static_cast<uint8_t>(unit >= kB ? kUnitRows : isUpper ? upper : lower);
    if (shapes.rows[unit] == 0)
      shapes.rowBytes[unit] = 0;
  }
  configure(shapes);
}

/// The products of one register's depth.
template <int kProduct, int kN, bool kIsTall>
void UnitTile<kProduct, kN, kIsTall>::addStep(const void *a, int64_t aStride, const void *b,
                                              int64_t bStride) {
  loadUnit<kB>(b, bStride);
  loadUnit<kA>(a, aStride);
  addProductsOf<kProduct, kSums, kA, kB>();
  if constexpr (kN == 2) {
    loadUnit<kB + 1>(static_cast<const uint32_t *>(b) + kLanes, bStride);
    addProductsOf<kProduct, kSums + 1, kA, kB + 1>();
  }
  if constexpr (kIsTall) {
    loadUnit<kA + 1>(static_cast<const char *>(a) + kUnitRows * aStride, aStride);
    addProductsOf<kProduct, kSums + 2, kA + 1, kB>();
    if constexpr (kN == 2)
      addProductsOf<kProduct, kSums + 3, kA + 1, kB + 1>();
  }
}

/// Zeros, or what C holds of earlier chunks.
template <int kProduct, int kN, bool kIsTall> void UnitTile<kProduct, kN, kIsTall>::startSums(const Sum *c) {
  const int64_t stride = args_.cRowStride * 4;
  auto start = [&]<int kUnit>(const Sum *from) {
    if (args_.accumulate)
      loadUnit<kUnit>(from, stride);
    else
      clear<kUnit>();
  };
  start.template operator()<kSums>(c);
  if constexpr (kN == 2)
    start.template operator()<kSums + 1>(c + kLanes);
  if constexpr (kIsTall) {
    start.template operator()<kSums + 2>(c + kUnitRows * args_.cRowStride);
    if constexpr (kN == 2)
      start.template operator()<kSums + 3>(c + kUnitRows * args_.cRowStride + kLanes);
  }
}

template <int kProduct, int kN, bool kIsTall>
void UnitTile<kProduct, kN, kIsTall>::storeSums(Sum *to, int64_t rowStride) {
  storeUnit<kSums>(to, rowStride * 4);
  if constexpr (kN == 2)
    storeUnit<kSums + 1>(to + kLanes, rowStride * 4);
  if constexpr (kIsTall) {
    storeUnit<kSums + 2>(to + kUnitRows * rowStride, rowStride * 4);
    if constexpr (kN == 2)
      storeUnit<kSums + 3>(to + kUnitRows * rowStride + kLanes, rowStride * 4);
  }
}

template <int kProduct, int kN, bool kIsTall>
void UnitTile<kProduct, kN, kIsTall>::finish(Sum *c, const Sum *residual) {
  storeSums(sums_[0], kN * kLanes);
  for (int row = 0; row < rows_; ++row) {
    Vec<Sum> sums[1][kN];
    for (int n = 0; n < kN; ++n)
      sums[0][n] = load(sums_[row] + n * kLanes);
    finishSums<typename ElementOf<kProduct>::Type, 1, kN>(
        epilogue_, c + row * args_.cRowStride, residual ? residual + row * args_.residualRowStride : nullptr,
        sums);
  }
}

template <int kProduct, int kN, bool kIsTall>
void UnitTile<kProduct, kN, kIsTall>::run(const void *a, Sum *c, const Sum *residual, const char *&ahead) {
  const auto *from = static_cast<const uint32_t *>(a);
  const auto *b = static_cast<const uint32_t *>(args_.b);
  const int64_t aStride = args_.aRowStride * 4, bStride = args_.bRowStride * 4;
  startSums(c);
  for (int64_t step = 0; step < whole_; step += kUnitElements) {
    addStep(from + step, aStride, b + step * args_.bRowStride, bStride);
    for (int64_t byte = 0; byte < kUnitElements * args_.aheadStep; byte += 64)
      __builtin_prefetch(ahead + byte, 0, 2);
    ahead += kUnitElements * args_.aheadStep;
  }
  if (rest_ > 0) {
    for (int row = 0; row < rows_; ++row)
      memcpy(lastOfA_[row], from + row * args_.aRowStride + whole_, rest_ * 4);
    addStep(lastOfA_, sizeof(lastOfA_[0]), lastOfB_, sizeof(lastOfB_[0]));
    ahead += rest_ * args_.aheadStep;
  }
  if (isPlain_)
    storeSums(c, args_.cRowStride);
  else
    finish(c, residual);
}

template <int kProduct, int kN, bool kIsTall> void runTiles(const TileArgs &args, int upper, int lower) {
  UnitTile<kProduct, kN, kIsTall> tile(args, upper, lower);
  const auto *a = static_cast<const uint32_t *>(args.a);
  const auto *residual = static_cast<const SumOf<kProduct> *>(args.residual);
  auto *c = static_cast<SumOf<kProduct> *>(args.c);
  const char *ahead = static_cast<const char *>(args.ahead ? args.ahead : args.b);
  for (int64_t i = 0; i < args.tiles; ++i) {
    tile.run(a, c, residual, ahead);
    a += args.rows * args.aRowStride;
    c += args.rows * args.cRowStride;
    if (residual)
      residual += args.rows * args.residualRowStride;
  }
  release();
}

template <int kProduct, int kN> void matrixTiles(const TileArgs &args) {
  int rows = static_cast<int>(args.rows);
  if (rows <= kUnitRows)
    runTiles<kProduct, kN, false>(args, rows, 0);
  else
    runTiles<kProduct, kN, true>(args, kUnitRows, rows - kUnitRows);
}

template <int kProduct> void addProduct(IsaKernels &table) {
  table.matrixTiles[kProduct][1] = &matrixTiles<kProduct, 1>;
  table.matrixTiles[kProduct][2] = &matrixTiles<kProduct, 2>;
}

} // namespace

void addExtension(IsaKernels &table) {
  addProduct<kMatrixBF16>(table);
  addProduct<kMatrixI8I8>(table);
  addProduct<kMatrixI8U8>(table);
  addProduct<kMatrixU8I8>(table);
  addProduct<kMatrixU8U8>(table);
}

} // namespace torchere::cpu::TORCHERE_ISA
