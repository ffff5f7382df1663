// Norms over groups of the channels of blocked tensors.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cmath>

namespace torchere::cpu {
namespace {

constexpr int kMoments = 5, kLaneFactors = 6; // scratch

/// Bands of the rows of each block have statistics by lane, those of a group's lanes are joined, and what
/// they give each lane goes over the same bands, by the threads in whose cache these are.
class GroupNorm {
public:
  GroupNorm(const Context &context, const GroupNormArgs &args)
      : context_(context), kernels_(kernelsOf(context.isa)), args_(args), lanes_(args.output.lanes),
        blocks_(args.output.blocks()), items_(args.output.batch / args.depth),
        bands_(args.output, args.output.height) {
    auto floats = [](int64_t count, int slot) {
      return static_cast<float *>(ThreadPool::scratch(static_cast<size_t>(count) * sizeof(float), slot));
    };
    int64_t width = blocks_ * lanes_;
    moments_ = floats(bands_.count() * lanes_ * 2, kMoments);
    means_ = floats(items_ * width * 3, kLaneFactors);
    factors_ = means_ + items_ * width;
    shifts_ = factors_ + items_ * width;
  }

  void run() {
    int64_t parts = bands_.count();
    context_.pool.parallelFor(parts, [&](int64_t part) { takeMoments(part); });
    context_.pool.parallelFor(items_ * args_.groups, [&](int64_t group) { joinGroup(group); });
    context_.pool.parallelFor(parts, [&](int64_t part) { normalize(part); });
  }

private:
  LanesJob pixelsOf(const BlockBand &part) const {
    const BlockedTensor &input = args_.input;
    LanesJob job;
    job.inputRowStride = input.paddedWidth() * lanes_;
    job.input = input.at(part.image, part.block) + part.begin * job.inputRowStride;
    job.rows = part.end - part.begin;
    job.columns = input.width;
    return job;
  }
  /// Of a band: the means of the lanes, then the squares.
  float *momentsAt(int64_t image, int64_t block, int64_t band) const {
    return moments_ + ((image * blocks_ + block) * bands_.ofBlock() + band) * 2 * lanes_;
  }

  void takeMoments(int64_t index) const {
    LanesJob job = pixelsOf(bands_.at(index));
    job.output = moments_ + index * 2 * lanes_;
    kernels_.laneMoments(job);
  }

  /// body(mean, squares, pixels) of each band of each lane of the channels of a group.
  template <class Body> void eachMoment(int64_t item, int64_t first, int64_t end, const Body &body) const {
    for (int64_t image = item * args_.depth; image < (item + 1) * args_.depth; ++image)
      for (int64_t band = 0; band < bands_.ofBlock(); ++band)
        for (int64_t channel = first; channel < end; ++channel) {
          const float *moments = momentsAt(image, channel / lanes_, band) + channel % lanes_;
          body(double(moments[0]), double(moments[lanes_]), double(bands_.rows(band) * args_.output.width));
        }
  }

  void joinGroup(int64_t index) const {
    int64_t item = index / args_.groups, size = args_.output.channels / args_.groups;
    int64_t first = index % args_.groups * size;
    double count = double(size * args_.depth * args_.output.height * args_.output.width);
    double mean = 0, squares = 0;
    eachMoment(item, first, first + size,
               [&](double own, double, double pixels) { mean += own * (pixels / count); });
    eachMoment(item, first, first + size, [&](double own, double more, double pixels) {
      squares += more + (own - mean) * (own - mean) * pixels;
    });
    double factor = 1 / std::sqrt(squares / count + args_.epsilon);
    for (int64_t channel = first; channel < first + size; ++channel) {
      int64_t place = item * blocks_ * lanes_ + channel;
      means_[place] = static_cast<float>(mean);
      factors_[place] = static_cast<float>(args_.scale ? factor * args_.scale[channel] : factor);
      shifts_[place] = args_.bias ? args_.bias[channel] : 0;
    }
  }

  void normalize(int64_t index) const {
    const BlockedTensor &output = args_.output;
    BlockBand part = bands_.at(index);
    int64_t place = (part.image / args_.depth * blocks_ + part.block) * lanes_;
    LaneNormJob job;
    job.pixels = pixelsOf(part);
    job.pixels.outputRowStride = output.paddedWidth() * lanes_;
    job.pixels.output = output.at(part.image, part.block) + part.begin * job.pixels.outputRowStride;
    job.means = means_ + place;
    job.factors = factors_ + place;
    job.shifts = shifts_ + place;
    job.activation = args_.activation;
    kernels_.normLanes(job);
    for (int64_t row = 0; row < job.pixels.rows; ++row)
      clearLanes(output, part.block, job.pixels.output + row * job.pixels.outputRowStride, output.width);
    clearHalo(output, part.image, part.block, part.begin, part.end);
  }

  const Context &context_;
  const IsaKernels &kernels_;
  const GroupNormArgs &args_;
  const int lanes_;
  const int64_t blocks_, items_;
  const BlockBands bands_;
  float *moments_, *means_, *factors_, *shifts_;
};

} // namespace

void normalizeGroups(const Context &context, const GroupNormArgs &args) {
  if (args.output.elements() > 0 && args.output.height > 0 && args.output.width > 0)
    GroupNorm(context, args).run();
}

} // namespace torchere::cpu
