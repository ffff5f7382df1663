// Random bits: the numbers that XLA's plugins give, whose values the interpreter's tests hold too.
#include "cpu/kernels/random_bits.h"
#include "test_values.h"

namespace torchere::cpu {
namespace {

constexpr uint64_t key = (uint64_t(1) << 63) + 5;
constexpr uint64_t nearEnd = ~uint64_t(0) - 1; // a counter that overflows after two steps

using Numbers = std::vector<uint64_t>;

template <class T> struct Drawn {
  std::vector<T> numbers;
  Numbers state;
};

template <class T>
Drawn<T> draw(RandomAlgorithm algorithm, const Numbers &state, const std::vector<int64_t> &dims,
              int threads = 2) {
  ThreadPool pool(threads);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  Drawn<T> drawn{std::vector<T>(static_cast<size_t>(count)), Numbers(state.size())};
  RandomBitsArgs args{algorithm,
                      state.data(),
                      drawn.state.data(),
                      static_cast<int>(state.size()),
                      static_cast<int>(8 * sizeof(T)),
                      static_cast<int>(dims.size()),
                      dims.data(),
                      drawn.numbers.data()};
  randomBits({pool, Isa::Baseline}, args);
  return drawn;
}

TEST(RandomBitsKernel, PhiloxHasTheLayoutOfXla) {
  auto words = draw<uint32_t>(RandomAlgorithm::Philox, {key, nearEnd, 7}, {5});
  EXPECT_EQ(words.state, (Numbers{key, 0, 8}));
  EXPECT_EQ(words.numbers,
            (std::vector<uint32_t>{3630461045, 1721259390, 2559049361, 2649838020, 1068096479}));
  auto doubles = draw<uint64_t>(RandomAlgorithm::Philox, {key, nearEnd, 7}, {3});
  EXPECT_EQ(doubles.state, (Numbers{key, 0, 8}));
  EXPECT_EQ(doubles.numbers, (Numbers{7392752791613370485u, 11380967638156443281u, 117692924001115103u}));
  auto shortState = draw<uint32_t>(RandomAlgorithm::Philox, {key, nearEnd}, {5});
  EXPECT_EQ(shortState.state, (Numbers{key, 0}));
  EXPECT_EQ(shortState.numbers,
            (std::vector<uint32_t>{911437490, 932094173, 4121853611, 1078865787, 3729030871}));
}

TEST(RandomBitsKernel, ThreeFryHasTheLayoutOfXla) {
  auto words = draw<uint32_t>(RandomAlgorithm::ThreeFry, {key, nearEnd}, {5});
  EXPECT_EQ(words.state, (Numbers{key, 1}));
  EXPECT_EQ(words.numbers,
            (std::vector<uint32_t>{3331914273, 3936478428, 345986348, 3545832757, 1337340255}));
  auto doubles = draw<uint64_t>(RandomAlgorithm::ThreeFry, {key, nearEnd}, {3});
  EXPECT_EQ(doubles.state, (Numbers{key, 1}));
  EXPECT_EQ(doubles.numbers, (Numbers{16907046113001404961u, 15229235728746501420u, 3607819637178642783u}));
  auto bytes = draw<uint8_t>(RandomAlgorithm::ThreeFry, {key, nearEnd}, {2, 3});
  EXPECT_EQ(bytes.numbers, (std::vector<uint8_t>{33, 44, 95, 220, 53, 216}));
  auto scalar = draw<uint16_t>(RandomAlgorithm::ThreeFry, {key, nearEnd}, {});
  EXPECT_EQ(scalar.state, (Numbers{key, nearEnd + 1}));
  EXPECT_EQ(scalar.numbers[0], 64033u);
}

TEST(RandomBitsKernel, NumbersDoNotDependOnThreads) {
  for (RandomAlgorithm algorithm : {RandomAlgorithm::Philox, RandomAlgorithm::ThreeFry}) {
    auto alone = draw<uint32_t>(algorithm, {key, 3}, {7, 3, 1001}, 1);
    for (int threads : {2, 3})
      EXPECT_EQ(draw<uint32_t>(algorithm, {key, 3}, {7, 3, 1001}, threads).numbers, alone.numbers);
  }
}

TEST(RandomBitsKernel, NothingIsDrawnForEmptyTensors) {
  auto none = draw<uint32_t>(RandomAlgorithm::ThreeFry, {key, 3}, {3, 0, 2});
  EXPECT_EQ(none.state, (Numbers{key, 3}));
}

} // namespace
} // namespace torchere::cpu
