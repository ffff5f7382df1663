// A convolution and a depthwise one of its result: a panel of channels at a time, by bands of rows that stay
// in the L2 cache.
#include "cpu/kernels/blocked_rows.h"
#include "cpu/kernels/convolver.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {

namespace {

/// Of a panel's rows in between: if so many are enough; and those that no cache holds.
constexpr int64_t kMiddleBytes = 192 << 10, kMostMiddleBytes = 1 << 20;
constexpr int64_t kPartWork = 200000; ///< multiply-adds
/// Reading a number that another thread may have written takes as long as so many multiply-adds.
constexpr int64_t kReadingWork = 8;
constexpr int kMiddle = 0; // scratch

/// The rows of a panel's middle that are there at a time.
struct MiddleRows {
  MiddleRows(const ConvolutionPlan &first, const ConvolutionPlan &depthwise);
  int64_t count() const { return (step - 1) * stride + extent; }
  int64_t bytes() const { return count() * rowBytes; }

  int64_t stride;
  int64_t extent;   ///< that an output row reads
  int64_t overlap;  ///< that the next one reads too
  int64_t rowBytes; ///< of all vectors
  int64_t step;     ///< output rows that are computed of them
};

MiddleRows::MiddleRows(const ConvolutionPlan &first, const ConvolutionPlan &depthwise) {
  const ConvolutionShape &window = depthwise.shape;
  int64_t width = window.inputWidth + 2 * depthwise.inputHalo().columns;
  stride = window.stride[0];
  extent = (window.kernel[0] - 1) * window.dilation[0] + 1;
  overlap = std::max<int64_t>(extent - stride, 0);
  rowBytes = width * floatLanes(first.isa) * Panels(first).most() * int64_t(sizeof(float));
  int64_t fitting = (kMiddleBytes / rowBytes - extent) / stride + 1;
  // What the next rows read too is moved, and should be little.
  step = std::min(std::max({fitting, divideUp(overlap, stride), int64_t(1)}), window.outputHeight);
}

} // namespace

class ConvolutionPair {
public:
  ConvolutionPair(const Context &context, const ConvolutionArgs &first, const ConvolutionArgs &depthwise);
  void run();

private:
  using Range = Convolver::Range;
  int64_t chooseBands() const;
  void runPart(int64_t image, int64_t panel, const Range &rows) const;

  /// Rows of the middle that rows of the output read, and maybe some above and below the image.
  Range middleOf(const Range &rows) const {
    int64_t begin = rows.begin * window_.stride[0] - window_.padding[0];
    return {begin, begin + (rows.count() - 1) * window_.stride[0] + rows_.extent};
  }

  const Context &context_;
  const ConvolutionArgs &first_, &depthwise_;
  const ConvolutionShape &shape_, &window_; ///< of the first, of the depthwise one
  ConvolutionSource source_;
  Panels panels_;
  MiddleRows rows_;
  BlockedTensor middle_;
};

ConvolutionPair::ConvolutionPair(const Context &context, const ConvolutionArgs &first,
                                 const ConvolutionArgs &depthwise)
    : context_(context), first_(first), depthwise_(depthwise), shape_(first.plan.shape),
      window_(depthwise.plan.shape), panels_(first.plan), rows_(first.plan, depthwise.plan),
      middle_{nullptr,
              1,
              shape_.outputChannels,
              rows_.count(),
              shape_.outputWidth,
              {0, depthwise.plan.inputHalo().columns},
              floatLanes(first.plan.isa)} {}

/// Of each image and panel: as many as leave the thread that has most the least to do. Rows where bands meet
/// are computed for both; a thread that has panels of all rows reads the whole input.
int64_t ConvolutionPair::chooseBands() const {
  int64_t threads = context_.pool.threads(), all = window_.outputHeight;
  int64_t work = first_.plan.weightElements() * shape_.batch * shape_.outputHeight * shape_.outputWidth;
  int64_t most = std::min({2 * threads, all, divideUp(work, kPartWork)});
  int64_t sums =
      shape_.inputChannels * shape_.kernel[0] * shape_.kernel[1] + window_.kernel[0] * window_.kernel[1];
  int64_t reads = kReadingWork * shape_.inputChannels * shape_.stride[0] * shape_.stride[1];
  int64_t best = 1;
  double least = 0;
  for (int64_t bands = 1; bands <= most; bands += bands < 4 ? 1 : bands) {
    int64_t parts = shape_.batch * bands * panels_.count, longest = 0;
    auto blocksBefore = [&](int64_t part) {
      return part / panels_.count * panels_.vectorsOfGroup + panels_.begin(part % panels_.count);
    };
    for (int64_t thread = 0; thread < threads; ++thread) {
      int64_t begin = partBegin(parts, threads, thread), end = partBegin(parts, threads, thread + 1);
      int64_t bandsOf = divideUp(end, panels_.count) - begin / panels_.count;
      longest = std::max(longest,
                         (blocksBefore(end) - blocksBefore(begin)) * middle_.lanes * sums + bandsOf * reads);
    }
    double rows = double(all * window_.stride[0] + rows_.overlap * (bands - 1)) / double(bands);
    if (bands == 1 || double(longest) * rows < least) {
      least = double(longest) * rows;
      best = bands;
    }
  }
  return best;
}

