// Windows and running reductions against plain loops.
#include "cpu/kernels/windows.h"
#include "test_values.h"

#include <algorithm>
#include <limits>

namespace torchere::cpu {
namespace {

class Windows : public EveryIsa {
protected:
  /// Windows of `window` x `window` with a stride, of a contiguous plane.
  template <class T>
  std::vector<T> run(DType type, Reduction reduction, const std::vector<T> &input, int64_t height,
                     int64_t width, int64_t window, int64_t stride, int64_t dilation, T initial) {
    WindowsArgs args;
    args.type = type;
    args.reduction = reduction;
    args.rank = 2;
    int64_t reach = (window - 1) * dilation + 1;
    for (int i = 0; i < 2; ++i) {
      args.outputDims[i] = ((i == 0 ? height : width) - reach) / stride + 1;
      args.outputStrides[i] = stride * (i == 0 ? width : 1);
      args.windowDims[i] = window;
      args.windowStrides[i] = dilation * (i == 0 ? width : 1);
    }
    std::vector<T> output(args.outputDims[0] * args.outputDims[1]);
    args.input = input.data();
    args.initial = &initial;
    args.output = output.data();
    reduceWindows(context, args);
    return output;
  }
};

TEST_P(Windows, SumsAndMaxima) {
  int64_t height = 23, width = 301;
  auto input = randomFloats(height * width);
  input[5 * width + 7] = NAN;
  for (int64_t stride : {1, 2, 3})
    for (int64_t dilation : {1, 2})
      for (int64_t window : {1, 3}) {
        auto sums = run(DType::F32, Reduction::Sum, input, height, width, window, stride, dilation, 0.5f);
        auto most =
            run(DType::F32, Reduction::Max, input, height, width, window, stride, dilation, -INFINITY);
        int64_t columns = (width - (window - 1) * dilation - 1) / stride + 1;
        for (size_t i = 0; i < sums.size(); ++i) {
          double sum = 0.5;
          float highest = -INFINITY;
          for (int64_t y = 0; y < window; ++y)
            for (int64_t x = 0; x < window; ++x) {
              float value = input[(int64_t(i) / columns * stride + y * dilation) * width +
                                  int64_t(i) % columns * stride + x * dilation];
              sum += value;
              highest = std::isnan(value) || std::isnan(highest) ? NAN : std::max(highest, value);
            }
          if (std::isnan(sum)) {
            EXPECT_TRUE(std::isnan(sums[i]) && std::isnan(most[i]));
            continue;
          }
          ASSERT_NEAR(sums[i], sum, 1e-5);
          ASSERT_EQ(most[i], highest);
        }
      }
}

TEST_P(Windows, OtherTypes) {
  std::vector<int8_t> bytes = {100, 100, 1, -3, 7, 2, 5, 5, 5};
  EXPECT_EQ(run<int8_t>(DType::I8, Reduction::Sum, bytes, 3, 3, 2, 1, 1, 1),
            (std::vector<int8_t>{int8_t(100 + 100 - 3 + 7 + 1), 111, 15, 20}));
  EXPECT_EQ(run<int8_t>(DType::I8, Reduction::Min, bytes, 3, 3, 2, 1, 1, 127),
            (std::vector<int8_t>{-3, 1, -3, 2}));
  std::vector<uint8_t> flags = {1, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(run<uint8_t>(DType::Bool, Reduction::Or, flags, 3, 3, 2, 1, 1, 0),
            (std::vector<uint8_t>{1, 0, 0, 0}));
  std::vector<uint16_t> ones(9, bf16OfFloat(0.1f));
  float tenth = floatOfBF16(ones[0]);
  EXPECT_EQ(run<uint16_t>(DType::BF16, Reduction::Sum, ones, 3, 3, 3, 1, 1, 0),
            (std::vector<uint16_t>{bf16OfFloat(9 * tenth)}));
}

TEST_P(Windows, LongWindowsStayAccurate) {
  std::vector<float> input(300 * 300, 0.1f);
  auto sums = run(DType::F32, Reduction::Sum, input, 300, 300, 299, 1, 1, 0.0f);
  for (float sum : sums)
    EXPECT_NEAR(sum, 299 * 299 * double(0.1f), 299 * 299 * 1e-6);
}

TEST_P(Windows, RunningSums) {
  for (int64_t inner : {1, 3, 70, 200})
    for (bool backwards : {false, true}) {
      int64_t outer = 3, length = 101;
      auto input = randomFloats(outer * length * inner);
      std::vector<float> output(input.size());
      float initial = 0;
      RunningArgs args;
      args.backwards = backwards;
      args.outer = outer;
      args.length = length;
      args.inner = inner;
      args.input = input.data();
      args.initial = &initial;
      args.output = output.data();
      reduceRunning(context, args);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < inner; ++k) {
          double sum = 0;
          for (int64_t j = 0; j < length; ++j) {
            int64_t at = (o * length + (backwards ? length - 1 - j : j)) * inner + k;
            sum += input[at];
            ASSERT_NEAR(output[at], sum, 1e-6);
          }
        }
    }
}

TEST_P(Windows, RunningMaximaOfIntegers) {
  std::vector<int64_t> input = {3, 1, 4, 1, 5, 9, 2, 6}, output(8);
  int64_t initial = std::numeric_limits<int64_t>::min();
  RunningArgs args;
  args.type = DType::I64;
  args.reduction = Reduction::Max;
  args.length = 8;
  args.input = input.data();
  args.initial = &initial;
  args.output = output.data();
  reduceRunning(context, args);
  EXPECT_EQ(output, (std::vector<int64_t>{3, 3, 4, 4, 5, 9, 9, 9}));
}

TEST_P(Windows, TheSameForAnyNumberOfThreads) {
  auto input = randomFloats(200 * 500);
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 5}) {
    ThreadPool other(threads);
    std::vector<float> output(191 * 491);
    float initial = 0;
    WindowsArgs args;
    args.rank = 2;
    args.outputDims[0] = 191;
    args.outputDims[1] = 491;
    args.outputStrides[0] = args.windowStrides[0] = 500;
    args.outputStrides[1] = args.windowStrides[1] = 1;
    args.windowDims[0] = args.windowDims[1] = 10;
    args.input = input.data();
    args.initial = &initial;
    args.output = output.data();
    reduceWindows({other, context.isa}, args);
    results.push_back(output);
    EXPECT_EQ(results.front(), output);
  }
}

TORCHERE_EVERY_ISA(Windows);

} // namespace
} // namespace torchere::cpu
