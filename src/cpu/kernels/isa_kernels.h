// The table of functions that are compiled for each instruction set. Plain data and pointers only: code of
// every ISA includes it.
#pragma once

#include "cpu/kernels/epilogue.h"

#include <stddef.h>
#include <stdint.h>

namespace torchere::cpu {

/// Types that norms and attention take; products take the integers too, modulo their size. Those of bytes are
/// integers of 32 bits.
enum FloatType : int {
  kF32,
  kF64,
  kBF16,
  kF16,
  kFloatTypes,
  kInt32 = kFloatTypes,
  kInt64,
  kInt8,
  kUInt8,
  kBF16Dots, ///< both factors of BF16, in pairs along k, which one instruction multiplies and sums
  kByteDots, ///< likewise of bytes, in fours
  kNumberTypes
};
/// What a matrix unit multiplies: A's bytes, then B's.
enum MatrixProduct : int { kMatrixBF16, kMatrixI8I8, kMatrixI8U8, kMatrixU8I8, kMatrixU8U8, kMatrixProducts };
/// Products of so few rows read each weight once. Tiles that widen a B of BF16 have no more.
constexpr int64_t kFewRows = 4;

/// A run of tiles, one below the other, each: C[row][vector] = sum over blocks b and k of A[row] [aOffsets[b]
/// + k] * B[b * k + k][vector], then the bias, the residual and the activation. Strides and offsets in
/// elements; A and C are of the type that is computed in.
struct TileArgs {
  const void *a = nullptr;
  const int64_t *aOffsets = nullptr;
  int64_t aRowStride = 0;
  int64_t tiles = 1;
  int64_t rows = 0; ///< of a tile, which a matrix unit asks for: other tiles are functions for so many
  /// From a row of a tile to one that is needed soon, which is fetched into the L1 cache; 0: none.
  int64_t aAhead = 0;
  int64_t lastAhead = 0; ///< likewise, of the run's last tile
  /// Or the tile's own rows are fetched so many blocks before they are needed: `aOffsets` has as many entries
  /// more.
  int64_t blocksAhead = 0;
  int64_t blocks = 1;
  int64_t halfBlocks = 0; ///< of the last ones, whose rows of B are zeros in their second half
  int64_t k = 0;
  const void *b = nullptr;
  const int64_t *bOffsets = nullptr; ///< of the blocks; null: they follow each other
  int64_t bRowStride = 0;
  void *c = nullptr;
  int64_t cRowStride = 0;
  int64_t cVectorStride = 0;
  bool accumulate = false; ///< onto C, not onto zeros
  /// If B is of f32 one of isTileActivation(), else relu.
  Activation activation = Activation::None;
  const void *bias = nullptr;
  const void *residual = nullptr;
  int64_t residualRowStride = 0;
  int64_t residualVectorStride = 0;
  /// Memory that is needed soon: `aheadStep` bytes of it are fetched into the L2 cache for each k. Null:
  /// none.
  const void *ahead = nullptr;
  int64_t aheadStep = 0;
};
using TileFunction = void (*)(const TileArgs &args);
constexpr int kMaxTileVectors = 4;
constexpr int kMaxTileRows = 14;
constexpr int kMaxTileColumns = 64; ///< of f32
constexpr int kMatrixRows = 32;     ///< of a matrix unit's tile

/// A tile that was computed beside its place: to C, with all of the epilogue, rounded to C's type.
struct FinishArgs {
  const void *tile = nullptr;
  int64_t tileRowStride = 0;
  void *c = nullptr;
  int64_t cRowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  const void *bias = nullptr;
  const void *residual = nullptr;
  int64_t residualRowStride = 0;
  Activation activation = Activation::None;
};

/// Elements (row, column) of a matrix, by strides, to rows of `width` contiguous ones; zeros beyond
/// `columns`.
struct PackArgs {
  const void *input = nullptr;
  int64_t rowStride = 0;
  int64_t columnStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  void *output = nullptr;
  int64_t width = 0;
};

struct RowsJob {
  const void *input = nullptr;
  int64_t inputRowStride = 0;
  void *output = nullptr;
  int64_t outputRowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  bool flag = false;           ///< softmax: of its logarithm; a norm: subtract the mean
  bool zeroWhenMasked = false; ///< softmax
  double epsilon = 0;
  bool hasWideFactors = false; ///< the scale and the bias are of the type that is computed in
  const void *scale = nullptr;
  const void *bias = nullptr;
};

/// Softmax down columns: those of kAcrossVectors vectors at a time are kept meanwhile.
struct AcrossJob {
  const void *input = nullptr;
  void *output = nullptr;
  int64_t rowStride = 0; ///< of both
  int64_t rows = 0;
  int64_t columns = 0;
  bool isLogarithm = false;
  void *kept = nullptr; ///< so many vectors a row
};
constexpr int kAcrossVectors = 8;

/// Rows of a depthwise convolution or of pooling, of one block of channels: pixel x of the first output row
/// is made of the taps input + taps[t] + x * step.
struct TapsJob {
  const float *input = nullptr;
  const int64_t *taps = nullptr;
  int64_t tapCount = 0;
  int64_t tapsTogether = 1; ///< that lie side by side, of a window's row; they divide the taps
  int64_t step = 0;
  int64_t pixels = 0; ///< of a row
  int64_t rows = 1;
  int64_t inputRowStride = 0; ///< from what makes an output row to what makes the next
  float *output = nullptr;
  int64_t outputRowStride = 0;
  const float *weights = nullptr; ///< a vector a tap
  const float *bias = nullptr;
  const float *residual = nullptr;
  int64_t residualRowStride = 0;
  float scale = 1; ///< of an average
  Activation activation = Activation::None;
};

/// The taps of a row of a window, of one block of channels: to the sums of each is added, over all pixels,
/// the pixel times what the tap meets for it in the input, `tapStep` behind what the tap before does.
struct TapSumsJob {
  const float *input = nullptr; ///< what the first tap meets for the first pixel
  int64_t inputRowStride = 0;   ///< from what a row of pixels meets to what the next does
  int64_t step = 0;             ///< likewise of neighbouring pixels
  int64_t tapStep = 0;
  int64_t taps = 0;
  const float *pixels = nullptr;
  int64_t pixelsRowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  float *sums = nullptr; ///< a vector a tap
};

/// All pixels of one block of channels.
struct PixelsJob {
  const float *input = nullptr;
  int64_t rowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  float *output = nullptr; ///< one pixel
};

/// The norm of each pixel over its channels, which lie in blocks.
struct PixelNormJob {
  const float *input = nullptr;
  int64_t blockStride = 0;
  int64_t channels = 0;
  int64_t pixels = 0;
  float *output = nullptr;
  int64_t outputBlockStride = 0;
  bool subtractMean = true;
  double epsilon = 0;
  const float *scale = nullptr; ///< whole blocks, as the bias; or null
  const float *bias = nullptr;
};

/// Pixels of one block of channels, each lane with numbers of its own.
struct LanesJob {
  const float *input = nullptr;
  int64_t inputRowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  float *output = nullptr;
  int64_t outputRowStride = 0;
};

/// (x - mean) * factor + shift of each lane, then the activation.
struct LaneNormJob {
  LanesJob pixels;
  const float *means = nullptr;
  const float *factors = nullptr;
  const float *shifts = nullptr;
  Activation activation = Activation::None;
};

/// Of each lane, in this order: what is not above zero times the slope; x * factor + shift; plus the
/// residual. Any of these may be null, but not all. In place is fine.
struct LaneFactorsJob {
  LanesJob pixels;
  const float *slopes = nullptr;
  const float *factors = nullptr;
  const float *shifts = nullptr; ///< of all that have factors
  const float *residual = nullptr;
  int64_t residualRowStride = 0;
};

/// Dense rows of whole vectors, each times a factor of its own.
struct RowFactorsJob {
  const float *input = nullptr;
  const float *factors = nullptr; ///< one a row
  int64_t rows = 0;
  int64_t columns = 0;
  float *output = nullptr;
};

/// Lane i of each pixel becomes lane lanes[i] of the input's, or, from the number of lanes on, of the second.
struct LaneChoiceJob {
  LanesJob pixels;
  const float *second = nullptr;
  int64_t secondRowStride = 0;
  const int32_t *lanes = nullptr;
};

/// A tile of a Winograd convolution, of one block of channels: pixels to points, or points to pixels.
struct WinogradJob {
  const float *input = nullptr; ///< the tile's first pixel, or its first point
  int64_t inputStride = 0;      ///< from a row of pixels to the next, or from a point to the next
  float *output = nullptr;
  int64_t outputStride = 0; ///< likewise
  // Of the way back.
  const float *bias = nullptr;
  const float *residual = nullptr;
  int64_t residualStride = 0;
  int64_t rows = 0; ///< of the tile that lie in the output
  int64_t columns = 0;
  bool relu = false;
};

/// The nine taps of some outputs to points, in f64 and rounded once.
struct WinogradWeightsJob {
  const float *taps = nullptr;
  int64_t tapStride = 0; ///< from a tap to the next
  float *points = nullptr;
  int64_t pointStride = 0;
  int64_t columns = 0; ///< outputs: whole vectors
};

/// Rows of scores against a run of keys, joined to what earlier runs left: `most`, `total` and `sums`. Scores
/// become weights.
struct ScoresJob {
  float *scores = nullptr;
  int64_t rowStride = 0;
  int64_t rows = 0;
  int64_t keys = 0;
  int64_t firstLimit = 0; ///< keys that the first row sees,
  int64_t limitStep = 0;  ///< and how many more each next one
  float bound = 0;        ///< scores become bound * tanh(score), before the mask; 0: they do not
  const float *added = nullptr;
  const uint8_t *seen = nullptr;
  int64_t maskRowStride = 0;
  int64_t maskKeyStride = 0;
  float *most = nullptr;
  float *total = nullptr;
  float *sums = nullptr; ///< of weighted values
  int64_t sumsStride = 0;
};

/// scores[row][key] = q[row] k[key], for rows so few that a transposed K would cost more.
struct DotsJob {
  const float *q = nullptr;
  int64_t qStride = 0;
  int64_t rows = 0;
  const void *k = nullptr;
  int64_t kStride = 0;
  int64_t keys = 0;
  int64_t size = 0;
  float *scores = nullptr;
  int64_t scoresStride = 0;
};

/// Joined to what the output holds. Along: `rows` results of `columns` elements each. Across, with a column
/// stride of 1: `columns` results of `rows` elements each.
struct ReduceJob {
  const void *input = nullptr;
  int64_t rowStride = 0;
  int64_t columnStride = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  void *output = nullptr; ///< of the type that is computed in
};
using ReduceFunction = void (*)(const ReduceJob &job);

/// Rows of contiguous elements, each joined to the row of a tensor that its place says, one after the other.
/// Those at places outside of [low, high) are left out. Elements of 16 bits are joined in f32 and rounded.
struct JoinRowsJob {
  const int64_t *places = nullptr;
  int64_t count = 0;
  const void *updates = nullptr;
  int64_t updateStride = 0;
  void *tensor = nullptr;
  int64_t rowStride = 0;
  int64_t low = 0;
  int64_t high = 0;
  int64_t columns = 0;
  int64_t ahead = 0; ///< bytes of the rows that come next to fetch meanwhile
};

/// As BisectionArgs has it.
struct BisectionJob {
  const void *table = nullptr;
  int64_t length = 0;
  const void *values = nullptr;
  int64_t count = 0;
  void *places = nullptr;
  bool areLong = false; ///< places of 64 bits, not of 32
  int64_t turns = 0;
  int64_t low = 0;
  int64_t high = 0;
  bool isStrict = false;
  bool isLow = false;
};

/// Columns of contiguous elements: of each the extreme one of `rows` elements, at least 1, and the row that
/// has it. The first of equal ones counts; NaN wins.
struct ExtremaJob {
  const void *input = nullptr;
  int64_t rowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  bool isLargest = true;
  void *values = nullptr;
  void *places = nullptr; ///< integers of an element's size
};

/// A row of windows, `step` elements apart, that meets elements of theirs. Each is `first + offset` elements
/// from the input in the first window; windows from `begin` to `end` have it. WindowRule tells what `nanWins`
/// means.
struct WindowExtremaJob {
  struct Tap {
    int64_t offset, begin, end;
  };
  const void *input = nullptr;
  int64_t first = 0;
  int64_t step = 1;
  const Tap *taps = nullptr;
  int64_t tapCount = 0;
  bool isLargest = true;
  bool nanWins = true;
  void *values = nullptr; ///< what has won so far
  void *places = nullptr; ///< where, from the input on: integers of an element's size; -1 before the first
};

/// The Fourier transform of `size` complex numbers, or of as many vectors of them, at `data`. `roots` has for
/// each radix its roots of unity, then for each group of the stage the roots that turn its results.
struct FftJob {
  int64_t size = 0;
  const int32_t *radices = nullptr; ///< their product is the size
  int radixCount = 0;
  const void *roots = nullptr;
  bool isVector = false;
  bool isInverse = false;
  void *data = nullptr;    ///< pairs of parts; overwritten
  void *scratch = nullptr; ///< as much
};
/// Between `half` complex numbers that are the pairs of a real line of 2 * half numbers, transformed, and
/// half + 1 numbers of that line's transform; or vectors of both. `roots` has e^(-2 pi i k / (2 * half)) for
/// k up to half / 2.
struct FftHalvesJob {
  int64_t half = 0;
  const void *roots = nullptr;
  bool isVector = false;
  bool isInverse = false; ///< from the line's transform
  const void *from = nullptr;
  void *to = nullptr;
};
/// Rows of as many complex numbers as a vector has lanes, as they lie in memory, and as pairs of vectors.
struct FftPairsJob {
  void *numbers = nullptr;
  int64_t stride = 0; ///< from a row to the next, in complex numbers
  int64_t rows = 0;
  void *vectors = nullptr;
  const void *roots = nullptr; ///< what joined numbers are multiplied by, which lie as these do; or null
  bool isConjugate = false;    ///< by the roots' conjugates
};
constexpr int kMaxFftRadix = 31;
/// Numbers times a chirp, as contiguous pairs; or the converse.
struct ChirpJob {
  void *numbers = nullptr;
  int64_t step = 1;         ///< from a number to the next
  bool isReal = false;      ///< the numbers have one part: the other one is zero, or is not written
  bool isConjugate = false; ///< the conjugates of the numbers
  double factor = 1;
  const void *chirp = nullptr;
  void *pairs = nullptr;
  int64_t pairStep = 1;
  int64_t count = 0;
};

/// C -= A B: a matrix with rows at `cStride`, of products over `depth`. Strides in elements.
struct RankUpdateJob {
  void *c = nullptr;
  int64_t cStride = 0;
  const void *a = nullptr;
  int64_t aRowStride = 0;
  int64_t aStride = 0; ///< along the depth
  const void *b = nullptr;
  int64_t bStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  bool isConjugate = false; ///< of complex numbers: C -= conj(A) B
};

/// C = A B, or C += A B, of complex numbers, for a panel of B's columns: two vectors of each of its rows,
/// with zeros where it has fewer columns. Strides in numbers.
struct ComplexPanelJob {
  const void *a = nullptr;
  int64_t aRowStride = 0;
  int64_t aStride = 0; ///< along the depth
  const void *panel = nullptr;
  int64_t depth = 0;
  void *c = nullptr;
  int64_t cStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  bool accumulates = false;
};

/// A matrix of elements that follow each other in rows, and a vector x. Integers of bytes have an x and
/// results of 32 bits.
struct MatrixVectorJob {
  const void *matrix = nullptr;
  int64_t rowStride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  const void *vector = nullptr; ///< contiguous, as is the result
  void *result = nullptr;
};

/// y = A x: of each row the sum of its products with x.
struct RowProductsJob {
  const void *a = nullptr;
  int64_t stride = 0; ///< from a row to the next
  int64_t rows = 0;
  int64_t columns = 0;
  const void *x = nullptr; ///< contiguous, as is y
  void *y = nullptr;
};

/// Rotations of rows that follow each other, one after the other: rows a and a + step become c a + s b and c
/// b - s a, then a + step and a + 2 step ...
struct RotationSweep {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 0;
  int64_t place = 0; ///< of the first of its rotations
};
struct RotationsJob {
  void *rows = nullptr;
  int64_t stride = 0;
  int64_t columns = 0; ///< whole vectors
  const RotationSweep *sweeps = nullptr;
  int64_t sweepCount = 0;
  const double *rotations = nullptr; ///< pairs c, s
};

/// Columns [begin, end) of a matrix of rows and columns, of which those before are factorized: LU factors
/// with partial pivoting, where it lies.
struct LuPanelJob {
  void *matrix = nullptr;
  int64_t stride = 0; ///< from a row to the next
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int32_t *pivots = nullptr;    ///< by step: the row that changes places with the step's
  int32_t *firstZero = nullptr; ///< the first step, from 1, whose pivot is zero: written if it is 0
};

/// Matrices of which each element is a vector, one of each lane's matrix: LU factors, where they lie.
struct LuLanesJob {
  void *matrices = nullptr; ///< [rows][columns]
  int64_t rows = 0;
  int64_t columns = 0;
  // Of integers of an element's size.
  void *pivots = nullptr;      ///< by step: the row that changes places with the step's
  void *permutation = nullptr; ///< [rows]: the row that each one was
  void *firstZero = nullptr;   ///< the first step, from 1, whose pivot is zero, or 0
};
/// Likewise, A X = B with a lower triangle, and X in B's place. Strides in vectors.
struct SolveLanesJob {
  const void *a = nullptr;
  int64_t aRowStride = 0;
  int64_t aColumnStride = 0;
  void *x = nullptr;
  int64_t xRowStride = 0;
  int64_t xColumnStride = 0;
  int64_t size = 0;
  int64_t columns = 0;
  bool isUnit = false; ///< the diagonal is not read: ones
};

/// A run of `count` outputs: output i joins `initial` and input[taps[t] + i * step] for all t, of which there
/// is at least one.
struct WindowJob {
  const void *input = nullptr;
  const int64_t *taps = nullptr;
  int64_t tapCount = 0;
  int64_t step = 1;
  int64_t count = 0;
  const void *initial = nullptr;
  void *output = nullptr;
};
using WindowFunction = void (*)(const WindowJob &job);

/// Rows of at most kRunningColumns elements, each joined to all before it.
struct RunningJob {
  const void *input = nullptr;
  int64_t stride = 0; ///< from a row to the next, of input and output
  int64_t length = 0; ///< rows
  int64_t columns = 0;
  int64_t apart = 1; ///< from a column to the next
  const void *initial = nullptr;
  void *output = nullptr;
};
using RunningFunction = void (*)(const RunningJob &job);
constexpr int64_t kRunningColumns = 64, kRunningLines = 8;

/// A block of contents: sum s is that of (words[2i] + keys[s][2i]) * (words[2i + 1] + keys[s][2i + 1]) for
/// all i, sums of words modulo 2^32, those of products modulo 2^64.
struct ContentsSumsJob {
  const uint32_t *words = nullptr;
  const uint32_t *keys = nullptr; ///< [kContentsSums][kContentsWords]
  uint64_t *sums = nullptr;
};
constexpr int64_t kContentsWords = 1024;
constexpr int kContentsSums = 2;

/// Cells of an LSTM: newCell = logistic(forget) cell + logistic(input) tanh(candidate), hidden =
/// logistic(output) tanh(newCell). Of the same element of all of them at once: results may be the memory of
/// operands. Strides from a row to the next, in elements.
struct LstmCellsJob {
  const float *input = nullptr, *forget = nullptr, *candidate = nullptr, *output = nullptr;
  int64_t gateStride = 0; ///< of these four
  const float *cell = nullptr;
  int64_t cellStride = 0;
  float *newCell = nullptr;
  int64_t newCellStride = 0;
  float *hidden = nullptr;
  int64_t hiddenStride = 0;
  int64_t rows = 1;
  int64_t columns = 0;
};

/// Elements of one plane of an interpolation, `count` along the axis of `inner` elements each.
struct InterpolationJob {
  const float *input = nullptr;
  float *output = nullptr;
  int64_t count = 0;
  int64_t inner = 1;
  int64_t tapCount = 0;
  const int64_t *const *offsets = nullptr; ///< by tap, then by output: into the input
  const float *const *weights = nullptr;   ///< likewise
};

struct IsaKernels {
  int lanes = 0;
  /// [type of B][vectors][rows]; C is of the type that is computed in.
  TileFunction tiles[kNumberTypes][kMaxTileVectors + 1][kMaxTileRows + 1] = {};
  int maxRows[kMaxTileVectors + 1] = {};
  /// [MatrixProduct][vectors]: tiles on a matrix unit; null where the processor has none.
  TileFunction matrixTiles[kMatrixProducts][kMaxTileVectors + 1] = {};
  void (*activate)(Activation activation, float *tile, int64_t rowStride, int64_t rows,
                   int64_t columns) = nullptr;
  void (*finish[kNumberTypes])(const FinishArgs &args) = {};
  void (*pack[kNumberTypes])(
      const PackArgs &args) = {}; ///< the type stays; by pairs of rows where a step has two
  /// To what tiles take for A: the type that is computed in, or of bytes pairs of 16 bits along the columns,
  /// or pairs of BF16, or fours of bytes. The width counts these.
  void (*widen[kNumberTypes])(const PackArgs &args) = {};
  /// A packed panel of BF16 as one of f32.
  void (*widenPairs)(const void *panel, int64_t steps, int64_t columns, void *to) = nullptr;
  /// A packed panel of bytes, in pairs, as one in fours.
  void (*joinPairs)(const void *panel, int64_t steps, int64_t columns, void *to) = nullptr;
  void (*softmax[kFloatTypes])(const RowsJob &job) = {};
  void (*softmaxAcross[kFloatTypes])(const AcrossJob &job) = {};
  void (*norm[kFloatTypes])(const RowsJob &job) = {};
  void (*depthwise)(const TapsJob &job) = nullptr;
  void (*maxPool)(const TapsJob &job) = nullptr;
  void (*sumPool)(const TapsJob &job) = nullptr;
  void (*winogradInput[2])(const WinogradJob &job) = {}; ///< F(2,3), F(4,3)
  void (*winogradOutput[2])(const WinogradJob &job) = {};
  void (*winogradWeights[2])(const WinogradWeightsJob &job) = {};
  void (*scores)(const ScoresJob &job) = nullptr;
  void (*dots[kFloatTypes])(const DotsJob &job) = {};
  /// Of each row, with x of as many columns; of F32, F64 and integers.
  void (*rowDots[kNumberTypes])(const MatrixVectorJob &job) = {};
  /// The sum of all rows, each times its element of x; likewise.
  void (*rowSums[kNumberTypes])(const MatrixVectorJob &job) = {};
  void (*scaleRow)(float *row, int64_t count, float factor) = nullptr;
  /// [DType][Reduction]
  ReduceFunction reduceAlong[16][6] = {};
  ReduceFunction reduceAcross[16][6] = {};
  void (*joinRows[16][6])(const JoinRowsJob &job) = {};
  void (*bisect[16])(const BisectionJob &job) = {};            ///< by DType
  void (*extremaAcross[16])(const ExtremaJob &job) = {};       ///< of numbers of 32 and 64 bits, by DType
  void (*windowExtrema[16])(const WindowExtremaJob &job) = {}; ///< likewise
  void *(*fft[2])(const FftJob &job) = {};                     ///< of f32, of f64; gives where the result is
  void (*fftHalves[2])(const FftHalvesJob &job) = {};          ///< likewise
  void (*splitNumbers[2])(const FftPairsJob &job) = {};        ///< likewise
  void (*joinNumbers[2])(const FftPairsJob &job) = {};         ///< likewise
  void (*spreadChirp[2])(const ChirpJob &job) = {};            ///< likewise
  void (*gatherChirp[2])(const ChirpJob &job) = {};            ///< likewise
  /// Complex numbers times others, where they lie.
  void (*multiplyPairs[2])(void *numbers, const void *factors, int64_t count) = {};
  void (*rankUpdate[4])(const RankUpdateJob &job) = {};     ///< likewise, then of complex numbers of these
  void (*factorizePanel[4])(const LuPanelJob &job) = {};    ///< likewise
  void (*rowProducts[4])(const RowProductsJob &job) = {};   ///< likewise
  void (*factorizeLanes[2])(const LuLanesJob &job) = {};    ///< of f32, of f64
  void (*solveLanes[2])(const SolveLanesJob &job) = {};     ///< likewise
  void (*complexPanel[2])(const ComplexPanelJob &job) = {}; ///< likewise
  void (*rotateRows[2])(const RotationsJob &job) = {};      ///< of f32, of f64
  WindowFunction windows[16][6] = {};
  RunningFunction running[16][6] = {};
  /// A plane transposed: output[column][row] = input[row][column]; by log2 of the element's size.
  void (*transpose[4])(const void *input, int64_t inputRowStride, void *output, int64_t outputRowStride,
                       int64_t rows, int64_t columns) = {};
  /// The last one of n elements first; by log2 of the element's size.
  void (*reverse[4])(const void *input, void *output, int64_t n) = {};
  void (*tapSums)(const TapSumsJob &job) = nullptr;
  void (*meanPixels)(const PixelsJob &job) = nullptr;
  void (*normPixels)(const PixelNormJob &job) = nullptr;
  /// The mean of each lane over the pixels, then the sum of the squares of what differs from it: two vectors.
  void (*laneMoments)(const LanesJob &job) = nullptr;
  void (*normLanes)(const LaneNormJob &job) = nullptr;
  void (*scaleRows)(const RowFactorsJob &job) = nullptr;
  void (*scaleLanes)(const LaneFactorsJob &job) = nullptr;
  void (*chooseLanes)(const LaneChoiceJob &job) = nullptr;
  void (*sumContents)(const ContentsSumsJob &job) = nullptr;
  void (*interpolate)(const InterpolationJob &job) = nullptr;
  void (*lstmCells)(const LstmCellsJob &job) = nullptr;
};

/// What some processors with AVX-512 have.
enum class IsaExtension : uint8_t { Avx512Vnni, Avx512Bf16, Amx };
/// Whether this processor and its system have it and let this process use it, and it is worth it.
bool hasExtension(IsaExtension extension);

namespace baseline {
const IsaKernels &isaKernels();
}
namespace avx2 {
const IsaKernels &isaKernels();
}
namespace avx512 {
const IsaKernels &isaKernels();
}

} // namespace torchere::cpu
