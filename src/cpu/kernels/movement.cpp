// Copies between strides, and what is made of them.
#include "cpu/kernels/movement.h"

#include "cpu/kernels/elements.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartBytes = 32768;
constexpr int64_t kMaxParts = 64;
// Of a line of one element: those that are written one by one, and bytes that stay in the L1 cache.
constexpr int64_t kFirstFilled = 16;
constexpr int64_t kFilledBytes = 8192;

int64_t partsFor(int64_t bytes, int64_t units) {
  return std::clamp<int64_t>(bytes / kPartBytes, 1, std::max<int64_t>(1, std::min(kMaxParts, units)));
}

/// A copy with its dimensions ordered by the output's strides and merged: the last is the output's innermost.
struct Copy {
  int rank = 0;
  int64_t dims[kMaxRank], from[kMaxRank], to[kMaxRank]; ///< strides in bytes; at least two dimensions
  const char *input;
  char *output;
  int64_t size;

  Copy(const Context &context, const CopyArgs &args);
  void run();

private:
  void runLines(int64_t begin, int64_t end) const;
  void runPlane(const char *x, char *y, int64_t lines) const;
  bool transposes(int &inner);
  void runPlanes(int inner) const;

  const Context &context;
};

Copy::Copy(const Context &context, const CopyArgs &args)
    : input(static_cast<const char *>(args.input)), output(static_cast<char *>(args.output)),
      size(args.elementSize), context(context) {
  int order[kMaxRank], count = 0;
  for (int i = 0; i < args.rank; ++i)
    if (args.dims[i] != 1) { // inserted in order: std::stable_sort would allocate
      int place = count++;
      int64_t stride = std::abs(args.outputStrides[i]);
      for (; place > 0 && std::abs(args.outputStrides[order[place - 1]]) < stride; --place)
        order[place] = order[place - 1];
      order[place] = i;
    }
  for (int i = 0; i < count; ++i) {
    int64_t dim = args.dims[order[i]], x = args.inputStrides[order[i]] * size,
            y = args.outputStrides[order[i]] * size;
    if (rank > 0 && from[rank - 1] == x * dim && to[rank - 1] == y * dim) {
      dims[rank - 1] *= dim;
      from[rank - 1] = x;
      to[rank - 1] = y;
    } else {
      dims[rank] = dim;
      from[rank] = x;
      to[rank++] = y;
    }
  }
  if (rank == 0) {
    dims[0] = 1;
    from[0] = to[0] = size;
    rank = 1;
  }
  if (rank == 1) { // a line of a plane
    dims[1] = std::exchange(dims[0], 1);
    from[1] = from[0];
    to[1] = to[0];
    rank = 2;
  }
}

template <class T> void copyLine(const char *x, int64_t from, char *y, int64_t to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(y + i * to, x + i * from, sizeof(T));
}

/// One element at `x`, to `n` that follow each other: what is there already is copied, more each time.
void fillLine(const char *x, char *y, int64_t n, int64_t size) {
  for (int64_t filled = std::min(n, kFirstFilled), i = 0; i < filled; ++i)
    std::memcpy(y + i * size, x, size);
  for (int64_t filled = kFirstFilled, count; filled < n; filled += count) {
    count = std::min({filled, n - filled, kFilledBytes / size});
    std::memcpy(y + filled * size, y, count * size);
  }
}

/// Lines of the last dimension but one. Of short ones, as where pixels are repeated or shuffled, the first
/// elements of all lines are copied, then the second.
void Copy::runPlane(const char *x, char *y, int64_t lines) const {
  int64_t n = dims[rank - 1], step = from[rank - 1], stride = to[rank - 1];
  int64_t fromLine = from[rank - 2], toLine = to[rank - 2];
  if (step == size && stride == size) {
    for (int64_t i = 0; i < lines; ++i)
      std::memcpy(y + i * toLine, x + i * fromLine, n * size);
    return;
  }
  if (step == 0 && stride == size && n >= kFirstFilled) {
    for (int64_t i = 0; i < lines; ++i)
      fillLine(x + i * fromLine, y + i * toLine, n, size);
    return;
  }
  if (step == -size && stride == size && size <= 8 && n >= kFirstFilled) {
    auto reverse = kernelsOf(context.isa).reverse[log2Of(size)];
    for (int64_t i = 0; i < lines; ++i)
      reverse(x + i * fromLine - (n - 1) * size, y + i * toLine, n);
    return;
  }
  withElement(size, [&](auto element) {
    using Element = decltype(element);
    if (n < lines)
      for (int64_t i = 0; i < n; ++i)
        copyLine<Element>(x + i * step, fromLine, y + i * stride, toLine, lines);
    else
      for (int64_t i = 0; i < lines; ++i)
        copyLine<Element>(x + i * fromLine, step, y + i * toLine, stride, n);
  });
}

