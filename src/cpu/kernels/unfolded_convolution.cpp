// Implements convolutions by products, and those of long rows of taps, as weights' gradients have them, by
// sums along these. Where the input is dilated, outputs that meet the same taps of the kernel are computed
// together, so that no product is with one of the zeros between; unless a weight is infinite or NaN, whose
// products with zeros are NaN.
#include "cpu/kernels/unfolded_convolution.h"

#include "cpu/kernels/gemm.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace torchere::cpu {
namespace {

constexpr int kColumns = 5; // scratch
constexpr int kProduct = 6;
constexpr int kWorkspace = 7; ///< that no kernel below gemm() uses
constexpr int64_t kColumnElements = 1 << 16;
constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The taps of an axis that outputs first, first + period, ... meet: output first + t * period reads input
/// starts[j] + t * step by the tap taps[j].
struct AxisPhase {
  int64_t first = 0, period = 1, count = 0, step = 1;
  std::vector<int64_t> taps, starts;
};

int64_t periodOf(const ConvolvedAxis &axis) {
  return axis.inputDilation / std::gcd(axis.stride, axis.inputDilation);
}

AxisPhase phaseOf(const ConvolvedAxis &axis, int64_t first) {
  AxisPhase phase;
  phase.first = first;
  phase.period = periodOf(axis);
  phase.count = first < axis.output ? (axis.output - first + phase.period - 1) / phase.period : 0;
  phase.step = phase.period * axis.stride / axis.inputDilation;
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    int64_t place = first * axis.stride - axis.padding + tap * axis.kernelDilation;
    if (place % axis.inputDilation != 0)
      continue;
    phase.taps.push_back(axis.reversed ? axis.kernel - 1 - tap : tap);
    phase.starts.push_back(place / axis.inputDilation);
  }
  return phase;
}

/// All taps, at places among the zeros between the input's elements.
AxisPhase dilatedPhaseOf(const ConvolvedAxis &axis) {
  AxisPhase phase;
  phase.count = axis.output;
  phase.step = axis.stride;
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    phase.taps.push_back(axis.reversed ? axis.kernel - 1 - tap : tap);
    phase.starts.push_back(tap * axis.kernelDilation - axis.padding);
  }
  return phase;
}

/// One phase of each axis.
struct Phase {
  AxisPhase axes[kMaxSpatialRank];
  int64_t positions = 1, taps = 1;
};

/// Sums that wrap; of at least 32 bits.
template <class W>
void multiplyIntegers(const W *a, const W *b, W *c, int64_t m, int64_t k, int64_t n, int64_t stride) {
  for (int64_t row = 0; row < m; ++row) {
    W *sums = c + row * stride;
    std::fill(sums, sums + n, W(0));
    for (int64_t i = 0; i < k; ++i) {
      W factor = a[row * k + i];
      const W *x = b + i * stride;
      for (int64_t column = 0; column < n; ++column)
        sums[column] += factor * x[column];
    }
  }
}

/// Copies n elements of type `from` by strides, in steps of elements; integers are widened to W.
template <class T, class W> void copyAs(const void *from, int64_t fromStride, void *to, int64_t n) {
  const T *x = static_cast<const T *>(from);
  W *y = static_cast<W *>(to);
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<W>(x[i * fromStride]);
}
using CopyAs = void (*)(const void *from, int64_t fromStride, void *to, int64_t n);

/// Of bools as well.
template <class W> CopyAs integerCopy(DType type) {
  bool isSigned = type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
  if (byteSize(type) == 1)
    return isSigned ? copyAs<int8_t, W> : copyAs<uint8_t, W>;
  if (byteSize(type) == 2)
    return isSigned ? copyAs<int16_t, W> : copyAs<uint16_t, W>;
  if (byteSize(type) == 4)
    return isSigned ? copyAs<int32_t, W> : copyAs<uint32_t, W>;
  return isSigned ? copyAs<int64_t, W> : copyAs<uint64_t, W>;
}

CopyAs sameCopy(int64_t size) {
  return size == 2   ? copyAs<uint16_t, uint16_t>
         : size == 4 ? copyAs<uint32_t, uint32_t>
                     : copyAs<uint64_t, uint64_t>;
}

