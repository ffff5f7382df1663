// Moves of elements against plain loops.
#include "cpu/kernels/movement.h"
#include "test_values.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace torchere::cpu {
namespace {

class Movement : public EveryIsa {};

/// Element i of the input is i; every output position is checked, and that nothing beside it is written.
template <class T> void checkCopy(const Context &context, CopyArgs args, int64_t inputOffset = 0) {
  int64_t count = 1, high = inputOffset, outputs = 1;
  for (int i = 0; i < args.rank; ++i) {
    count *= args.dims[i];
    high += std::max<int64_t>(0, (args.dims[i] - 1) * args.inputStrides[i]);
    outputs += std::max<int64_t>(0, (args.dims[i] - 1) * args.outputStrides[i]);
  }
  std::vector<T> input(high + 1), output(outputs, T(99));
  std::iota(input.begin(), input.end(), T(0));
  args.elementSize = sizeof(T);
  args.input = input.data() + inputOffset;
  args.output = output.data();
  copyStrided(context, args);
  std::vector<T> expected(outputs, T(99));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = inputOffset, to = 0;
    for (int j = args.rank - 1; j >= 0; --j) {
      from += rest % args.dims[j] * args.inputStrides[j];
      to += rest % args.dims[j] * args.outputStrides[j];
      rest /= args.dims[j];
    }
    expected[to] = input[from];
  }
  ASSERT_EQ(output, expected);
}

TEST_P(Movement, TransposesOfEverySize) {
  for (int64_t rows : {1, 3, 4, 16, 33, 70})
    for (int64_t columns : {1, 5, 16, 40, 65}) {
      CopyArgs args;
      args.rank = 2;
      args.dims[0] = rows;
      args.dims[1] = columns;
      args.inputStrides[0] = 1;
      args.inputStrides[1] = rows + 2;
      args.outputStrides[0] = columns;
      args.outputStrides[1] = 1;
      checkCopy<uint8_t>(context, args);
      checkCopy<uint16_t>(context, args);
      checkCopy<uint32_t>(context, args);
      checkCopy<uint64_t>(context, args);
    }
}

TEST_P(Movement, PermutationsBroadcastsSlicesAndReversal) {
  const int64_t d[4] = {3, 5, 7, 6};
  int order[4] = {0, 1, 2, 3};
  do {
    CopyArgs args;
    args.rank = 4;
    int64_t strides[4] = {5 * 7 * 6, 7 * 6, 6, 1}, stride = 1;
    for (int i = 3; i >= 0; --i) {
      args.dims[i] = d[order[i]];
      args.inputStrides[i] = strides[order[i]];
      args.outputStrides[i] = stride;
      stride *= args.dims[i];
    }
    checkCopy<uint32_t>(context, args);
    checkCopy<unsigned __int128>(context, args);
  } while (std::next_permutation(order, order + 4));
  checkCopy<uint32_t>(context, {4, 3, {4, 5, 6}, {0, 1, 0}, {30, 6, 1}, nullptr, nullptr});
  checkCopy<uint16_t>(context, {2, 2, {4, 5}, {40, 3}, {5, 1}, nullptr, nullptr}, 7);
  checkCopy<uint64_t>(context, {8, 1, {9}, {-2}, {1}, nullptr, nullptr}, 16);
  checkCopy<uint32_t>(context, {4, 0, {}, {}, {}, nullptr, nullptr});
  checkCopy<uint32_t>(context, {4, 2, {0, 5}, {5, 1}, {5, 1}, nullptr, nullptr});
  checkCopy<uint32_t>(context, {4, 1, {100000}, {1}, {1}, nullptr, nullptr});
}

TEST_P(Movement, LinesOfOneElement) {
  for (int64_t n : {1, 15, 16, 17, 31, 500, 5000, 100001}) {
    checkCopy<uint8_t>(context, {1, 1, {n}, {0}, {1}, nullptr, nullptr});
    checkCopy<uint16_t>(context, {2, 1, {n}, {0}, {1}, nullptr, nullptr});
    checkCopy<uint32_t>(context, {4, 2, {3, n}, {1, 0}, {n + 1, 1}, nullptr, nullptr});
    checkCopy<uint64_t>(context, {8, 3, {2, 5, n}, {5, 1, 0}, {5 * n, n, 1}, nullptr, nullptr});
    checkCopy<unsigned __int128>(context, {16, 1, {n}, {0}, {1}, nullptr, nullptr});
    checkCopy<uint32_t>(context, {4, 1, {n}, {3}, {2}, nullptr, nullptr}); // between strides, in pieces
  }
}

TEST_P(Movement, TransposesOfReversedPlanes) {
  for (int64_t rows : {4, 16, 33})
    for (int64_t columns : {5, 40}) {
      const int64_t last = rows * columns - 1;
      for (auto [first, row, column] :
           {std::array<int64_t, 3>{rows - 1, -1, rows}, {last - rows + 1, 1, -rows}, {last, -1, -rows}})
        checkCopy<uint32_t>(context, {4, 2, {rows, columns}, {row, column}, {columns, 1}, nullptr, nullptr},
                            first);
    }
}

