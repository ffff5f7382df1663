// Interpolation along an axis: sums of rows with weights, or of single elements.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {
namespace {

/// `Taps` is a constant where there are few of them, so that the loop over them is unrolled.
template <int Taps> void sumElements(const InterpolationJob &job) {
  const int64_t taps = Taps ? Taps : job.tapCount;
  auto elementsAt = [&](const int64_t *offsets) {
    F elements;
    for (int i = 0; i < kLanes; ++i)
      elements[i] = job.input[offsets[i]];
    return elements;
  };
  int64_t j = 0;
  for (; j + kLanes <= job.count; j += kLanes) {
    F sum = load(job.weights[0] + j) * elementsAt(job.offsets[0] + j);
    for (int64_t tap = 1; tap < taps; ++tap)
      sum += load(job.weights[tap] + j) * elementsAt(job.offsets[tap] + j);
    store(job.output + j, sum);
  }
  for (; j < job.count; ++j) {
    float sum = job.weights[0][j] * job.input[job.offsets[0][j]];
    for (int64_t tap = 1; tap < taps; ++tap)
      sum += job.weights[tap][j] * job.input[job.offsets[tap][j]];
    job.output[j] = sum;
  }
}

template <int Taps> void sumRows(const InterpolationJob &job) {
  const int64_t taps = Taps ? Taps : job.tapCount;
  for (int64_t j = 0; j < job.count; ++j) {
    float *output = job.output + j * job.inner;
    int64_t i = 0;
    for (; i + kLanes <= job.inner; i += kLanes) {
      F sum = load(job.input + job.offsets[0][j] + i) * job.weights[0][j];
      for (int64_t tap = 1; tap < taps; ++tap)
        sum += load(job.input + job.offsets[tap][j] + i) * job.weights[tap][j];
      store(output + i, sum);
    }
    for (; i < job.inner; ++i) {
      float sum = job.weights[0][j] * job.input[job.offsets[0][j] + i];
      for (int64_t tap = 1; tap < taps; ++tap)
        sum += job.weights[tap][j] * job.input[job.offsets[tap][j] + i];
      output[i] = sum;
    }
  }
}

template <int Taps> void interpolateTaps(const InterpolationJob &job) {
  job.inner == 1 ? sumElements<Taps>(job) : sumRows<Taps>(job);
}

void interpolate(const InterpolationJob &job) {
  if (job.tapCount == 1)
    interpolateTaps<1>(job);
  else if (job.tapCount == 2)
    interpolateTaps<2>(job);
  else if (job.tapCount == 4)
    interpolateTaps<4>(job);
  else
    interpolateTaps<0>(job);
}

} // namespace

void addInterpolation(IsaKernels &table) {
  table.interpolate = &interpolate;
}

} // namespace torchere::cpu::TORCHERE_ISA