/// Writes n elements by strides, of the lowest bytes of each.
template <class W, class R> void storeAs(const void *from, void *to, int64_t toStride, int64_t n) {
  const W *x = static_cast<const W *>(from);
  R *y = static_cast<R *>(to);
  for (int64_t i = 0; i < n; ++i)
    y[i * toStride] = static_cast<R>(x[i]);
}
using StoreAs = void (*)(const void *from, void *to, int64_t toStride, int64_t n);

template <class W> StoreAs storeOf(int64_t size) {
  return size == 1   ? storeAs<W, uint8_t>
         : size == 2 ? storeAs<W, uint16_t>
         : size == 4 ? storeAs<W, uint32_t>
                     : storeAs<W, uint64_t>;
}

/// How elements lie in the products: floats as they are, integers as 32 or 64 bits.
struct Elements {
  bool isFloat;
  int64_t size;      ///< in columns and weights
  int64_t sumSize;   ///< in products
  int64_t inputSize; ///< in the input and the weights as given
  int64_t resultSize;
  CopyAs copy;
  StoreAs store;

  explicit Elements(const UnfoldedConvolution &args)
      : isFloat(dtypeInfo(args.type).isFloatingPoint), inputSize(byteSize(args.type)),
        resultSize(byteSize(args.resultType)) {
    if (isFloat) {
      size = inputSize;
      sumSize = resultSize;
      copy = sameCopy(size);
      store = resultSize == 2   ? storeAs<uint16_t, uint16_t>
              : resultSize == 4 ? storeAs<uint32_t, uint32_t>
                                : storeAs<uint64_t, uint64_t>;
      return;
    }
    size = sumSize = resultSize <= 4 ? 4 : 8;
    copy = size == 4 ? integerCopy<uint32_t>(args.type) : integerCopy<uint64_t>(args.type);
    store = size == 4 ? storeOf<uint32_t>(resultSize) : storeOf<uint64_t>(resultSize);
  }
};

/// Whether rows of taps are longer than those of outputs, and lie in memory as the input's rows do. Of many
/// outputs a product reads what is unfolded more often than it is written.
bool hasLongTaps(const UnfoldedConvolution &args) {
  constexpr int64_t kFewOutputs = 4, kLong = 16;
  if (args.rank == 0 || args.type != DType::F32 || args.resultType != DType::F32 ||
      args.groupOutputs > kFewOutputs)
    return false;
  const ConvolvedAxis &row = args.axes[args.rank - 1];
  bool areAlike = row.kernelDilation == 1 && !row.reversed && args.input.spatial[args.rank - 1] == 1 &&
                  args.weights.spatial[args.rank - 1] == 1;
  bool isDilated = std::any_of(args.axes, args.axes + args.rank,
                               [](const ConvolvedAxis &axis) { return axis.inputDilation != 1; });
  return areAlike && !isDilated && row.kernel >= kLong && row.kernel > row.output;
}

class Unfolder {
public:
  Unfolder(const Context &context, const UnfoldedConvolution &args, char *weights)
      : context_(context), args_(args), elements_(args), weights_(weights) {}
  void run();

private:
  void runLongTaps();
  float sumOfTaps(int64_t image, int64_t output, const int64_t *starts) const;
  bool runDilated();
  bool areWeightsFinite() const;
  void runPhase(const Phase &phase);
  void orderWeights(const Phase &phase);
  void runTile(const Phase &phase, int64_t image, int64_t group, int64_t begin, int64_t end);
  void unfold(const Phase &phase, const char *input, int64_t begin, int64_t end, char *columns,
              int64_t width);
  void fillDilatedRow(const Phase &phase, const char *channel, int64_t tap, int64_t begin, int64_t end,
                      char *row);
  void fillRow(const Phase &phase, const char *channel, int64_t tap, int64_t begin, int64_t end, char *row);
  void multiply(const char *weights, const char *columns, char *products, int64_t n, int64_t width);
  void write(const Phase &phase, const char *products, char *output, int64_t begin, int64_t end,
             int64_t width);