TEST_P(Movement, ReversedLines) {
  for (int64_t n : {1, 15, 16, 31, 32, 77, 5000, 100001}) {
    checkCopy<uint8_t>(context, {1, 1, {n}, {-1}, {1}, nullptr, nullptr}, n - 1);
    checkCopy<uint16_t>(context, {2, 2, {3, n}, {n, -1}, {n + 2, 1}, nullptr, nullptr}, n - 1);
    checkCopy<uint32_t>(context, {4, 3, {2, 3, n}, {3 * n, -n, -1}, {3 * n, n, 1}, nullptr, nullptr},
                        3 * n - 1);
    checkCopy<uint64_t>(context, {8, 2, {40, n}, {0, -1}, {n, 1}, nullptr, nullptr}, n - 1);
    checkCopy<unsigned __int128>(context, {16, 1, {n}, {-1}, {1}, nullptr, nullptr}, n - 1);
  }
}

TEST_P(Movement, ShortLinesOfManyPlanes) {
  // Pixels repeated along both axes, and channels shuffled into pixels.
  checkCopy<uint32_t>(context, {4, 5, {6, 9, 2, 40, 2}, {360, 40, 0, 1, 0}, {1440, 160, 80, 2, 1}});
  checkCopy<uint16_t>(context, {2, 5, {3, 17, 2, 33, 2}, {2244, 33, 1122, 1, 561}, {2244, 132, 66, 2, 1}});
  checkCopy<uint64_t>(context, {8, 3, {70, 50, 3}, {1, 70, 3500}, {150, 3, 1}});
  checkCopy<uint8_t>(context, {1, 3, {90, 70, 5}, {800, 10, 1}, {350, 5, 1}});
  checkCopy<uint32_t>(context, {4, 2, {50000, 2}, {1, 50000}, {2, 1}}); // one plane, by several threads
}

TEST_P(Movement, GathersRowsAndClampsIndices) {
  auto input = randomFloats(2 * 6 * 5);
  std::vector<int64_t> wide = {5, -3, 0, 99};
  std::vector<int32_t> narrow = {5, -3, 0, 99};
  for (int size : {4, 8}) {
    std::vector<float> output(2 * 4 * 5);
    gatherRows(context,
               {2, 6, 20, 4, input.data(), size == 8 ? static_cast<const void *>(wide.data()) : narrow.data(),
                size, output.data()});
    const int64_t rows[] = {5, 0, 0, 5};
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < 5; ++j)
          ASSERT_EQ(output[(batch * 4 + i) * 5 + j], input[(batch * 6 + rows[i]) * 5 + j]);
  }
}

TEST_P(Movement, Concatenates) {
  std::vector<uint8_t> a = {1, 2, 3, 4}, b = {5, 6}, output(6);
  const void *inputs[] = {a.data(), nullptr, b.data()};
  const int64_t runs[] = {2, 0, 1};
  concatenate(context, {2, 3, inputs, runs, output.data()});
  EXPECT_EQ(output, (std::vector<uint8_t>{1, 2, 5, 3, 4, 6}));
}

TEST_P(Movement, Pads) {
  std::vector<float> input = {1, 2, 3, 4, 5, 6};
  float value = 9;
  auto padded = [&](std::array<int64_t, 2> low, std::array<int64_t, 2> high, std::array<int64_t, 2> interior,
                    size_t size) {
    std::vector<float> output(size, -1);
    PadArgs args;
    args.rank = 2;
    args.dims[0] = 2;
    args.dims[1] = 3;
    for (int i = 0; i < 2; ++i) {
      args.low[i] = low[i];
      args.high[i] = high[i];
      args.interior[i] = interior[i];
    }
    args.input = input.data();
    args.value = &value;
    args.output = output.data();
    pad(context, args);
    return output;
  };
  EXPECT_EQ(padded({1, 0}, {0, 1}, {0, 0}, 12), (std::vector<float>{9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9}));
  EXPECT_EQ(padded({0, -1}, {0, 0}, {0, 0}, 4), (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(padded({-1, 0}, {0, -2}, {0, 1}, 3), (std::vector<float>{4, 9, 5}));
  EXPECT_EQ(padded({0, -1}, {0, 0}, {1, 1}, 12), (std::vector<float>{9, 2, 9, 3, 9, 9, 9, 9, 9, 5, 9, 6}));
  EXPECT_EQ(padded({-2, 0}, {1, 0}, {0, 0}, 3), (std::vector<float>{9, 9, 9}));
}

TORCHERE_EVERY_ISA(Movement);

} // namespace
} // namespace torchere::cpu
