// How a reduction becomes runs along or across, and parts.
#include "cpu/kernels/reduction.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 32;
constexpr int64_t kAcrossColumns = 512;
constexpr int kSums = 4; // scratch

template <class T> uint64_t floatNeutral(Reduction reduction) {
  T infinity = std::numeric_limits<T>::infinity();
  T value = reduction == Reduction::Sum       ? T(0)
            : reduction == Reduction::Product ? T(1)
            : reduction == Reduction::Max     ? -infinity
                                              : infinity;
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

struct Axis {
  int64_t size, stride;
};

/// Dimensions of one kind, merged; the last is the innermost.
struct Axes {
  int count = 0;
  Axis at[kMaxRank];

  void add(int64_t size, int64_t stride) {
    if (size == 1)
      return;
    if (count > 0 && at[count - 1].stride == size * stride)
      at[count - 1] = {at[count - 1].size * size, stride};
    else
      at[count++] = {size, stride};
  }
  int64_t total() const {
    int64_t product = 1;
    for (int i = 0; i < count; ++i)
      product *= at[i].size;
    return product;
  }
  int64_t offset(int64_t index) const {
    int64_t sum = 0;
    for (int i = count - 1; i >= 0; --i) {
      sum += index % at[i].size * at[i].stride;
      index /= at[i].size;
    }
    return sum;
  }
  /// Takes an axis out.
  Axis take(int index) {
    Axis axis = at[index];
    for (int i = index; i + 1 < count; ++i)
      at[i] = at[i + 1];
    --count;
    return axis;
  }
};

/// Of sums, to results.
void scaleSums(DType type, double scale, void *sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (type == DType::F64)
      static_cast<double *>(sums)[i] *= scale;
    else
      static_cast<float *>(sums)[i] = static_cast<float>(static_cast<float *>(sums)[i] * scale);
  }
}

class Reducer {
public:
  Reducer(const Context &context, const ReductionArgs &args);
  void run();

private:
  void runPart(int64_t part);
  void finish(char *sums, int64_t begin, int64_t end);
  void fill(char *sums, int64_t count) const;
  int64_t segmentBegin(int64_t segment) const { return partBegin(inner_.size, segments_, segment); }

  const Context &context_;
  const ReductionArgs &args_;
  const IsaKernels &kernels_;
  Axes kept_, reduced_;
  Axis inner_{1, 0};  ///< the reduced axis of each call of a kernel
  Axis across_{1, 1}; ///< the kept axis of each call, if it is contiguous
  bool isAcross_ = false;
  int64_t outputs_ = 1, size_, sumSize_;
  int64_t segments_ = 1; ///< parts of the inner axis, for results that are few
  int64_t outputParts_ = 1;
  char *sums_ = nullptr; ///< [segment][output]
};

Reducer::Reducer(const Context &context, const ReductionArgs &args)
    : context_(context), args_(args), kernels_(kernelsOf(context.isa)) {
  size_ = byteSize(args.type);
  bool half = args.type == DType::F16 || args.type == DType::BF16;
  sumSize_ = half ? 4 : size_;
  for (int i = 0; i < args.rank; ++i)
    (args.reduced[i] ? reduced_ : kept_).add(args.dims[i], args.strides[i]);
  outputs_ = kept_.total();
  int64_t elements = outputs_ * reduced_.total();
  int best = -1;
  for (int i = 0; i < reduced_.count; ++i)
    if (best < 0 || std::abs(reduced_.at[i].stride) <= std::abs(reduced_.at[best].stride))
      best = i;
  bool along = best >= 0 && reduced_.at[best].stride == 1;
  int last = kept_.count - 1;
  isAcross_ = !along && last >= 0 && kept_.at[last].stride == 1 && best >= 0;
  if (isAcross_)
    across_ = kept_.take(last);
  if (best >= 0)
    inner_ = reduced_.take(best);
  int64_t wanted = std::clamp<int64_t>(elements / kPartElements, 1, kMaxParts);
  // Parts of a row are wide enough for the lines that they read.
  outputParts_ =
      std::min(wanted, isAcross_ ? kept_.total() * divideUp(across_.size, kAcrossColumns) : outputs_);
  if (outputParts_ < 8 && wanted > outputParts_)
    segments_ = std::max<int64_t>(1, std::min(wanted / std::max<int64_t>(outputParts_, 1), inner_.size / 64));
  // Kernels join chunks one after another: of very many, the rounding would show.
  int64_t longest = isAcross_ ? 4096 : 1 << 18;
  if (outputs_ * (inner_.size / longest) <= 1 << 18)
    segments_ = std::max(segments_, inner_.size / longest);
}

void Reducer::fill(char *sums, int64_t count) const {
  uint64_t bits = neutralOf(args_.type, args_.reduction);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(sums + i * sumSize_, &bits, sumSize_);
}

