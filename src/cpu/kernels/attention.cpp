// Attention by blocks of queries: each goes through the keys in runs and keeps, of every row, the largest
// score, the total of the weights and the sums of the weighted values.
#include "cpu/kernels/attention.h"

#include "cpu/kernels/gemm_product.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>
#include <limits>

namespace torchere::cpu {
namespace {

constexpr int64_t kKeys = 256; ///< of a run
/// Of a part: the scores of its rows stay in the L2 cache.
constexpr int64_t kMostRows = 96;
/// Fewer would each read the packed keys and values again.
constexpr int64_t kLeastRows = 36;
constexpr int64_t kWantedParts = 16;
constexpr int64_t kFewQueries = 4;
/// Of packed keys and values. More heads are computed one group after another.
constexpr int64_t kMostShared = int64_t(16) << 20;
/// An added mask of less than this leaves a key out: its weight is 0 beside any key without a mask.
constexpr float kLeftOut = -1e30f;
// Scratch slots.
constexpr int kShared = kSharedRows; ///< of the caller
constexpr int kBuffers = 6;
constexpr int kWideKeys = 7;

/// How keys and values lie for the tiles: keys as columns, values as rows, both in panels of two vectors'
/// columns. Rows far apart would fall into the same sets of the L1 cache.
class Packer {
public:
  Packer(const IsaKernels &kernels, const AttentionArgs &args)
      : panel(2 * kernels.lanes), valueColumns(divideUp(args.valueSize, panel) * panel), args_(args),
        kernels_(kernels), type_(floatType(args.type)), size_(byteSize(args.type)) {}

  /// Of `count` keys of a head, from `k` on.
  void packKeys(const char *k, int64_t count, float *to) const;
  void packValues(const char *v, int64_t count, float *to) const;
  int64_t floatsOfKeys(int64_t count) const { return divideUp(count, panel) * panel * args_.headSize; }
  int64_t floatsOfHead() const { return floatsOfKeys(args_.keys) + args_.keys * valueColumns; }

  const int64_t panel;
  const int64_t valueColumns;

private:
  const AttentionArgs &args_;
  const IsaKernels &kernels_;
  FloatType type_;
  int64_t size_;
};

void Packer::packKeys(const char *k, int64_t count, float *to) const {
  for (int64_t i = 0; i < count; i += panel, to += panel * args_.headSize) {
    const char *from = k + i * args_.k.strides[2] * size_;
    int64_t columns = std::min(panel, count - i), size = args_.headSize, stride = args_.k.strides[2];
    if (type_ != kF32) { // by rows, which are vectors
      void *rows = ThreadPool::scratch(static_cast<size_t>(panel * size) * sizeof(float), kWideKeys);
      kernels_.widen[type_]({from, stride, 1, columns, size, rows, size});
      from = static_cast<const char *>(rows);
      stride = size;
    }
    kernels_.transpose[2](from, stride, to, panel, columns, size);
  }
}

void Packer::packValues(const char *v, int64_t count, float *to) const {
  for (int64_t i = 0; i < args_.valueSize; i += panel)
    kernels_.widen[type_]({v + i * size_, args_.v.strides[2], 1, count, std::min(panel, args_.valueSize - i),
                           to + i * count, panel});
}

/// A head's memory.
const char *headOf(const HeadTensor &tensor, int64_t size, int64_t batch, int64_t head, int64_t position) {
  return static_cast<const char *>(tensor.data) +
         (batch * tensor.strides[0] + head * tensor.strides[1] + position * tensor.strides[2]) * size;
}

/// Heads of the keys, counted through all of the batch.
struct HeadRange {
  int64_t first, count;
};

/// The keys and values of heads, packed once for the parts that share them.
class SharedHeads {
public:
  SharedHeads(const Context &context, const AttentionArgs &args, const Packer &packer,
              const HeadRange &heads);
  const float *keys(int64_t batch, int64_t head, int64_t first) const {
    return at(batch, head) + packer_.floatsOfKeys(first);
  }
  const float *values(int64_t batch, int64_t head, int64_t first) const {
    return at(batch, head) + packer_.floatsOfKeys(args_.keys) + first * packer_.valueColumns;
  }
  /// Rows of a panel of the values from `first` on, also if a part sees fewer keys.
  int64_t panelRows(int64_t first) const { return std::min(kKeys, args_.keys - first); }

private:
  float *at(int64_t batch, int64_t head) const {
    return memory_ + (batch * args_.keyHeads + head - firstHead_) * packer_.floatsOfHead();
  }

