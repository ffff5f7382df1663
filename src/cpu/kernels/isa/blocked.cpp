// Depthwise convolution, pooling, means, norms and lanes of blocked pixels.
#include "cpu/kernels/isa/activation.h"
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/window_rows.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr int kMostPixels = 8; ///< of a tile: as many sums as hide the latency of a multiply-add

/// body<count>(): the count is known at run time only.
template <int kCount, class Body> TORCHERE_INLINE void withCount(int64_t count, Body body) {
  if (count == kCount)
    return body.template operator()<kCount>();
  if constexpr (kCount > 1)
    withCount<kCount - 1>(count, body);
}

/// Each row in tiles of about as many pixels: join(sum, vector, tap) over all taps, then put(row, x, sum).
template <class Join, class Put>
TORCHERE_INLINE void eachPixel(const TapsJob &job, F start, Join join, Put put) {
  const int64_t tiles = (job.pixels + kMostPixels - 1) / kMostPixels;
  const int64_t shortest = job.pixels / tiles, longer = job.pixels % tiles;
  for (int64_t row = 0; row < job.rows; ++row) {
    int64_t x = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t count = shortest + (tile < longer);
      const float *input = job.input + row * job.inputRowStride + x * job.step;
      withCount<kMostPixels>(count, [&]<int kCount>() __attribute__((always_inline)) {
        F sums[kCount];
#pragma GCC unroll 8
        for (int i = 0; i < kCount; ++i)
          sums[i] = start;
        for (int64_t tap = 0; tap < job.tapCount; ++tap) {
          const float *p = input + job.taps[tap];
#pragma GCC unroll 8
          for (int i = 0; i < kCount; ++i)
            sums[i] = join(sums[i], load(p + i * job.step), tap);
        }
#pragma GCC unroll 8
        for (int i = 0; i < kCount; ++i)
          put(row, x + i, sums[i]);
      });
      x += count;
    }
  }
}

/// A tile of a row of a depthwise convolution: `kCount` outputs, of windows with rows of `kTaps` taps, that
/// begin `kStep` pixels apart.
template <int kTaps, int kStep, int kCount>
void depthwiseTile(const TapsJob &job, const float *input, float *output, const float *residual) {
  const F start = job.bias ? load(job.bias) : F{};
  F sums[kCount];
#pragma GCC unroll 8
  for (F &sum : sums)
    sum = start;
  const float *weights = job.weights;
  for (int64_t tap = 0; tap < job.tapCount; tap += kTaps, weights += kTaps * kLanes)
    addWindowRow<kTaps, kStep>(input + job.taps[tap], weights, sums,
                               [](const float *pixel) { return load(pixel); });
#pragma GCC unroll 8
  for (int i = 0; residual && i < kCount; ++i)
    sums[i] += load(residual + i * kLanes);
  withTileActivation(job.activation, [&](auto fn) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i)
      sums[i] = fn(sums[i]);
  });
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i)
    store(output + i * kLanes, sums[i]);
}

using DepthwiseTile = void (*)(const TapsJob &job, const float *input, float *output, const float *residual);
/// By the number of outputs.
template <int kTaps, int kStep, int... kCounts> struct DepthwiseTiles {
  static constexpr DepthwiseTile functions[] = {nullptr, &depthwiseTile<kTaps, kStep, kCounts>...};
};
template <int kTaps> const DepthwiseTile *depthwiseTiles(const TapsJob &job) {
  return job.step == kLanes       ? DepthwiseTiles<kTaps, 1, 1, 2, 3, 4, 5, 6, 7, 8>::functions
         : job.step == 2 * kLanes ? DepthwiseTiles<kTaps, 2, 1, 2, 3, 4, 5, 6, 7, 8>::functions
                                  : nullptr;
}
/// Of the common windows; null: another one.
const DepthwiseTile *depthwiseTiles(const TapsJob &job) {
  return job.tapsTogether == 3   ? depthwiseTiles<3>(job)
         : job.tapsTogether == 5 ? depthwiseTiles<5>(job)
         : job.tapsTogether == 7 ? depthwiseTiles<7>(job)
                                 : nullptr;
}

