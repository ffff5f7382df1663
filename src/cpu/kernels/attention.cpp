// Attention by blocks of queries: each goes through the keys in runs and keeps, of every row, the largest
// score, the total of the weights and the sums of the weighted values.
#include "cpu/kernels/attention.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <limits>

namespace torchere::cpu {
namespace {

constexpr int64_t kKeys = 64; ///< of a run
/// Of a part: every part turns all keys into columns, which its rows share.
constexpr int64_t kMostRows = 72;
constexpr int64_t kWantedParts = 16;
constexpr int64_t kFewRows = 2;
/// An added mask of less than this leaves a key out: its weight is 0 beside any key without a mask.
constexpr float kLeftOut = -1e30f;
constexpr int kBuffers = 6; // scratch

/// The queries of a part are rows: positions of one head or, of a single position, the heads that share a
/// key's head.
class Part {
public:
  Part(const Context &context, const AttentionArgs &args, int64_t batch, int64_t head, int64_t first,
       int64_t rows, bool rowsAreHeads);
  void run();

private:
  void makeBuffers();
  void readQueries();
  bool seesNone(const ScoresJob &job) const;
  void runKeys(int64_t first, int64_t count);
  void score(int64_t first, int64_t count);
  void weigh(int64_t first, int64_t count);
  void multiply(TileArgs tile, int64_t columns) const;
  void write();
  const char *element(const HeadTensor &tensor, int64_t head, int64_t position) const {
    return static_cast<const char *>(tensor.data) +
           (batch_ * tensor.strides[0] + head * tensor.strides[1] + position * tensor.strides[2]) * size_;
  }
  int64_t rowStride(const int64_t *strides) const { return strides[rowsAreHeads_ ? 1 : 2]; }