  const AttentionArgs &args_;
  const Packer &packer_;
  int64_t firstHead_;
  float *memory_;
};

SharedHeads::SharedHeads(const Context &context, const AttentionArgs &args, const Packer &packer,
                         const HeadRange &heads)
    : args_(args), packer_(packer), firstHead_(heads.first) {
  int64_t runs = divideUp(args.keys, kKeys), size = byteSize(args.type);
  memory_ = static_cast<float *>(
      ThreadPool::scratch(static_cast<size_t>(heads.count * packer.floatsOfHead()) * sizeof(float), kShared));
  context.pool.parallelFor(heads.count * runs, [&](int64_t part) {
    int64_t first = part % runs * kKeys, count = panelRows(first);
    int64_t index = heads.first + part / runs;
    int64_t head = index % args.keyHeads, batch = index / args.keyHeads;
    packer.packKeys(headOf(args.k, size, batch, head, first), count,
                    const_cast<float *>(keys(batch, head, first)));
    packer.packValues(headOf(args.v, size, batch, head, first), count,
                      const_cast<float *>(values(batch, head, first)));
  });
}

/// The queries of a part are rows: positions of one head or, of a single position, the heads that share a
/// key's head.
class Part {
public:
  /// `shared`: null if the part packs keys and values itself.
  Part(const Context &context, const AttentionArgs &args, const Packer &packer, const SharedHeads *shared,
       int64_t batch, int64_t head, int64_t first, int64_t rows, bool rowsAreHeads);
  void run();

private:
  void makeBuffers();
  void readQueries();
  void readMask(int64_t first, ScoresJob &job);
  bool seesNone(const ScoresJob &job) const;
  void runKeys(int64_t first, int64_t count);
  void score(int64_t first, const ScoresJob &job);
  void weigh(int64_t first, const ScoresJob &job);
  template <class Fn>
  void multiply(TileArgs tile, int64_t panelStride, int64_t columns, bool isCausal, Fn cut) const;
  void write();
  const char *element(const HeadTensor &tensor, int64_t head, int64_t position) const {
    return headOf(tensor, size_, batch_, head, position);
  }
  int64_t rowStride(const int64_t *strides) const { return strides[rowsAreHeads_ ? 1 : 2]; }