void depthwiseRows(const TapsJob &job, const DepthwiseTile *functions) {
  const int64_t tiles = (job.pixels + kMostPixels - 1) / kMostPixels;
  const int64_t shortest = job.pixels / tiles, longer = job.pixels % tiles;
  for (int64_t row = 0; row < job.rows; ++row) {
    const float *input = job.input + row * job.inputRowStride;
    const float *residual = job.residual ? job.residual + row * job.residualRowStride : nullptr;
    float *output = job.output + row * job.outputRowStride;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t count = shortest + (tile < longer);
      functions[count](job, input, output, residual);
      input += count * job.step;
      output += count * kLanes;
      residual = residual ? residual + count * kLanes : nullptr;
    }
    if (!isTileActivation(job.activation))
      withActivation(job.activation, [&](auto fn) {
        for (float *p = output - job.pixels * kLanes; p < output; p += kLanes)
          store(p, fn(load(p)));
      });
  }
}

void depthwise(const TapsJob &job) {
  if (const DepthwiseTile *functions = depthwiseTiles(job))
    return depthwiseRows(job, functions);
  F start = job.bias ? load(job.bias) : F{};
  withActivation(job.activation, [&](auto fn) {
    eachPixel(
        job, start, [&](F sum, F v, int64_t tap) { return sum + v * load(job.weights + tap * kLanes); },
        [&](int64_t row, int64_t x, F sum) {
          if (job.residual)
            sum += load(job.residual + row * job.residualRowStride + x * kLanes);
          store(job.output + row * job.outputRowStride + x * kLanes, fn(sum));
        });
  });
}

void maxPool(const TapsJob &job) {
  F lowest = splat(0.0f) - kInfinity;
  eachPixel(
      job, lowest, [](F most, F v, int64_t) { return v != v     ? v
                                                     : v > most ? v
                                                                : most; },
      [&](int64_t row, int64_t x, F most) {
        store(job.output + row * job.outputRowStride + x * kLanes, most);
      });
}

void sumPool(const TapsJob &job) {
  eachPixel(
      job, F{}, [](F sum, F v, int64_t) { return sum + v; },
      [&](int64_t row, int64_t x, F sum) {
        store(job.output + row * job.outputRowStride + x * kLanes, sum * job.scale);
      });
}

/// Rows are summed on their own: the error grows with the number of terms.
void meanPixels(const PixelsJob &job) {
  F total{};
  for (int64_t row = 0; row < job.rows; ++row) {
    const float *p = job.input + row * job.rowStride;
    F sums[4] = {};
    int64_t x = 0;
    for (; x + 4 <= job.columns; x += 4)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
        sums[i] += load(p + (x + i) * kLanes);
    for (; x < job.columns; ++x)
      sums[0] += load(p + x * kLanes);
    total += (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  store(job.output, total / static_cast<float>(job.rows * job.columns));
}

constexpr int64_t kChunkBlocks = 64; ///< that are summed on their own

/// sums[i] += term(vector) over all blocks of channels of pixel i. The lanes beyond the last channel are left
/// out.
template <int kCount, class Term>
TORCHERE_INLINE void sumChannels(const PixelNormJob &job, const float *input, F (&sums)[kCount], Term term) {
  const int64_t whole = job.channels / kLanes, rest = job.channels % kLanes;
  for (int64_t first = 0; first < whole; first += kChunkBlocks) {
    const int64_t end = first + kChunkBlocks < whole ? first + kChunkBlocks : whole;
    F chunk[kCount] = {};
    for (int64_t block = first; block < end; ++block)
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i)
        chunk[i] += term(load(input + block * job.blockStride + i * kLanes), i);
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i)
      sums[i] += chunk[i];
  }
  for (int i = 0; rest > 0 && i < kCount; ++i) {
    F last = term(load(input + whole * job.blockStride + i * kLanes), i);
    for (int64_t lane = 0; lane < rest; ++lane)
      sums[i][lane] += last[lane];
  }
}

