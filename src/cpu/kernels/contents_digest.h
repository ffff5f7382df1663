// ContentsDigest: a digest of large contents at the speed of memory.
#pragma once

#include "base/digest.h"
#include "base/error.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace torchere::cpu {

/// Blocks of 4 KiB become two sums of products with numbers made of a seed, which differ for two blocks but
/// for one in 2^64 seeds (NH, the universal hash of UMAC: RFC 4418); `Digest` is taken of the sums. Who does
/// not know the seed cannot make contents of equal digests; who does, can. It is the same for any number of
/// threads and any instruction set.
class ContentsDigest {
public:
  using Seed = Digest::Value;
  /// One that nobody can guess.
  static Result<Seed> randomSeed();

  explicit ContentsDigest(const Seed &seed);
  /// Of a list of contents, each with its length.
  Digest::Value of(const Context &context, std::span<const std::span<const std::byte>> contents) const;

private:
  Digest::Value ofPiece(Isa isa, std::span<const std::byte> piece) const;

  std::vector<uint32_t> keys;
};

} // namespace torchere::cpu