  const AttentionArgs &args_;
  const Packer &packer_;
  const SharedHeads *shared_;
  const IsaKernels &kernels_;
  FloatType type_;
  int64_t size_, batch_, head_, keyHead_, first_, rows_;
  bool rowsAreHeads_;
  int64_t valueWidth_; ///< valueSize in whole vectors
  bool widensMask_;
  float *q_, *keys_, *scores_, *sums_, *values_, *most_, *total_, *mask_;
};

Part::Part(const Context &context, const AttentionArgs &args, const Packer &packer, const SharedHeads *shared,
           int64_t batch, int64_t head, int64_t first, int64_t rows, bool rowsAreHeads)
    : args_(args), packer_(packer), shared_(shared), kernels_(kernelsOf(context.isa)),
      type_(floatType(args.type)), size_(byteSize(args.type)), batch_(batch), head_(head),
      keyHead_(head / (args.queryHeads / args.keyHeads)), first_(first), rows_(rows),
      rowsAreHeads_(rowsAreHeads) {
  valueWidth_ = divideUp(args.valueSize, kernels_.lanes) * kernels_.lanes;
  widensMask_ = args.mask == MaskKind::Additive && args.maskType != DType::F32;
}

void Part::makeBuffers() {
  int64_t head = divideUp(args_.headSize, 16) * 16, packed = shared_ ? 0 : kKeys;
  int64_t sizes[] = {rows_ * head,
                     packed * head,
                     rows_ * kKeys,
                     rows_ * valueWidth_,
                     packed * packer_.valueColumns,
                     rows_,
                     rows_,
                     widensMask_ ? rows_ * kKeys : 0};
  float **buffers[] = {&q_, &keys_, &scores_, &sums_, &values_, &most_, &total_, &mask_};
  int64_t total = 0;
  for (int64_t size : sizes)
    total += divideUp(size, 16) * 16;
  auto *memory = static_cast<float *>(ThreadPool::scratch(total * sizeof(float), kBuffers));
  for (int i = 0; i < 8; ++i) {
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

/// How many keys of the run the rows before `end` see, of which the last one sees most.
int64_t keysSeen(const ScoresJob &job, int64_t end) {
  return std::clamp<int64_t>(job.firstLimit + (end - 1) * job.limitStep, 0, job.keys);
}

/// All rows by the panels of B, whole ones, each `panelStride` behind the one before it. `cut` of a tile, its
/// first column and the end of its rows leaves out what these need not; it returns false if nothing is left.
/// `isCausal`: that depends on the rows.
template <class Fn>
void Part::multiply(TileArgs tile, int64_t panelStride, int64_t columns, bool isCausal, Fn cut) const {
  const float *a = static_cast<const float *>(tile.a), *b = static_cast<const float *>(tile.b);
  float *c = static_cast<float *>(tile.c);
  tile.cVectorStride = kernels_.lanes;
  int64_t vectors = columns / kernels_.lanes;
  for (int64_t v = 0; v < vectors && rows_ > 0; v += 2, b += panelStride) {
    int64_t wide = std::min<int64_t>(2, vectors - v);
    EvenTiles tiles(rows_, divideUp(rows_, kernels_.maxRows[wide]));
    tiles.eachRun([&](int64_t from, int64_t count, int64_t alike) {
      tile.tiles = isCausal ? 1 : alike;
      for (int64_t row = from; row < from + alike * count; row += tile.tiles * count) {
        if (!cut(tile, v * kernels_.lanes, row + count))
          continue;
        tile.a = a + row * tile.aRowStride;
        tile.b = b;
        tile.c = c + row * tile.cRowStride + v * kernels_.lanes;
        kernels_.tiles[kF32][wide][count](tile);
      }
    });
  }
}

void Part::score(int64_t first, const ScoresJob &job) {
  int64_t count = job.keys;
  const char *k = element(args_.k, keyHead_, first);
  if (rows_ <= kFewQueries) {
    kernels_.dots[type_](
        {q_, args_.headSize, rows_, k, args_.k.strides[2], count, args_.headSize, scores_, kKeys});
    return;
  }
  if (!shared_)
    packer_.packKeys(k, count, keys_);
  TileArgs tile;
  tile.a = q_;
  tile.aRowStride = tile.k = args_.headSize;
  tile.b = shared_ ? shared_->keys(batch_, keyHead_, first) : keys_;
  tile.bRowStride = packer_.panel;
  tile.c = scores_;
  tile.cRowStride = kKeys;
  multiply(tile, packer_.panel * args_.headSize, divideUp(count, kernels_.lanes) * kernels_.lanes,
           job.limitStep != 0,
           [&](TileArgs &, int64_t key, int64_t end) { return key < keysSeen(job, end); });
}

void Part::weigh(int64_t first, const ScoresJob &job) {
  int64_t count = job.keys;
  const char *v = element(args_.v, keyHead_, first);
  // Few rows read values where they lie: each once.
  bool inPlace = rows_ <= kFewQueries && type_ == kF32 && valueWidth_ == args_.valueSize;
  if (!inPlace && !shared_)
    packer_.packValues(v, count, values_);
  TileArgs tile;
  tile.a = scores_;
  tile.aRowStride = kKeys;
  tile.b = inPlace   ? static_cast<const void *>(v)
           : shared_ ? shared_->values(batch_, keyHead_, first)
                     : values_;
  tile.bRowStride = inPlace ? args_.v.strides[2] : packer_.panel;
  tile.c = sums_;
  tile.cRowStride = valueWidth_;
  tile.accumulate = true;
  int64_t panelRows = inPlace ? 1 : shared_ ? shared_->panelRows(first) : count;
  multiply(tile, packer_.panel * panelRows, valueWidth_, job.limitStep != 0,
           [&](TileArgs &rows, int64_t, int64_t end) { return (rows.k = keysSeen(job, end)) > 0; });
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

/// The mask's part for the run, widened if it is of 16 bits.
void Part::readMask(int64_t first, ScoresJob &job) {
  const int64_t *s = args_.maskStrides;
  int64_t at = batch_ * s[0] + head_ * s[1] + first_ * s[2] + first * s[3];
  job.maskRowStride = s[rowsAreHeads_ ? 1 : 2];
  job.maskKeyStride = s[3];
  if (args_.mask == MaskKind::Boolean) {
    job.seen = static_cast<const uint8_t *>(args_.maskData) + at;
    return;
  }
  if (!widensMask_) {
    job.added = static_cast<const float *>(args_.maskData) + at;
    return;
  }
  const char *data = static_cast<const char *>(args_.maskData) + at * byteSize(args_.maskType);
  bool isOneRow = job.maskRowStride == 0;
  kernels_.widen[floatType(args_.maskType)](
      {data, job.maskRowStride, job.maskKeyStride, isOneRow ? 1 : rows_, job.keys, mask_, kKeys});
  job.added = mask_;
  job.maskRowStride = isOneRow ? 0 : kKeys;
  job.maskKeyStride = 1;
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
    readMask(first, job);
    if (seesNone(job))
      return;
  }
  score(first, job);
  job.bound = args_.bound;
  job.most = most_;
  job.total = total_;
  job.sums = sums_;
  job.sumsStride = valueWidth_;
  kernels_.scores(job);
  weigh(first, job);
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
          byteSize(args_.outputType);
  kernels_.finish[floatType(args_.outputType)]({sums_, valueWidth_, output, rowStride(args_.outputStrides),
                                                rows_, args_.valueSize, nullptr, nullptr, 0,
                                                Activation::None});
}

} // namespace

void attention(const Context &context, const AttentionArgs &args) {
  if (args.batch == 0 || args.queries == 0 || args.queryHeads == 0 || args.valueSize == 0)
    return;
  int64_t blocks = std::clamp(divideUp(kWantedParts, args.batch * args.queryHeads),
                              divideUp(args.queries, kMostRows), divideUp(args.queries, kLeastRows));
  int64_t group = args.queryHeads / args.keyHeads;
  bool rowsAreHeads = args.queries == 1 && group > 1;
  int64_t partsOfHead = rowsAreHeads ? 1 : group * blocks;
  Packer packer(kernelsOf(context.isa), args);
  HeadRange all{0, args.batch * args.keyHeads};
  auto compute = [&](const HeadRange &heads, const SharedHeads *shared) {
    context.pool.parallelFor(heads.count * partsOfHead, [&](int64_t part) {
      int64_t index = heads.first + part / partsOfHead, batch = index / args.keyHeads;
      int64_t head = index % args.keyHeads * group, block = part % blocks;
      if (rowsAreHeads) {
        Part(context, args, packer, shared, batch, head, 0, group, true).run();
        return;
      }
      head += part % partsOfHead / blocks;
      int64_t first = partBegin(args.queries, blocks, block);
      int64_t rows = partBegin(args.queries, blocks, block + 1) - first;
      Part(context, args, packer, shared, batch, head, first, rows, false).run();
    });
  };
  int64_t bytesOfHead = std::max<int64_t>(packer.floatsOfHead() * int64_t(sizeof(float)), 1);
  int64_t together = std::min(kMostShared / bytesOfHead, all.count);
  bool occupiesThreads = together == all.count || together * partsOfHead >= kWantedParts;
  if (args.queries <= kFewQueries || partsOfHead == 1 || !occupiesThreads)
    return compute(all, nullptr); // each part packs for itself
  for (HeadRange heads = all; heads.first < all.count; heads.first += together) {
    heads.count = std::min(together, all.count - heads.first);
    SharedHeads shared(context, args, packer, heads);
    compute(heads, &shared);
  }
}

} // namespace torchere::cpu
