// The counter-based generators: published test vectors, and the layout that XLA's plugins give.
#include "interpreter/random_bits.h"

#include "base/random_blocks.h"

#include <gtest/gtest.h>

namespace torchere::interpreter {
namespace {

using Numbers = std::vector<uint64_t>;

constexpr uint64_t key = (uint64_t(1) << 63) + 5;
constexpr uint64_t nearEnd = ~uint64_t(0) - 1; // a counter that overflows after two steps

/// From the file kat_vectors of Random123.
TEST(RandomBits, KnownAnswers) {
  EXPECT_EQ(threeFry({0, 0}, {0, 0}), (std::array<uint32_t, 2>{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threeFry({~0u, ~0u}, {~0u, ~0u}), (std::array<uint32_t, 2>{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

// What follows is what XLA's CPU plugin 0.10.2 gave for rng_bit_generator.
TEST(RandomBits, PhiloxHasTheLayoutOfXla) {
  RandomBits words = philoxBits({key, nearEnd, 7}, Index{5}, 32);
  EXPECT_EQ(words.state, (Numbers{key, 0, 8}));
  EXPECT_EQ(words.numbers, (Numbers{3630461045, 1721259390, 2559049361, 2649838020, 1068096479}));
  RandomBits doubles = philoxBits({key, nearEnd, 7}, Index{3}, 64);
  EXPECT_EQ(doubles.state, (Numbers{key, 0, 8}));
  EXPECT_EQ(doubles.numbers, (Numbers{7392752791613370485u, 11380967638156443281u, 117692924001115103u}));
  RandomBits shortState = philoxBits({key, nearEnd}, Index{5}, 32);
  EXPECT_EQ(shortState.state, (Numbers{key, 0}));
  EXPECT_EQ(shortState.numbers, (Numbers{911437490, 932094173, 4121853611, 1078865787, 3729030871}));
}

TEST(RandomBits, ThreeFryHasTheLayoutOfXla) {
  RandomBits words = threeFryBits({key, nearEnd}, Index{5}, 32);
  EXPECT_EQ(words.state, (Numbers{key, 1}));
  EXPECT_EQ(words.numbers, (Numbers{3331914273, 3936478428, 345986348, 3545832757, 1337340255}));
  RandomBits doubles = threeFryBits({key, nearEnd}, Index{3}, 64);
  EXPECT_EQ(doubles.state, (Numbers{key, 1}));
  EXPECT_EQ(doubles.numbers, (Numbers{16907046113001404961u, 15229235728746501420u, 3607819637178642783u}));
  RandomBits bytes = threeFryBits({key, nearEnd}, Index{2, 3}, 8);
  EXPECT_EQ(bytes.state, (Numbers{key, 1}));
  Numbers low;
  for (uint64_t number : bytes.numbers)
    low.push_back(number & 0xFF);
  EXPECT_EQ(low, (Numbers{33, 44, 95, 220, 53, 216}));
  RandomBits scalar = threeFryBits({key, nearEnd}, Index{}, 16);
  EXPECT_EQ(scalar.state, (Numbers{key, nearEnd + 1}));
  EXPECT_EQ(scalar.numbers[0] & 0xFFFF, 64033u);
}

} // namespace
} // namespace torchere::interpreter
