// The transforms of Winograd's F(2,3), with points 0, +-1 and infinity, and F(4,3), with 0, +-5/8, +-3/2 and
// infinity: the latter's error is a third of that with the integer points.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

constexpr float kA = 0.625f, kB = 1.5f;
constexpr float kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;

/// Pixels of a line to points.
template <int kTile> TORCHERE_INLINE void toPoints(const F *d, F *p) {
  if constexpr (kTile == 4) {
    F even = d[4] - kB2 * d[2], odd = d[3] - kB2 * d[1];
    p[1] = even + kA * odd;
    p[2] = even - kA * odd;
    even = d[4] - kA2 * d[2];
    odd = d[3] - kA2 * d[1];
    p[3] = even + kB * odd;
    p[4] = even - kB * odd;
    p[0] = (kA2 * kB2) * d[0] + (d[4] - (kA2 + kB2) * d[2]);
    p[5] = (kA2 * kB2) * d[1] + (d[5] - (kA2 + kB2) * d[3]);
  } else {
    p[0] = d[0] - d[2];
    p[1] = d[1] + d[2];
    p[2] = d[2] - d[1];
    p[3] = d[3] - d[1];
  }
}

/// Points of a line to results.
template <int kTile> TORCHERE_INLINE void fromPoints(const F *p, F *y) {
  if constexpr (kTile == 4) {
    F s1 = p[1] + p[2], d1 = p[1] - p[2], s2 = p[3] + p[4], d2 = p[3] - p[4];
    y[0] = p[0] + s1 + s2;
    y[1] = kA * d1 + kB * d2;
    y[2] = kA2 * s1 + kB2 * s2;
    y[3] = kA3 * d1 + (kB3 * d2 + p[5]);
  } else {
    y[0] = p[0] + p[1] + p[2];
    y[1] = p[1] - p[2] + p[3];
  }
}

template <int kTile> void transformInput(const WinogradJob &job) {
  constexpr int kSide = kTile + 2;
  F w[kSide][kSide];
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    F d[kSide], p[kSide];
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i)
      d[i] = load(job.input + i * job.inputStride + j * kLanes);
    toPoints<kTile>(d, p);
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i)
      w[i][j] = p[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < kSide; ++i) {
    F p[kSide];
    toPoints<kTile>(w[i], p);
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j)
      store(job.output + (i * kSide + j) * job.outputStride, p[j]);
  }
}

template <int kTile> void transformOutput(const WinogradJob &job) {
  constexpr int kSide = kTile + 2;
  for (int i = 0; i < job.rows; ++i)
    for (int j = 0; j < job.columns; j += 16 / kLanes) {
      __builtin_prefetch(job.output + i * job.outputStride + j * kLanes, 1);
      if (job.residual)
        __builtin_prefetch(job.residual + i * job.residualStride + j * kLanes);
    }
  F w[kTile][kSide];
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j) {
    F p[kSide], y[kTile];
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i)
      p[i] = load(job.input + (i * kSide + j) * job.inputStride);
    fromPoints<kTile>(p, y);
#pragma GCC unroll 4
    for (int i = 0; i < kTile; ++i)
      w[i][j] = y[i];
  }
  F shift = job.bias ? load(job.bias) : F{};
#pragma GCC unroll 4
  for (int i = 0; i < kTile; ++i) {
    if (i >= job.rows)
      break;
    F y[kTile];
    fromPoints<kTile>(w[i], y);
    for (int j = 0; j < job.columns; ++j) {
      F v = y[j] + shift;
      if (job.residual)
        v += load(job.residual + i * job.residualStride + j * kLanes);
      if (job.relu)
        v = v < 0.0f ? F{} : v;
      store(job.output + i * job.outputStride + j * kLanes, v);
    }
  }
}

typedef double Double __attribute__((vector_size(kVectorBytes)));
constexpr int kDoubles = kVectorBytes / 8;

TORCHERE_INLINE Double widenTaps(const float *p) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2), aligned(1), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Half *>(p), Double);
}
TORCHERE_INLINE void storeRounded(float *p, Double v) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
  Half rounded = __builtin_convertvector(v, Half);
  memcpy(p, &rounded, sizeof(rounded));
}

/// Taps of a line to points.
template <int kTile> TORCHERE_INLINE void tapsToPoints(const Double *t, Double *p) {
  if constexpr (kTile == 4) {
    constexpr double a = 0.625, b = 1.5, a2 = a * a, b2 = b * b;
    constexpr double scaleA = 1 / (2 * a2 * (a2 - b2)), scaleB = 1 / (2 * b2 * (b2 - a2));
    Double even = scaleA * t[0] + (scaleA * a2) * t[2], odd = (scaleA * a) * t[1];
    p[1] = even + odd;
    p[2] = even - odd;
    even = scaleB * t[0] + (scaleB * b2) * t[2];
    odd = (scaleB * b) * t[1];
    p[3] = even + odd;
    p[4] = even - odd;
    p[0] = (1 / (a2 * b2)) * t[0];
    p[5] = t[2];
  } else {
    Double even = 0.5 * t[0] + 0.5 * t[2], odd = 0.5 * t[1];
    p[0] = t[0];
    p[1] = even + odd;
    p[2] = even - odd;
    p[3] = t[2];
  }
}

template <int kTile> void transformWeights(const WinogradWeightsJob &job) {
  constexpr int kSide = kTile + 2;
  for (int64_t column = 0; column < job.columns; column += kDoubles) {
    Double w[kSide][3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      Double t[3], p[kSide];
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i)
        t[i] = widenTaps(job.taps + (3 * i + j) * job.tapStride + column);
      tapsToPoints<kTile>(t, p);
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i)
        w[i][j] = p[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      Double p[kSide];
      tapsToPoints<kTile>(w[i], p);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j)
        storeRounded(job.points + (i * kSide + j) * job.pointStride + column, p[j]);
    }
  }
}

} // namespace

void addWinograd(IsaKernels &table) {
  table.winogradInput[0] = &transformInput<2>;
  table.winogradInput[1] = &transformInput<4>;
  table.winogradOutput[0] = &transformOutput<2>;
  table.winogradOutput[1] = &transformOutput<4>;
  table.winogradWeights[0] = &transformWeights<2>;
  table.winogradWeights[1] = &transformWeights<4>;
}

} // namespace torchere::cpu::TORCHERE_ISA
