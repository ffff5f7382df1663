// Implements random bits: each part computes the blocks of its counters.
#include "cpu/kernels/random_bits.h"

#include "base/random_blocks.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartBlocks = 4096;

/// [outer][size][inner], where neighbours along the middle dimension are the two words of one counter: the
/// first even dimension, otherwise the largest.
struct Pairing {
  int64_t outer = 1, size = 1, inner = 1;

  explicit Pairing(const RandomBitsArgs &args) {
    if (args.rank == 0)
      return;
    const int64_t *end = args.dims + args.rank;
    const int64_t *paired = std::find_if(args.dims, end, [](int64_t dim) { return dim % 2 == 0; });
    if (paired == end)
      paired = std::max_element(args.dims, end);
    for (const int64_t *dim = args.dims; dim != end; ++dim)
      (dim < paired ? outer : dim == paired ? size : inner) *= *dim;
  }
};

template <class T> class Generator {
public:
  Generator(const Context &context, const RandomBitsArgs &args) : context_(context), args_(args) {
    for (int i = 0; i < args.rank; ++i)
      count_ *= args.dims[i];
    output_ = static_cast<T *>(args.output);
  }

  void run() {
    uint64_t used = args_.algorithm == RandomAlgorithm::Philox ? philoxNumbers()
                    : args_.bits == 64                         ? threeFryNumbers()
                                                               : threeFryPairs();
    uint64_t low = args_.state[1] + used, carry = low < args_.state[1] ? 1 : 0;
    args_.next[0] = args_.state[0];
    args_.next[1] = low;
    if (args_.stateSize > 2)
      args_.next[2] = args_.state[2] + carry;
  }

private:
  T number(uint64_t bits) const {
    int unused = 64 - args_.bits;
    return static_cast<T>(bits << unused >> unused);
  }
  /// body(block) for each of them.
  template <class Body> void eachBlock(int64_t blocks, const Body &body) const {
    int64_t parts = divideUp(blocks, kPartBlocks);
    context_.pool.parallelFor(parts, [&](int64_t part) {
      for (int64_t block = partBegin(blocks, parts, part), end = partBegin(blocks, parts, part + 1);
           block < end; ++block)
        body(block);
    });
  }

  uint64_t philoxNumbers() {
    uint64_t low = args_.state[1], high = args_.stateSize > 2 ? args_.state[2] : args_.state[0];
    int64_t each = args_.bits == 64 ? 2 : 4, blocks = divideUp(count_, each);
    std::array<uint32_t, 2> key = wordsOf(args_.state[0]);
    eachBlock(blocks, [&](int64_t block) {
      uint64_t counter = low + static_cast<uint64_t>(block);
      std::array<uint32_t, 2> lower = wordsOf(counter), upper = wordsOf(high + (counter < low ? 1 : 0));
      std::array<uint32_t, 4> words = philox({lower[0], lower[1], upper[0], upper[1]}, key);
      for (int64_t i = 0, at = block * each; i < each && at < count_; ++i, ++at) {
        auto place = static_cast<size_t>(i);
        output_[at] = number(each == 2 ? joinedWords(words[2 * place], words[2 * place + 1]) : words[place]);
      }
    });
    return static_cast<uint64_t>(blocks);
  }

  uint64_t threeFryNumbers() {
    std::array<uint32_t, 2> key = wordsOf(args_.state[0]);
    eachBlock(count_, [&](int64_t at) {
      std::array<uint32_t, 2> words = threeFry(wordsOf(args_.state[1] + static_cast<uint64_t>(at)), key);
      output_[at] = number(joinedWords(words[0], words[1]));
    });
    return static_cast<uint64_t>(count_);
  }

  /// Of at most 32 bits each: two a counter.
  uint64_t threeFryPairs() {
    Pairing pairing(args_);
    int64_t half = (pairing.size + 1) / 2, blocks = pairing.outer * half * pairing.inner;
    std::array<uint32_t, 2> key = wordsOf(args_.state[0]);
    eachBlock(blocks, [&](int64_t block) {
      std::array<uint32_t, 2> words = threeFry(wordsOf(args_.state[1] + static_cast<uint64_t>(block)), key);
      int64_t inner = block % pairing.inner, pair = block / pairing.inner % half,
              outer = block / pairing.inner / half;
      T *to = output_ + (outer * pairing.size + 2 * pair) * pairing.inner + inner;
      *to = number(words[0]);
      if (2 * pair + 1 < pairing.size)
        to[pairing.inner] = number(words[1]);
    });
    return static_cast<uint64_t>(blocks);
  }

  const Context &context_;
  const RandomBitsArgs &args_;
  int64_t count_ = 1;
  T *output_;
};

} // namespace

void randomBits(const Context &context, const RandomBitsArgs &args) {
  if (args.bits <= 8)
    Generator<uint8_t>(context, args).run();
  else if (args.bits <= 16)
    Generator<uint16_t>(context, args).run();
  else if (args.bits <= 32)
    Generator<uint32_t>(context, args).run();
  else
    Generator<uint64_t>(context, args).run();
}

} // namespace torchere::cpu
