// The digest of contents: its sums by their definition, on each instruction set, and what it tells apart.
#include "cpu/kernels/contents_digest.h"
#include "cpu/kernels/isa_dispatch.h"
#include "test_values.h"

namespace torchere::cpu {
namespace {

using Bytes = std::vector<std::byte>;
using Contents = std::vector<std::span<const std::byte>>;

Bytes randomBytes(size_t count) {
  std::mt19937 generator(7);
  Bytes bytes(count);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(generator());
  return bytes;
}

Digest::Value digestOf(const Contents &contents, Isa isa = Isa::Baseline, int threads = 1, uint8_t seed = 1) {
  ThreadPool pool(threads);
  return ContentsDigest({seed}).of({pool, isa}, contents);
}

TEST(ContentsDigest, SumsAreThoseOfTheirDefinition) {
  std::mt19937 generator(3);
  std::vector<uint32_t> words(kContentsWords), keys(kContentsSums * kContentsWords);
  for (uint32_t &word : words)
    word = generator() | 0x80000000u; // sums of words overflow
  for (uint32_t &key : keys)
    key = generator();
  uint64_t expected[kContentsSums] = {};
  for (int sum = 0; sum < kContentsSums; ++sum)
    for (int64_t i = 0; i < kContentsWords; i += 2) {
      const uint32_t *key = keys.data() + sum * kContentsWords + i;
      expected[sum] += uint64_t(uint32_t(words[i] + key[0])) * uint32_t(words[i + 1] + key[1]);
    }
  for (Isa isa : supportedIsas()) {
    uint64_t sums[kContentsSums] = {};
    kernelsOf(isa).sumContents({words.data(), keys.data(), sums});
    for (int sum = 0; sum < kContentsSums; ++sum)
      EXPECT_EQ(sums[sum], expected[sum]) << isaName(isa) << " " << sum;
  }
}

TEST(ContentsDigest, IsTheSameForThreadsInstructionSetsAndPlaces) {
  Bytes bytes = randomBytes(1000003);
  std::span<const std::byte> all(bytes);
  Digest::Value expected = digestOf({all.first(600001), all.last(5)});
  Bytes moved(600002 + 13);
  std::copy_n(bytes.begin(), 600001, moved.begin() + 13);
  for (Isa isa : supportedIsas())
    for (int threads : {1, 2, 3}) {
      EXPECT_EQ(digestOf({all.first(600001), all.last(5)}, isa, threads), expected);
      EXPECT_EQ(digestOf({std::span(moved).subspan(13, 600001), all.last(5)}, isa, threads), expected);
    }
}

TEST(ContentsDigest, TellsContentsApart) {
  Bytes bytes = randomBytes(300000);
  std::span<const std::byte> all(bytes);
  Digest::Value expected = digestOf({all});
  for (size_t place : {0, 3, 4, 4095, 4096, 262143, 262144, 299999}) {
    bytes[place] ^= std::byte{0x80};
    EXPECT_NE(digestOf({all}), expected) << place;
    bytes[place] ^= std::byte{0x80};
  }
  EXPECT_EQ(digestOf({all}), expected);
  std::swap_ranges(bytes.begin(), bytes.begin() + 4096, bytes.begin() + 8192); // blocks have their places
  EXPECT_NE(digestOf({all}), expected);
  std::swap_ranges(bytes.begin(), bytes.begin() + 4096, bytes.begin() + 8192);
  EXPECT_NE(digestOf({all}, Isa::Baseline, 1, 2), expected); // the seed
}

TEST(ContentsDigest, HasTheirLengths) {
  Bytes zeros(10000);
  std::span<const std::byte> all(zeros);
  std::vector<Digest::Value> digests{digestOf({}),
                                     digestOf({all.first(0)}),
                                     digestOf({all.first(1)}),
                                     digestOf({all.first(2)}),
                                     digestOf({all.first(4096)}),
                                     digestOf({all}),
                                     digestOf({all.first(1), all.first(1)}),
                                     digestOf({all.first(0), all.first(2)}),
                                     digestOf({all.first(2), all.first(0)})};
  for (size_t one = 0; one < digests.size(); ++one)
    for (size_t other = 0; other < one; ++other)
      EXPECT_NE(digests[one], digests[other]) << one << " " << other;
}

TEST(ContentsDigest, SeedsDiffer) {
  auto one = ContentsDigest::randomSeed(), other = ContentsDigest::randomSeed();
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
}

} // namespace
} // namespace torchere::cpu