void Copy::runLines(int64_t begin, int64_t end) const {
  int64_t height = dims[rank - 2];
  for (int64_t line = begin, count; line < end; line += count) {
    int64_t first = line % height, rest = line / height;
    count = std::min(height - first, end - line);
    const char *x = input + first * from[rank - 2];
    char *y = output + first * to[rank - 2];
    for (int i = rank - 3; i >= 0; --i) {
      x += rest % dims[i] * from[i];
      y += rest % dims[i] * to[i];
      rest /= dims[i];
    }
    runPlane(x, y, count);
  }
}

/// Whether the last dimension of the output is contiguous and another, `inner`, of the input. Where that one
/// is reversed, it is gone through the other way.
bool Copy::transposes(int &inner) {
  if (size > 8 || to[rank - 1] != size || std::abs(from[rank - 1]) == size || from[rank - 1] == 0)
    return false;
  for (inner = 0; inner < rank - 1; ++inner)
    if (std::abs(from[inner]) == size && to[inner] > 0) {
      if (dims[inner] < 4 || dims[rank - 1] < 4)
        return false;
      if (from[inner] < 0) {
        input += std::exchange(from[inner], size) * (dims[inner] - 1);
        output += to[inner] * (dims[inner] - 1);
        to[inner] = -to[inner];
      }
      return true;
    }
  return false;
}

void Copy::runPlanes(int inner) const {
  int64_t planes = 1, last = rank - 1;
  for (int i = 0; i < last; ++i)
    if (i != inner)
      planes *= dims[i];
  int64_t total = planes * dims[inner] * dims[last] * size, strips = divideUp(dims[inner], 32);
  int64_t parts = partsFor(total, planes * strips);
  auto transpose = kernelsOf(context.isa).transpose[log2Of(size)];
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t i = partBegin(planes * strips, parts, part); i < partBegin(planes * strips, parts, part + 1);
         ++i) {
      int64_t strip = i % strips, rest = i / strips;
      const char *x = input + strip * 32 * from[inner];
      char *y = output + strip * 32 * to[inner];
      for (int j = static_cast<int>(last) - 1; j >= 0; --j)
        if (j != inner) {
          x += rest % dims[j] * from[j];
          y += rest % dims[j] * to[j];
          rest /= dims[j];
        }
      transpose(x, from[last] / size, y, to[inner] / size, dims[last],
                std::min<int64_t>(32, dims[inner] - strip * 32));
    }
  });
}

void Copy::run() {
  int inner = 0;
  if (transposes(inner))
    return runPlanes(inner);
  int64_t lines = 1;
  for (int i = 0; i < rank - 1; ++i)
    lines *= dims[i];
  int64_t length = dims[rank - 1], lineBytes = length * size;
  if (lines == 1) { // in pieces
    int64_t parts = partsFor(lineBytes, std::max<int64_t>(lineBytes / 4096, 1));
    context.pool.parallelFor(parts, [&](int64_t part) {
      int64_t begin = partBegin(length, parts, part);
      Copy piece = *this;
      piece.dims[rank - 1] = partBegin(length, parts, part + 1) - begin;
      piece.runPlane(input + begin * from[rank - 1], output + begin * to[rank - 1], 1);
    });
    return;
  }
  int64_t parts = partsFor(lines * lineBytes, lines);
  context.pool.parallelFor(parts, [&](int64_t part) {
    runLines(partBegin(lines, parts, part), partBegin(lines, parts, part + 1));
  });
}

} // namespace

void copyStrided(const Context &context, const CopyArgs &args) {
  for (int i = 0; i < args.rank; ++i)
    if (args.dims[i] == 0)
      return;
  Copy(context, args).run();
}