void Reducer::runPart(int64_t part) {
  int64_t segment = part / outputParts_, index = part % outputParts_;
  int64_t begin = partBegin(outputs_, outputParts_, index),
          end = partBegin(outputs_, outputParts_, index + 1);
  char *sums = sums_ + segment * outputs_ * sumSize_;
  fill(sums + begin * sumSize_, end - begin);
  int64_t from = segmentBegin(segment), length = segmentBegin(segment + 1) - from;
  int64_t others = reduced_.total();
  // Outputs that one call computes: the columns of a row, or the rows of the innermost axis that is kept.
  Axis kept = isAcross_ ? across_ : kept_.count > 0 ? kept_.at[kept_.count - 1] : Axis{1, 0};
  if (length == 0)
    return;
  auto type = static_cast<int>(args_.type), op = static_cast<int>(args_.reduction);
  ReduceFunction function = isAcross_ ? kernels_.reduceAcross[type][op] : kernels_.reduceAlong[type][op];
  for (int64_t output = begin; output < end;) {
    int64_t place = output % kept.size, count = std::min(kept.size - place, end - output);
    int64_t base =
        from * inner_.stride + (isAcross_ ? kept_.offset(output / kept.size) + place : kept_.offset(output));
    for (int64_t other = 0; other < others; ++other) {
      ReduceJob job;
      job.input = static_cast<const char *>(args_.input) + (base + reduced_.offset(other)) * size_;
      job.output = sums + output * sumSize_;
      job.rowStride = isAcross_ ? inner_.stride : kept.stride;
      job.columnStride = isAcross_ ? 1 : inner_.stride;
      job.rows = isAcross_ ? length : count;
      job.columns = isAcross_ ? count : length;
      function(job);
    }
    output += count;
  }
}

void Reducer::finish(char *sums, int64_t begin, int64_t end) {
  finishSums(kernels_, args_.type, args_.reduction, args_.initial, args_.scale, sums + begin * sumSize_,
             end - begin, static_cast<char *>(args_.output) + begin * size_);
}

void Reducer::run() {
  if (outputs_ == 0)
    return;
  bool direct = segments_ == 1 && sumSize_ == size_;
  sums_ = direct ? static_cast<char *>(args_.output)
                 : static_cast<char *>(ThreadPool::scratch(segments_ * outputs_ * sumSize_, kSums));
  context_.pool.parallelFor(outputParts_ * segments_, [&](int64_t part) {
    runPart(part);
    if (segments_ == 1) {
      int64_t index = part % outputParts_;
      finish(sums_, partBegin(outputs_, outputParts_, index), partBegin(outputs_, outputParts_, index + 1));
    }
  });
  if (segments_ == 1)
    return;
  auto sumType = static_cast<int>(sumSize_ == size_ ? args_.type : DType::F32);
  kernels_.reduceAcross[sumType][static_cast<int>(args_.reduction)](
      {sums_ + outputs_ * sumSize_, outputs_, 1, segments_ - 1, outputs_, sums_});
  finish(sums_, 0, outputs_);
}

} // namespace

uint64_t neutralOf(DType type, Reduction reduction) {
  if (type == DType::F64)
    return floatNeutral<double>(reduction);
  if (dtypeInfo(type).isFloatingPoint)
    return floatNeutral<float>(reduction);
  uint64_t ones = ~uint64_t(0) >> (64 - 8 * byteSize(type));
  bool boolean = type == DType::Bool, isSigned = dtypeInfo(type).isSigned;
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Or:
    return 0;
  case Reduction::Product:
    return 1;
  case Reduction::Max:
    return isSigned ? (ones >> 1) + 1 : 0;
  case Reduction::Min:
    return boolean ? 1 : isSigned ? ones >> 1 : ones;
  case Reduction::And:
    return boolean ? 1 : ones;
  }
  return 0;
}

void finishSums(const IsaKernels &kernels, DType type, Reduction reduction, const void *initial, double scale,
                void *sums, int64_t count, void *output) {
  bool isHalf = type == DType::F16 || type == DType::BF16;
  DType sumType = isHalf ? DType::F32 : type;
  if (initial)
    kernels.reduceAlong[static_cast<int>(type)][static_cast<int>(reduction)]({initial, 0, 1, count, 1, sums});
  if (scale != 1 && reduction == Reduction::Sum && dtypeInfo(sumType).isFloatingPoint)
    scaleSums(sumType, scale, sums, count);
  if (isHalf)
    kernels.finish[floatType(type)]({sums, 0, output, 0, 1, count, nullptr, nullptr, 0, Activation::None});
  else if (sums != output)
    std::memcpy(output, sums, static_cast<size_t>(count) * byteSize(type));
}

void reduce(const Context &context, const ReductionArgs &args) {
  Reducer(context, args).run();
}

} // namespace torchere::cpu