void ConvolutionPair::run() {
  if (shape_.batch == 0)
    return;
  source_ = findSource(context_, first_, first_.plan);
  int64_t bands = chooseBands(), all = window_.outputHeight;
  context_.pool.parallelFor(shape_.batch * bands * panels_.count, [&](int64_t part) {
    int64_t panel = part % panels_.count, band = part / panels_.count % bands;
    runPart(part / panels_.count / bands, panel,
            {partBegin(all, bands, band), partBegin(all, bands, band + 1)});
  });
}

/// All blocks of a panel, in rows of an image.
void ConvolutionPair::runPart(int64_t image, int64_t panel, const Range &rows) const {
  int64_t row = middle_.paddedWidth() * middle_.lanes, plane = middle_.plane();
  int64_t begin = panels_.begin(panel), end = begin + panels_.vectors(panel);
  auto *memory =
      static_cast<float *>(ThreadPool::scratch((end - begin) * plane * int64_t(sizeof(float)), kMiddle));
  auto eachBlock = [&](auto body) {
    for (int64_t block = begin; block < end; ++block)
      body(block, memory + (block - begin) * plane);
  };
  auto clear = [&](int64_t from, int64_t to) {
    if (from < to)
      eachBlock([&](int64_t, float *first) {
        std::memset(first + from * row, 0, (to - from) * row * sizeof(float));
      });
  };
  ConvolutionArgs args = first_;
  args.output = middle_;
  args.output.data = memory - begin * plane;
  Convolver first(context_, args), depthwise(context_, depthwise_);
  first.prepare(source_);
  depthwise.prepare({nullptr, 0, plane, row, middle_.lanes, {window_.stride[0], window_.stride[1]}});
  const float *input = source_.data + image * source_.imageStride;
  Range there = middleOf(rows); // rows of the middle that lie in memory: none yet
  there.end = there.begin;
  for (int64_t next = rows.begin; next < rows.end;) {
    Range now{next, std::min(next + rows_.step, rows.end)}, needed = middleOf(now);
    next = now.end;
    int64_t moved = std::max<int64_t>(there.end - needed.begin, 0);
    if (moved > 0)
      eachBlock([&](int64_t, float *block) {
        std::memmove(block, block + (needed.begin - there.begin) * row, moved * row * sizeof(float));
      });
    int64_t from = needed.begin + moved;
    there = needed;
    int64_t inside = std::clamp<int64_t>(0, from, needed.end);
    int64_t outside = std::clamp<int64_t>(shape_.outputHeight, inside, needed.end);
    clear(from - needed.begin, inside - needed.begin);
    clear(outside - needed.begin, needed.end - needed.begin);
    if (inside < outside) {
      first.source_.data = input + needed.begin * shape_.stride[0] * source_.rowStride;
      first.runBand({{0, 1}, {inside - needed.begin, outside - needed.begin}, {panel, panel + 1}});
    }
    depthwise.source_.data = memory - begin * plane +
                             (middle_.halo.columns - window_.padding[1]) * middle_.lanes -
                             now.begin * window_.stride[0] * row;
    eachBlock([&](int64_t block, float *) {
      depthwise.depthwiseRows(image, block, now);
      depthwise.finishRows(image, block, now);
    });
  }
}

bool canJoin(const ConvolutionPlan &first, const ConvolutionPlan &depthwise) {
  const ConvolutionShape &s = first.shape, &w = depthwise.shape;
  bool isOfTiles = first.kind == ConvolutionKind::Direct || first.kind == ConvolutionKind::Planar;
  return isOfTiles && depthwise.kind == ConvolutionKind::Depthwise && s.groups == 1 && s.phaseCount() == 1 &&
         w.phaseCount() == 1 && s.dilation[0] * s.dilation[1] == 1 && s.depth.isFlat() && w.depth.isFlat() &&
         s.outputHeight > 1 && s.batch == w.batch && s.outputChannels == w.inputChannels &&
         s.outputHeight == w.inputHeight && s.outputWidth == w.inputWidth && first.isa == depthwise.isa &&
         MiddleRows(first, depthwise).bytes() <= kMostMiddleBytes;
}

void convolvePair(const Context &context, const ConvolutionArgs &first, const ConvolutionArgs &depthwise) {
  ConvolutionPair(context, first, depthwise).run();
}

} // namespace torchere::cpu