void gatherRows(const Context &context, const GatherRowsArgs &args) {
  int64_t rows = args.batches * args.count;
  if (rows == 0 || args.rowBytes == 0)
    return;
  int64_t parts = partsFor(rows * args.rowBytes, rows);
  context.pool.parallelFor(parts, [&](int64_t part) {
    for (int64_t i = partBegin(rows, parts, part); i < partBegin(rows, parts, part + 1); ++i) {
      int64_t at = i % args.count, batch = i / args.count;
      int64_t index = args.indexSize == 8 ? static_cast<const int64_t *>(args.indices)[at]
                                          : static_cast<const int32_t *>(args.indices)[at];
      index = std::clamp<int64_t>(index, 0, args.inputRows - 1);
      std::memcpy(static_cast<char *>(args.output) + i * args.rowBytes,
                  static_cast<const char *>(args.input) + (batch * args.inputRows + index) * args.rowBytes,
                  args.rowBytes);
    }
  });
}

void concatenate(const Context &context, const ConcatenationArgs &args) {
  int64_t run = 0;
  for (int i = 0; i < args.count; ++i)
    run += args.runBytes[i];
  if (run == 0 || args.outer == 0)
    return;
  int64_t begin = 0;
  for (int i = 0; i < args.count; ++i) {
    CopyArgs copy;
    copy.elementSize = 1;
    copy.rank = 2;
    copy.dims[0] = args.outer;
    copy.dims[1] = args.runBytes[i];
    copy.inputStrides[0] = args.runBytes[i];
    copy.outputStrides[0] = run;
    copy.inputStrides[1] = copy.outputStrides[1] = 1;
    copy.input = args.inputs[i];
    copy.output = static_cast<char *>(args.output) + begin;
    copyStrided(context, copy);
    begin += args.runBytes[i];
  }
}

namespace {

int64_t paddedDim(const PadArgs &args, int i) {
  int64_t inner = args.dims[i] + std::max<int64_t>(args.dims[i] - 1, 0) * args.interior[i];
  return std::max<int64_t>(0, args.low[i] + args.high[i] + inner);
}

/// The input's elements that land in the output along a dimension: [first, first + count).
void visibleRange(const PadArgs &args, int i, int64_t &first, int64_t &count) {
  int64_t step = args.interior[i] + 1, size = paddedDim(args, i);
  first = args.low[i] < 0 ? divideUp(-args.low[i], step) : 0;
  int64_t end = std::min(args.dims[i], divideUp(std::max<int64_t>(size - args.low[i], 0), step));
  count = std::max<int64_t>(0, end - first);
}

} // namespace

void pad(const Context &context, const PadArgs &args) {
  int64_t elements = 1;
  CopyArgs copy;
  copy.elementSize = args.elementSize;
  copy.rank = args.rank;
  const char *input = static_cast<const char *>(args.input);
  char *output = static_cast<char *>(args.output);
  int64_t inputStride = 1;
  bool filled = false;
  for (int i = args.rank - 1; i >= 0; --i) {
    int64_t first = 0, size = paddedDim(args, i);
    visibleRange(args, i, first, copy.dims[i]);
    input += first * inputStride * args.elementSize;
    output += (args.low[i] + first * (args.interior[i] + 1)) * elements * args.elementSize;
    copy.inputStrides[i] = inputStride;
    copy.outputStrides[i] = elements * (args.interior[i] + 1);
    filled |= copy.dims[i] != size;
    inputStride *= args.dims[i];
    elements *= size;
  }
  if (filled) {
    CopyArgs fill;
    fill.elementSize = args.elementSize;
    fill.rank = 2;
    fill.dims[1] = std::min<int64_t>(elements, 4096);
    fill.dims[0] = elements / std::max<int64_t>(fill.dims[1], 1);
    fill.outputStrides[0] = fill.dims[1];
    fill.outputStrides[1] = 1;
    fill.input = args.value;
    fill.output = args.output;
    copyStrided(context, fill);
    int64_t rest = elements - fill.dims[0] * fill.dims[1];
    fill.output = static_cast<char *>(args.output) + (elements - rest) * args.elementSize;
    fill.dims[0] = 1;
    fill.dims[1] = rest;
    copyStrided(context, fill);
  }
  copy.input = input;
  copy.output = output;
  copyStrided(context, copy);
}

} // namespace torchere::cpu