  const Context &context_;
  const UnfoldedConvolution &args_;
  Elements elements_;
  char *weights_; ///< [group][output channel][input channel][tap] of a phase
  int64_t depth_ = 0;
  bool isDilated_ = false; ///< places are among the zeros of the dilated input
};

template <class Bits> bool areFinite(const void *elements, int64_t count, Bits exponent) {
  const Bits *bits = static_cast<const Bits *>(elements);
  return std::none_of(bits, bits + count, [&](Bits each) { return (each & exponent) == exponent; });
}

bool Unfolder::areWeightsFinite() const {
  int64_t count = args_.groups * args_.groupOutputs * depth_;
  if (elements_.size == 2)
    return areFinite<uint16_t>(weights_, count, args_.type == DType::BF16 ? 0x7f80 : 0x7c00);
  return elements_.size == 4 ? areFinite<uint32_t>(weights_, count, 0x7f800000u)
                             : areFinite<uint64_t>(weights_, count, 0x7ff0000000000000u);
}

/// With the zeros between the elements, where these count; else false.
bool Unfolder::runDilated() {
  bool hasZeros = std::any_of(args_.axes, args_.axes + args_.rank,
                              [](const ConvolvedAxis &axis) { return axis.inputDilation != 1; });
  if (!hasZeros || !elements_.isFloat)
    return false;
  Phase phase;
  for (int i = 0; i < args_.rank; ++i) {
    phase.axes[i] = dilatedPhaseOf(args_.axes[i]);
    phase.positions *= phase.axes[i].count;
    phase.taps *= args_.axes[i].kernel;
  }
  depth_ = args_.groupInputs * phase.taps;
  orderWeights(phase);
  if (areWeightsFinite())
    return false;
  isDilated_ = true;
  if (phase.positions > 0)
    runPhase(phase);
  return true;
}

void Unfolder::runLongTaps() {
  int64_t positions = 1, taps = args_.groupInputs;
  for (int i = 0; i < args_.rank; ++i) {
    positions *= args_.axes[i].output;
    taps *= args_.axes[i].kernel;
  }
  int64_t outputs = args_.groups * args_.groupOutputs, units = args_.batch * outputs * positions;
  int64_t parts = std::clamp<int64_t>(units * taps / 65536, 1, std::min<int64_t>(units, 64));
  const ConvolvedTensor &to = args_.output;
  context_.pool.parallelFor(units == 0 ? 0 : parts, [&](int64_t part) {
    for (int64_t unit = partBegin(units, parts, part); unit < partBegin(units, parts, part + 1); ++unit) {
      int64_t output = unit / positions % outputs, image = unit / positions / outputs;
      int64_t place = image * to.first + output * to.second, starts[kMaxSpatialRank] = {};
      int64_t rest = unit % positions;
      for (int i = args_.rank - 1; i >= 0; --i) {
        const ConvolvedAxis &axis = args_.axes[i];
        starts[i] = rest % axis.output * axis.stride - axis.padding;
        place += rest % axis.output * to.spatial[i];
        rest /= axis.output;
      }
      static_cast<float *>(const_cast<void *>(to.data))[place] = sumOfTaps(image, output, starts);
    }
  });
}

/// Of one output, whose first tap is at `starts` in the input; taps outside of it are left out.
float Unfolder::sumOfTaps(int64_t image, int64_t output, const int64_t *starts) const {
  auto dots = kernelsOf(context_.isa).dots[kF32];
  const ConvolvedTensor &from = args_.input;
  const int last = args_.rank - 1;
  const int64_t group = output / args_.groupOutputs;
  const float *input = static_cast<const float *>(from.data);
  input += (args_.batchGroups ? group * args_.batch + image : image) * from.first;
  input += (args_.batchGroups ? 0 : group * args_.groupInputs) * from.second;
  const float *weights = static_cast<const float *>(args_.weights.data) + output * args_.weights.first;
  int64_t rows = 1;
  for (int i = 0; i < last; ++i)
    rows *= args_.axes[i].kernel;
  int64_t first = std::max<int64_t>(-starts[last], 0);
  int64_t count = std::min(args_.axes[last].kernel, args_.axes[last].input - starts[last]) - first;
  double total = 0; // of many rows
  for (int64_t row = 0; row < args_.groupInputs * rows && count > 0; ++row) {
    int64_t rest = row, place = 0, tap = 0;
    bool isInside = true;
    for (int i = last - 1; i >= 0; --i) {
      const ConvolvedAxis &axis = args_.axes[i];
      int64_t number = rest % axis.kernel, at = starts[i] + number * axis.kernelDilation;
      rest /= axis.kernel;
      isInside &= at >= 0 && at < axis.input;
      place += at * from.spatial[i];
      tap += (axis.reversed ? axis.kernel - 1 - number : number) * args_.weights.spatial[i];
    }
    if (!isInside)
      continue;
    float sum = 0;
    DotsJob job;
    job.q = weights + rest * args_.weights.second + tap + first;
    job.k = input + rest * from.second + place + starts[last] + first;
    job.rows = job.keys = 1;
    job.size = count;
    job.scores = &sum;
    dots(job);
    total += sum;
  }
  return static_cast<float>(total);
}

