// Implements ContentsDigest.
#include "cpu/kernels/contents_digest.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <system_error>

namespace torchere::cpu {

static constexpr size_t blockBytes = kContentsWords * sizeof(uint32_t);
/// What a part of the job takes: more than a digest of its sums costs.
static constexpr size_t pieceBytes = 64 * blockBytes;

Result<ContentsDigest::Seed> ContentsDigest::randomSeed() {
  Seed seed;
  if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size()))
    return fail(ErrorCode::Internal, "[getrandom] {}", std::generic_category().message(errno));
  return seed;
}

ContentsDigest::ContentsDigest(const Seed &seed) : keys(kContentsSums * kContentsWords) {
  constexpr size_t wordsOfOne = sizeof(Digest::Value) / sizeof(uint32_t);
  for (size_t word = 0; word < keys.size(); word += wordsOfOne) {
    Digest::Value words =
        Digest().add(std::as_bytes(std::span(seed))).addField(static_cast<uint64_t>(word)).finish();
    std::memcpy(keys.data() + word, words.data(), sizeof words);
  }
}

Digest::Value ContentsDigest::ofPiece(Isa isa, std::span<const std::byte> piece) const {
  uint64_t sums[pieceBytes / blockBytes][kContentsSums];
  size_t count = 0;
  for (size_t begin = 0; begin < piece.size(); begin += blockBytes) {
    uint32_t last[kContentsWords];
    ContentsSumsJob job{reinterpret_cast<const uint32_t *>(piece.data() + begin), keys.data(), sums[count++]};
    if (size_t rest = piece.size() - begin; rest < blockBytes) { // zeros behind it: the length is digested
      std::memset(last, 0, sizeof last);
      std::memcpy(last, piece.data() + begin, rest);
      job.words = last;
    }
    kernelsOf(isa).sumContents(job);
  }
  return Digest().add(std::as_bytes(std::span(sums, count))).finish();
}

Digest::Value ContentsDigest::of(const Context &context,
                                 std::span<const std::span<const std::byte>> contents) const {
  std::vector<std::span<const std::byte>> pieces;
  for (std::span<const std::byte> bytes : contents)
    for (size_t begin = 0; begin < bytes.size(); begin += pieceBytes)
      pieces.push_back(bytes.subspan(begin, std::min(pieceBytes, bytes.size() - begin)));
  std::vector<Digest::Value> digests(pieces.size());
  context.pool.parallelFor(static_cast<int64_t>(pieces.size()), [&](int64_t part) {
    auto piece = static_cast<size_t>(part);
    digests[piece] = ofPiece(context.isa, pieces[piece]);
  });
  Digest all;
  for (std::span<const std::byte> bytes : contents)
    all.addField(uint64_t{bytes.size()});
  for (const Digest::Value &digest : digests)
    all.add(std::as_bytes(std::span(digest)));
  return all.finish();
}

} // namespace torchere::cpu
