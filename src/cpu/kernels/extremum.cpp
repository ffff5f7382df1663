// Extreme elements as reductions of pieces of lines, and a search in the piece that has it.
#include "cpu/kernels/extremum.h"

#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/reduction.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace torchere::cpu {
namespace {

constexpr int64_t kPiece = 128; ///< elements of a line that are searched one after another
constexpr int64_t kColumns = 256;
constexpr int64_t kPartElements = 16384;
constexpr int64_t kMaxParts = 32;
constexpr int kPieces = 7; // scratch

template <class T> bool isWinner(T other, T best, bool isLargest) {
  if (other != other || best != best)
    return best == best;
  return isLargest ? other > best : other < best;
}

void putPlace(const ExtremumArgs &args, int64_t at, int64_t place) {
  if (args.placeType == DType::I32)
    static_cast<int32_t *>(args.places)[at] = static_cast<int32_t>(place);
  else
    static_cast<int64_t *>(args.places)[at] = place;
}

/// Of lines whose elements follow each other.
template <class T> class LineSearch {
public:
  LineSearch(const Context &context, const ExtremumArgs &args)
      : args_(args),
        reduce_(kernelsOf(context.isa)
                    .reduceAlong[static_cast<int>(args.type)]
                                [static_cast<int>(args.isLargest ? Reduction::Max : Reduction::Min)]),
        pieces_(divideUp(args.length, kPiece)),
        best_(static_cast<T *>(ThreadPool::scratch(args.outer * pieces_ * int64_t(sizeof(T)), kPieces))) {}

  void run(const Context &context) {
    int64_t all = args_.outer * pieces_;
    inParts(context, all, [&](int64_t begin, int64_t end) { reducePieces(begin, end); });
    inParts(context, args_.outer, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line)
        search(line);
    });
  }

private:
  template <class Fn> void inParts(const Context &context, int64_t count, const Fn &fn) const {
    int64_t parts =
        std::clamp<int64_t>(args_.outer * args_.length / kPartElements, 1, std::min(kMaxParts, count));
    context.pool.parallelFor(
        parts, [&](int64_t part) { fn(partBegin(count, parts, part), partBegin(count, parts, part + 1)); });
  }

  void reducePieces(int64_t begin, int64_t end) const {
    std::fill(best_ + begin, best_ + end, weakestNumber<T>(args_.isLargest));
    while (begin < end) {
      int64_t line = begin / pieces_, piece = begin % pieces_, whole = args_.length / kPiece;
      bool isWhole = piece < whole;
      int64_t count = isWhole ? std::min(whole - piece, end - begin) : 1;
      ReduceJob job;
      job.input = static_cast<const T *>(args_.input) + line * args_.length + piece * kPiece;
      job.rowStride = kPiece;
      job.rows = count;
      job.columns = isWhole ? kPiece : args_.length % kPiece;
      job.output = best_ + begin;
      reduce_(job);
      begin += count;
    }
  }

  void search(int64_t line) const {
    const T *pieces = best_ + line * pieces_;
    int64_t piece = 0;
    for (int64_t i = 1; i < pieces_; ++i)
      if (isWinner(pieces[i], pieces[piece], args_.isLargest))
        piece = i;
    T best = pieces[piece];
    const T *x = static_cast<const T *>(args_.input) + line * args_.length;
    int64_t at = piece * kPiece;
    // NaN may be another one in the reduction's result.
    while (best == best ? x[at] != best : x[at] == x[at])
      ++at;
    static_cast<T *>(args_.values)[line] = x[at];
    putPlace(args_, line, at);
  }

  const ExtremumArgs &args_;
  ReduceFunction reduce_;
  int64_t pieces_;
  T *best_; ///< [outer][piece]
};

/// Lines side by side: a run of columns at a time.
void findAcross(const Context &context, const ExtremumArgs &args) {
  int64_t runs = divideUp(args.inner, kColumns), size = byteSize(args.type);
  int64_t parts = std::clamp<int64_t>(args.outer * args.length * args.inner / kPartElements, 1,
                                      std::min(kMaxParts, args.outer * runs));
  auto find = kernelsOf(context.isa).extremaAcross[static_cast<int>(args.type)];
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t end = partBegin(args.outer * runs, parts, part + 1);
    for (int64_t i = partBegin(args.outer * runs, parts, part); i < end; ++i) {
      int64_t outer = i / runs, first = i % runs * kColumns, to = outer * args.inner + first;
      ExtremaJob job;
      job.input = static_cast<const char *>(args.input) + (outer * args.length * args.inner + first) * size;
      job.rowStride = args.inner;
      job.rows = args.length;
      job.columns = std::min(kColumns, args.inner - first);
      job.isLargest = args.isLargest;
      job.values = static_cast<char *>(args.values) + to * size;
      int64_t places[kColumns];
      job.places = places;
      find(job);
      for (int64_t column = 0; column < job.columns; ++column)
        putPlace(args, to + column, size == 4 ? reinterpret_cast<int32_t *>(places)[column] : places[column]);
    }
  });
}

} // namespace

bool hasExtremum(DType type) {
  return type == DType::F32 || type == DType::F64 || type == DType::I32 || type == DType::I64;
}

void findExtrema(const Context &context, const ExtremumArgs &args) {
  if (args.outer * args.inner == 0)
    return;
  if (args.inner > 1)
    return findAcross(context, args);
  withNumber(args.type, [&](auto number) { LineSearch<decltype(number)>(context, args).run(context); });
}

} // namespace torchere::cpu