void Unfolder::run() {
  if (hasLongTaps(args_))
    return runLongTaps();
  if (runDilated())
    return;
  int64_t phases = 1, periods[kMaxSpatialRank];
  for (int i = 0; i < args_.rank; ++i)
    phases *= periods[i] = std::min(periodOf(args_.axes[i]), std::max<int64_t>(args_.axes[i].output, 1));
  for (int64_t number = 0; number < phases; ++number) {
    Phase phase;
    int64_t rest = number;
    for (int i = args_.rank - 1; i >= 0; --i) {
      phase.axes[i] = phaseOf(args_.axes[i], rest % periods[i]);
      rest /= periods[i];
      phase.positions *= phase.axes[i].count;
      phase.taps *= static_cast<int64_t>(phase.axes[i].taps.size());
    }
    if (phase.positions > 0)
      runPhase(phase);
  }
}

void Unfolder::orderWeights(const Phase &phase) {
  const ConvolvedTensor &from = args_.weights;
  int64_t outputs = args_.groups * args_.groupOutputs;
  int64_t parts = std::clamp<int64_t>(outputs * depth_ / 16384, 1, std::min<int64_t>(outputs, 64));
  context_.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t output = partBegin(outputs, parts, part); output < partBegin(outputs, parts, part + 1);
         ++output)
      for (int64_t input = 0; input < args_.groupInputs; ++input)
        for (int64_t tap = 0; tap < phase.taps; ++tap) {
          int64_t offset = output * from.first + input * from.second, rest = tap;
          for (int i = args_.rank - 1; i >= 0; --i) {
            const std::vector<int64_t> &taps = phase.axes[i].taps;
            auto count = static_cast<int64_t>(taps.size());
            offset += taps[static_cast<size_t>(rest % count)] * from.spatial[i];
            rest /= count;
          }
          elements_.copy(
              static_cast<const char *>(from.data) + offset * elements_.inputSize, 1,
              weights_ + ((output * args_.groupInputs + input) * phase.taps + tap) * elements_.size, 1);
        }
  });
}

void Unfolder::runPhase(const Phase &phase) {
  depth_ = args_.groupInputs * phase.taps;
  orderWeights(phase);
  int64_t tile = std::clamp<int64_t>(kColumnElements / std::max<int64_t>(depth_, 1) / 64 * 64, 64, 1024);
  int64_t tiles = divideUp(phase.positions, tile), units = args_.batch * args_.groups * tiles;
  int64_t work =
      args_.batch * args_.groups * phase.positions * args_.groupOutputs * std::max<int64_t>(depth_, 1);
  int64_t parts = std::clamp<int64_t>(work / 65536, 1, std::min<int64_t>(units, 64));
  context_.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t unit = partBegin(units, parts, part); unit < partBegin(units, parts, part + 1); ++unit) {
      int64_t begin = unit % tiles * tile, group = unit / tiles % args_.groups;
      runTile(phase, unit / tiles / args_.groups, group, begin, std::min(begin + tile, phase.positions));
    }
  });
}