  const AttentionArgs &args_;
  const IsaKernels &kernels_;
  FloatType type_;
  int64_t size_, batch_, head_, keyHead_, first_, rows_;
  bool rowsAreHeads_;
  int64_t valueWidth_; ///< valueSize in whole vectors
  float *q_, *keys_, *scores_, *sums_, *values_, *most_, *total_;
};

Part::Part(const Context &context, const AttentionArgs &args, int64_t batch, int64_t head, int64_t first,
           int64_t rows, bool rowsAreHeads)
    : args_(args), kernels_(kernelsOf(context.isa)), type_(floatType(args.type)), size_(byteSize(args.type)),
      batch_(batch), head_(head), keyHead_(head / (args.queryHeads / args.keyHeads)), first_(first),
      rows_(rows), rowsAreHeads_(rowsAreHeads) {
  valueWidth_ = divideUp(args.valueSize, kernels_.lanes) * kernels_.lanes;
}

void Part::makeBuffers() {
  int64_t head = divideUp(args_.headSize, 16) * 16;
  int64_t sizes[] = {rows_ * head,        head * kKeys, rows_ * kKeys, rows_ * valueWidth_,
                     kKeys * valueWidth_, rows_,        rows_};
  float **buffers[] = {&q_, &keys_, &scores_, &sums_, &values_, &most_, &total_};
  int64_t total = 0;
  for (int64_t size : sizes)
    total += divideUp(size, 16) * 16;
  auto *memory = static_cast<float *>(ThreadPool::scratch(total * sizeof(float), kBuffers));
  for (int i = 0; i < 7; ++i) {
    *buffers[i] = memory;
    memory += divideUp(sizes[i], 16) * 16;
  }
  std::fill_n(most_, rows_, -std::numeric_limits<float>::infinity());
  std::fill_n(total_, rows_, 0.0f);
  std::fill_n(sums_, rows_ * valueWidth_, 0.0f);
}

void Part::readQueries() {
  kernels_.widen[type_]({element(args_.q, head_, first_), rowStride(args_.q.strides), 1, rows_,
                         args_.headSize, q_, args_.headSize});
  kernels_.scaleRow(q_, rows_ * args_.headSize, args_.scale);
}

void Part::run() {
  makeBuffers();
  readQueries();
  int64_t keys = args_.keys;
  if (args_.causal)
    keys = std::clamp<int64_t>(first_ + (rowsAreHeads_ ? 1 : rows_) + args_.causalOffset, 0, keys);
  for (int64_t first = 0; first < keys; first += kKeys)
    runKeys(first, std::min(kKeys, keys - first));
  write();
}

/// All rows of a tile by columns, in pieces that the tiles have.
void Part::multiply(TileArgs tile, int64_t columns) const {
  const float *a = static_cast<const float *>(tile.a), *b = static_cast<const float *>(tile.b);
  float *c = static_cast<float *>(tile.c);
  tile.cVectorStride = kernels_.lanes;
  int64_t vectors = columns / kernels_.lanes;
  for (int64_t v = 0; v < vectors; v += 2) {
    int64_t wide = std::min<int64_t>(2, vectors - v), most = kernels_.maxRows[wide],
            tiles = divideUp(rows_, most);
    for (int64_t i = 0; i < tiles; ++i) {
      int64_t row = partBegin(rows_, tiles, i), count = partBegin(rows_, tiles, i + 1) - row;
      tile.a = a + row * tile.aRowStride;
      tile.b = b + v * kernels_.lanes;
      tile.c = c + row * tile.cRowStride + v * kernels_.lanes;
      kernels_.tiles[kF32][wide][count](tile);
    }
  }
}

void Part::score(int64_t first, int64_t count) {
  const char *k = element(args_.k, keyHead_, first);
  if (rows_ <= kFewRows) {
    kernels_.dots[type_](
        {q_, args_.headSize, rows_, k, args_.k.strides[2], count, args_.headSize, scores_, kKeys});
    return;
  }
  // The keys as columns, whole vectors of them.
  if (type_ == kF32)
    kernels_.transpose[2](k, args_.k.strides[2], keys_, kKeys, count, args_.headSize);
  else
    kernels_.widen[type_]({k, 1, args_.k.strides[2], args_.headSize, count, keys_, kKeys});
  TileArgs tile;
  tile.a = q_;
  tile.aRowStride = tile.k = args_.headSize;
  tile.b = keys_;
  tile.bRowStride = kKeys;
  tile.c = scores_;
  tile.cRowStride = kKeys;
  multiply(tile, divideUp(count, kernels_.lanes) * kernels_.lanes);
}

void Part::weigh(int64_t first, int64_t count) {
  TileArgs tile;
  tile.a = scores_;
  tile.aRowStride = kKeys;
  tile.k = count;
  tile.b = element(args_.v, keyHead_, first);
  tile.bRowStride = args_.v.strides[2];
  if (type_ != kF32 || valueWidth_ != args_.valueSize) {
    kernels_.widen[type_]({tile.b, args_.v.strides[2], 1, count, args_.valueSize, values_, valueWidth_});
    tile.b = values_;
    tile.bRowStride = valueWidth_;
  }
  tile.c = sums_;
  tile.cRowStride = valueWidth_;
  tile.accumulate = true;
  multiply(tile, valueWidth_);
}

/// Whether the run changes nothing because its keys are masked for all rows.
bool Part::seesNone(const ScoresJob &job) const {
  if (job.maskKeyStride != 1)
    return false;
  int64_t rows = job.maskRowStride == 0 ? 1 : job.rows;
  if (job.seen) {
    for (int64_t row = 0; row < rows; ++row) {
      const uint8_t *mask = job.seen + row * job.maskRowStride;
      uint8_t any = 0;
      for (int64_t key = 0; key < job.keys; ++key)
        any |= mask[key];
      if (any)
        return false;
    }
    return true;
  }
  // What is left out by a finite number counts in rows that see nothing else.
  float least = *std::min_element(most_, most_ + rows_) > kLeftOut / 2
                    ? kLeftOut
                    : -std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < rows; ++row) {
    const float *mask = job.added + row * job.maskRowStride;
    bool any = false;
    for (int64_t key = 0; key < job.keys; ++key)
      any |= !(mask[key] <= least);
    if (any)
      return false;
  }
  return true;
}

void Part::runKeys(int64_t first, int64_t count) {
  ScoresJob job;
  job.scores = scores_;
  job.rowStride = kKeys;
  job.rows = rows_;
  job.keys = count;
  job.firstLimit = args_.causal ? first_ + args_.causalOffset + 1 - first : count;
  job.limitStep = args_.causal && !rowsAreHeads_;
  if (args_.mask != MaskKind::None) {
    const int64_t *s = args_.maskStrides;
    int64_t at = batch_ * s[0] + head_ * s[1] + first_ * s[2] + first * s[3];
    if (args_.mask == MaskKind::Additive)
      job.added = static_cast<const float *>(args_.maskData) + at;
    else
      job.seen = static_cast<const uint8_t *>(args_.maskData) + at;
    job.maskRowStride = s[rowsAreHeads_ ? 1 : 2];
    job.maskKeyStride = s[3];
    if (seesNone(job))
      return;
  }
  score(first, count);
  job.most = most_;
  job.total = total_;
  job.sums = sums_;
  job.sumsStride = valueWidth_;
  kernels_.scores(job);
  weigh(first, count);
}

void Part::write() {
  for (int64_t row = 0; row < rows_; ++row) {
    bool nothing = total_[row] == 0;
    kernels_.scaleRow(sums_ + row * valueWidth_, valueWidth_,
                      nothing && args_.zeroWhenMasked ? 0 : 1 / total_[row]);
  }
  char *output =
      static_cast<char *>(args_.output) +
      (batch_ * args_.outputStrides[0] + head_ * args_.outputStrides[1] + first_ * args_.outputStrides[2]) *
          size_;
  kernels_.finish[type_]({sums_, valueWidth_, output, rowStride(args_.outputStrides), rows_, args_.valueSize,
                          nullptr, nullptr, 0, Activation::None});
}

} // namespace

void attention(const Context &context, const AttentionArgs &args) {
  if (args.batch == 0 || args.queries == 0 || args.queryHeads == 0 || args.valueSize == 0)
    return;
  int64_t most = kMostRows;
  while (most > kMostRows / 4 && args.batch * args.queryHeads * divideUp(args.queries, most) < kWantedParts)
    most /= 2;
  int64_t blocks = divideUp(args.queries, most);
  int64_t shared = args.queryHeads / args.keyHeads;
  bool rowsAreHeads = args.queries == 1 && shared > 1;
  int64_t heads = rowsAreHeads ? args.keyHeads : args.queryHeads;
  context.pool.parallelFor(args.batch * heads * blocks, [&](int64_t part) {
    int64_t block = part % blocks, head = part / blocks % heads, batch = part / blocks / heads;
    if (rowsAreHeads) {
      Part(context, args, batch, head * shared, 0, shared, true).run();
      return;
    }
    int64_t first = partBegin(args.queries, blocks, block);
    Part(context, args, batch, head, first, partBegin(args.queries, blocks, block + 1) - first, false).run();
  });
}

} // namespace torchere::cpu