template <int kCount> TORCHERE_INLINE void normTile(const PixelNormJob &job, int64_t x) {
  const float *input = job.input + x * kLanes;
  const float count = static_cast<float>(job.channels);
  constexpr auto sum = [](float a, float b) { return a + b; };
  F sums[kCount] = {};
  float means[kCount] = {}, factors[kCount];
  if (job.subtractMean) {
    sumChannels<kCount>(job, input, sums, [](F v, int) { return v; });
    for (int i = 0; i < kCount; ++i) {
      means[i] = foldLanes<float>(sums[i], sum) / count;
      sums[i] = F{};
    }
  }
  sumChannels<kCount>(job, input, sums, [&](F v, int i) { return (v - means[i]) * (v - means[i]); });
  for (int i = 0; i < kCount; ++i) {
    double variance = static_cast<double>(foldLanes<float>(sums[i], sum)) / static_cast<double>(count);
    factors[i] = static_cast<float>(1 / __builtin_sqrt(variance + job.epsilon));
  }
  for (int64_t block = 0; block * kLanes < job.channels; ++block) {
    const F scale = job.scale ? load(job.scale + block * kLanes) : splat(1.0f);
    const F bias = job.bias ? load(job.bias + block * kLanes) : F{};
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i) {
      F v = load(input + block * job.blockStride + i * kLanes);
      store(job.output + block * job.outputBlockStride + (x + i) * kLanes,
            (v - means[i]) * factors[i] * scale + bias);
    }
  }
}

void normPixels(const PixelNormJob &job) {
  const int64_t tiles = (job.pixels + kMostPixels - 1) / kMostPixels;
  const int64_t shortest = job.pixels / tiles, longer = job.pixels % tiles;
  for (int64_t tile = 0, x = 0; tile < tiles; ++tile) {
    const int64_t count = shortest + (tile < longer);
    withCount<kMostPixels>(count,
                           [&]<int kCount>() __attribute__((always_inline)) { normTile<kCount>(job, x); });
    x += count;
  }
}

constexpr int64_t kChunkPixels = 256; ///< whose moments are taken at a time: they stay in the L1 cache