void Unfolder::runTile(const Phase &phase, int64_t image, int64_t group, int64_t begin, int64_t end) {
  int64_t n = end - begin, width = (n + 15) / 16 * 16;
  auto *columns = static_cast<char *>(ThreadPool::scratch(
      static_cast<size_t>(std::max<int64_t>(depth_, 1) * width * elements_.size), kColumns));
  auto *products = static_cast<char *>(
      ThreadPool::scratch(static_cast<size_t>(args_.groupOutputs * width * elements_.sumSize), kProduct));
  int64_t ofBatch = args_.batchGroups ? group * args_.batch + image : image;
  int64_t firstChannel = args_.batchGroups ? 0 : group * args_.groupInputs;
  const ConvolvedTensor &from = args_.input, &to = args_.output;
  unfold(phase,
         static_cast<const char *>(from.data) +
             (ofBatch * from.first + firstChannel * from.second) * elements_.inputSize,
         begin, end, columns, width);
  multiply(weights_ + group * args_.groupOutputs * depth_ * elements_.size, columns, products, n, width);
  char *output = static_cast<char *>(const_cast<void *>(to.data));
  output += (image * to.first + group * args_.groupOutputs * to.second) * elements_.resultSize;
  write(phase, products, output, begin, end, width);
}

/// Columns are positions, rows input channels and taps.
void Unfolder::unfold(const Phase &phase, const char *input, int64_t begin, int64_t end, char *columns,
                      int64_t width) {
  auto fill = isDilated_ ? &Unfolder::fillDilatedRow : &Unfolder::fillRow;
  for (int64_t channel = 0; channel < args_.groupInputs; ++channel)
    for (int64_t tap = 0; tap < phase.taps; ++tap)
      (this->*fill)(phase, input + channel * args_.input.second * elements_.inputSize, tap, begin, end,
                    columns + (channel * phase.taps + tap) * width * elements_.size);
}

void Unfolder::fillDilatedRow(const Phase &phase, const char *channel, int64_t tap, int64_t begin,
                              int64_t end, char *row) {
  int64_t starts[kMaxSpatialRank] = {};
  for (int i = args_.rank - 1; i >= 0; --i) {
    starts[i] = phase.axes[i].starts[static_cast<size_t>(tap % args_.axes[i].kernel)];
    tap /= args_.axes[i].kernel;
  }
  for (int64_t at = begin; at < end; ++at, row += elements_.size) {
    int64_t rest = at, offset = 0;
    bool isInside = true;
    for (int i = args_.rank - 1; i >= 0; --i) {
      const ConvolvedAxis &axis = args_.axes[i];
      int64_t place = starts[i] + rest % axis.output * axis.stride;
      rest /= axis.output;
      isInside &= place >= 0 && place % axis.inputDilation == 0 && place / axis.inputDilation < axis.input;
      offset += place / axis.inputDilation * args_.input.spatial[i];
    }
    if (isInside)
      elements_.copy(channel + offset * elements_.inputSize, 1, row, 1);
    else
      std::memset(row, 0, static_cast<size_t>(elements_.size));
  }
}

/// Runs of positions along the last axis, with zeros where the tap is outside the input.
void Unfolder::fillRow(const Phase &phase, const char *channel, int64_t tap, int64_t begin, int64_t end,
                       char *row) {
  int last = args_.rank - 1;
  int64_t starts[kMaxSpatialRank] = {};
  for (int i = last; i >= 0; --i) {
    auto count = static_cast<int64_t>(phase.axes[i].starts.size());
    starts[i] = phase.axes[i].starts[static_cast<size_t>(tap % count)];
    tap /= count;
  }
  int64_t length = last >= 0 ? phase.axes[last].count : 1;
  for (int64_t at = begin; at < end;) {
    int64_t from = at % length, n = std::min(length - from, end - at), rest = at / length, offset = 0;
    bool isInside = true;
    for (int i = last - 1; i >= 0; --i) {
      int64_t place = starts[i] + rest % phase.axes[i].count * phase.axes[i].step;
      rest /= phase.axes[i].count;
      isInside &= place >= 0 && place < args_.axes[i].input;
      offset += place * args_.input.spatial[i];
    }
    int64_t step = last >= 0 ? phase.axes[last].step : 1, start = last >= 0 ? starts[last] : 0;
    int64_t size = last >= 0 ? args_.axes[last].input : 1, stride = last >= 0 ? args_.input.spatial[last] : 0;
    // The positions of the run whose place start + t * step lies in [0, size).
    int64_t low = start < 0 ? divideUp(-start, step) : 0;
    int64_t high = start < size ? divideUp(size - start, step) : 0;
    low = isInside ? std::clamp(low, from, from + n) : from + n;
    high = std::clamp(high, low, from + n);
    std::memset(row, 0, static_cast<size_t>((low - from) * elements_.size));
    if (high > low)
      elements_.copy(channel + (offset + (start + low * step) * stride) * elements_.inputSize, step * stride,
                     row + (low - from) * elements_.size, high - low);
    std::memset(row + (high - from) * elements_.size, 0,
                static_cast<size_t>((from + n - high) * elements_.size));
    row += n * elements_.size;
    at += n;
  }
}