/// The sum of term(vector) over pixels.
template <class Term>
TORCHERE_INLINE F sumOfPixels(const float *first, int64_t rowStride, int64_t rows, int64_t columns,
                              Term term) {
  F sums[4] = {};
  for (int64_t row = 0; row < rows; ++row) {
    const float *p = first + row * rowStride;
    int64_t x = 0;
    for (; x + 4 <= columns; x += 4)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
        sums[i] += term(load(p + (x + i) * kLanes));
    for (; x < columns; ++x)
      sums[0] += term(load(p + x * kLanes));
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Of each chunk its own mean, and the squares of what differs from that, are joined to those before it.
void laneMoments(const LanesJob &job) {
  const int64_t columns = job.columns < kChunkPixels ? job.columns : kChunkPixels;
  const int64_t rows = columns > 0 ? kChunkPixels / columns : 1;
  F mean{}, squares{};
  float seen = 0;
  for (int64_t y = 0; y < job.rows; y += rows)
    for (int64_t x = 0; x < job.columns; x += columns) {
      const float *first = job.input + y * job.inputRowStride + x * kLanes;
      const int64_t height = job.rows - y < rows ? job.rows - y : rows;
      const int64_t width = job.columns - x < columns ? job.columns - x : columns;
      const float count = static_cast<float>(height * width), all = seen + count;
      const F own = sumOfPixels(first, job.inputRowStride, height, width, [](F v) { return v; }) / count;
      const F more =
          sumOfPixels(first, job.inputRowStride, height, width, [&](F v) { return (v - own) * (v - own); });
      const F apart = own - mean;
      mean += apart * (count / all);
      squares += more + apart * apart * (seen * (count / all));
      seen = all;
    }
  store(job.output, mean);
  store(job.output + kLanes, squares);
}

void normLanes(const LaneNormJob &job) {
  const LanesJob &pixels = job.pixels;
  const F mean = load(job.means), factor = load(job.factors), shift = load(job.shifts);
  withActivation(job.activation, [&](auto fn) {
    for (int64_t row = 0; row < pixels.rows; ++row) {
      const float *from = pixels.input + row * pixels.inputRowStride;
      float *to = pixels.output + row * pixels.outputRowStride;
#pragma GCC unroll 2
      for (int64_t x = 0; x < pixels.columns; ++x)
        store(to + x * kLanes, fn((load(from + x * kLanes) - mean) * factor + shift));
    }
  });
}

template <bool kSlopes, bool kScales, bool kAdds> void scaleLanesOf(const LaneFactorsJob &job) {
  const LanesJob &pixels = job.pixels;
  F slope{}, factor{}, shift{};
  if constexpr (kSlopes)
    slope = load(job.slopes);
  if constexpr (kScales) {
    factor = load(job.factors);
    shift = load(job.shifts);
  }
  for (int64_t row = 0; row < pixels.rows; ++row) {
    const float *from = pixels.input + row * pixels.inputRowStride;
    float *to = pixels.output + row * pixels.outputRowStride;
#pragma GCC unroll 4
    for (int64_t x = 0; x < pixels.columns; ++x) {
      F y = load(from + x * kLanes);
      if constexpr (kSlopes)
        y = y > 0 ? y : y * slope;
      if constexpr (kScales)
        y = y * factor + shift;
      if constexpr (kAdds)
        y += load(job.residual + row * job.residualRowStride + x * kLanes);
      store(to + x * kLanes, y);
    }
  }
}

template <bool kSlopes> void scaleSlopedLanes(const LaneFactorsJob &job) {
  if (job.factors)
    return job.residual ? scaleLanesOf<kSlopes, true, true>(job) : scaleLanesOf<kSlopes, true, false>(job);
  return job.residual ? scaleLanesOf<kSlopes, false, true>(job) : scaleLanesOf<kSlopes, false, false>(job);
}

void scaleLanes(const LaneFactorsJob &job) {
  return job.slopes ? scaleSlopedLanes<true>(job) : scaleSlopedLanes<false>(job);
}

template <int kVectors> TORCHERE_INLINE void scaleRowsOf(const RowFactorsJob &job) {
  const float *from = job.input;
  float *to = job.output;
  for (int64_t row = 0; row < job.rows; ++row)
#pragma GCC unroll 4
    for (int vector = 0; vector < kVectors; ++vector, from += kLanes, to += kLanes)
      store(to, load(from) * job.factors[row]);
}

void scaleRows(const RowFactorsJob &job) {
  constexpr int kMostVectors = 4; ///< of a panel
  withCount<kMostVectors>(job.columns / kLanes,
                          [&]<int kVectors>() __attribute__((always_inline)) { scaleRowsOf<kVectors>(job); });
}

TORCHERE_INLINE F chosenLanes(F first, F second, I lanes) {
#if defined(__clang__)
  F chosen;
  for (int i = 0; i < kLanes; ++i)
    chosen[i] = lanes[i] < kLanes ? first[lanes[i]] : second[lanes[i] - kLanes];
  return chosen;
#else
  return __builtin_shuffle(first, second, lanes);
#endif
}

void chooseLanes(const LaneChoiceJob &job) {
  const LanesJob &pixels = job.pixels;
  const I lanes = load(job.lanes);
  for (int64_t row = 0; row < pixels.rows; ++row) {
    const float *first = pixels.input + row * pixels.inputRowStride;
    const float *second = job.second + row * job.secondRowStride;
    float *to = pixels.output + row * pixels.outputRowStride;
    for (int64_t x = 0; x < pixels.columns; ++x)
      store(to + x * kLanes, chosenLanes(load(first + x * kLanes), load(second + x * kLanes), lanes));
  }
}

} // namespace

void addBlocked(IsaKernels &table) {
  table.depthwise = &depthwise;
  table.maxPool = &maxPool;
  table.sumPool = &sumPool;
  table.meanPixels = &meanPixels;
  table.normPixels = &normPixels;
  table.laneMoments = &laneMoments;
  table.normLanes = &normLanes;
  table.scaleLanes = &scaleLanes;
  table.scaleRows = &scaleRows;
  table.chooseLanes = &chooseLanes;
}

} // namespace torchere::cpu::TORCHERE_ISA