void Unfolder::multiply(const char *weights, const char *columns, char *products, int64_t n, int64_t width) {
  int64_t m = args_.groupOutputs;
  if (depth_ == 0) {
    std::memset(products, 0, static_cast<size_t>(m * width * elements_.sumSize));
    return;
  }
  if (!elements_.isFloat) {
    if (elements_.size == 4)
      multiplyIntegers(reinterpret_cast<const uint32_t *>(weights),
                       reinterpret_cast<const uint32_t *>(columns), reinterpret_cast<uint32_t *>(products), m,
                       depth_, n, width);
    else
      multiplyIntegers(reinterpret_cast<const uint64_t *>(weights),
                       reinterpret_cast<const uint64_t *>(columns), reinterpret_cast<uint64_t *>(products), m,
                       depth_, n, width);
    return;
  }
  MatmulArgs args;
  args.gemm.layout = packedLayout(args_.type, context_.isa, m, depth_, n);
  args.gemm.m = m;
  args.gemm.a = weights;
  args.gemm.aRowStride = depth_;
  args.gemm.c = products;
  args.gemm.cType = args_.resultType;
  args.gemm.cRowStride = width;
  args.b = columns;
  args.bRowStride = width;
  args.workspace = ThreadPool::scratch(static_cast<size_t>(matmulWorkspaceBytes(args)), kWorkspace);
  matmul(context_, args);
}

void Unfolder::write(const Phase &phase, const char *products, char *output, int64_t begin, int64_t end,
                     int64_t width) {
  int last = args_.rank - 1;
  const ConvolvedTensor &to = args_.output;
  int64_t length = last >= 0 ? phase.axes[last].count : 1;
  for (int64_t at = begin; at < end;) {
    int64_t from = at % length, n = std::min(length - from, end - at), rest = at / length, offset = 0;
    int64_t stride = last >= 0 ? phase.axes[last].period * to.spatial[last] : 0;
    if (last >= 0)
      offset = phase.axes[last].first * to.spatial[last] + from * stride;
    for (int i = last - 1; i >= 0; --i) {
      offset += (phase.axes[i].first + rest % phase.axes[i].count * phase.axes[i].period) * to.spatial[i];
      rest /= phase.axes[i].count;
    }
    for (int64_t channel = 0; channel < args_.groupOutputs; ++channel)
      elements_.store(products + (channel * width + at - begin) * elements_.sumSize,
                      output + (channel * to.second + offset) * elements_.resultSize, stride, n);
    at += n;
  }
}

} // namespace

int64_t unfoldedWorkspaceBytes(const UnfoldedConvolution &args) {
  if (hasLongTaps(args)) // which are read where they lie
    return 0;
  int64_t taps = 1;
  for (int i = 0; i < args.rank; ++i)
    taps *= args.axes[i].kernel;
  return aligned(args.groups * args.groupOutputs * args.groupInputs * taps * Elements(args).size);
}

void convolveUnfolded(const Context &context, const UnfoldedConvolution &args, void *workspace) {
  if (args.batch * args.groups * args.groupOutputs == 0)
    return;
  Unfolder(context, args, static_cast<char *>(workspace)).run();
}

} // namespace torchere::cpu
