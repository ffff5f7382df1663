// Interpolation along an axis, and sums at places of their own, against plain loops.
#include "cpu/kernels/gathered_sums.h"
#include "cpu/kernels/interpolation.h"
#include "test_values.h"

#include <algorithm>
#include <cmath>

namespace torchere::cpu {
namespace {

class Interpolation : public EveryIsa {};

/// Places reach beyond both ends, where they are clamped.
template <class Place>
void check(const Context &context, int64_t outer, int64_t inputSize, int64_t outputSize, int64_t inner,
           int64_t tapCount) {
  auto input = randomFloats(outer * inputSize * inner);
  std::vector<float> output(outer * outputSize * inner, 99);
  std::vector<std::vector<Place>> places(tapCount, std::vector<Place>(outputSize));
  std::vector<std::vector<float>> weights;
  InterpolationArgs args{outer, inputSize, outputSize, inner, sizeof(Place), tapCount, {}, nullptr, nullptr};
  args.input = input.data();
  args.output = output.data();
  for (int64_t tap = 0; tap < tapCount; ++tap) {
    weights.push_back(randomFloats(outputSize));
    for (int64_t j = 0; j < outputSize; ++j)
      places[tap][j] = static_cast<Place>((j * 5 + tap * 3) % (inputSize + 4) - 2);
    args.taps[tap] = {places[tap].data(), weights[tap].data()};
  }
  interpolate(context, args);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < outputSize; ++j)
      for (int64_t i = 0; i < inner; ++i) {
        double sum = 0, magnitude = 0;
        for (int64_t tap = 0; tap < tapCount; ++tap) {
          int64_t place = std::clamp<int64_t>(places[tap][j], 0, inputSize - 1);
          double term = double(weights[tap][j]) * input[(o * inputSize + place) * inner + i];
          sum += term;
          magnitude += std::abs(term);
        }
        ASSERT_NEAR(output[(o * outputSize + j) * inner + i], sum, 1.2e-7 * double(tapCount) * magnitude)
            << o << " " << j << " " << i;
      }
}

TEST_P(Interpolation, AlongEveryAxis) {
  for (int64_t tapCount : {1, 2, 3, 4, 16}) {
    check<int64_t>(context, 1, 5, 11, 1, tapCount);
    check<int32_t>(context, 3, 4, 300, 1, tapCount); // several chunks
    check<int64_t>(context, 70, 9, 40, 1, tapCount);
    check<int64_t>(context, 2, 7, 13, 8, tapCount);
    check<int32_t>(context, 5, 6, 130, 37, tapCount);
    check<int64_t>(context, 1, 1, 90, 200, tapCount); // bands of one plane
  }
}

/// Of images [n][c][h][w]: out[c][n][i] is a sum over pixels (y, x) of image n, whose indices [n][i][3] reach
/// beyond all ends, where they are clamped.
void checkGrid(const Context &context, int64_t images, int64_t channels, int64_t height, int64_t width,
               int64_t samples, int64_t tapCount) {
  auto tensor = randomFloats(images * channels * height * width);
  int64_t count = images * samples;
  std::vector<float> output(channels * count, 99);
  std::vector<std::vector<int32_t>> indices(tapCount, std::vector<int32_t>(3 * count));
  std::vector<std::vector<float>> weights;
  GatheredSumArgs args;
  args.tensor = tensor.data();
  args.output = output.data();
  args.tapCount = tapCount;
  for (int64_t tap = 0; tap < tapCount; ++tap) {
    weights.push_back(randomFloats(count, int(tap)));
    for (int64_t i = 0; i < count; ++i) {
      indices[tap][3 * i] = int32_t(i / samples);
      indices[tap][3 * i + 1] = int32_t((i * 7 + tap) % (height + 4) - 2);
      indices[tap][3 * i + 2] = int32_t((i * 3 + tap * 2) % (width + 4) - 2);
    }
    args.taps[tap] = {indices[tap].data(), weights[tap].data()};
  }
  IndexedSlices &slices = args.slices;
  slices = {4,
            {images, channels, height, width},
            {channels * height * width, height * width, width, 1},
            {1, channels, 1, 1},
            {0, count, 0, 0},
            2,
            {images, samples},
            {samples, 1},
            {3 * samples, 3},
            {-1, -1},
            3,
            {0, 2, 3},
            1,
            DType::I32};
  ASSERT_TRUE(areColumns(slices));
  sumGathered(context, args);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0, magnitude = 0;
      for (int64_t tap = 0; tap < tapCount; ++tap) {
        int64_t y = std::clamp<int64_t>(indices[tap][3 * i + 1], 0, height - 1);
        int64_t x = std::clamp<int64_t>(indices[tap][3 * i + 2], 0, width - 1);
        double term =
            double(weights[tap][i]) * tensor[((i / samples * channels + c) * height + y) * width + x];
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(output[c * count + i], sum, 1.2e-7 * double(tapCount) * magnitude) << c << " " << i;
    }
}

TEST_P(Interpolation, AtPlacesOfTheirOwn) {
  for (int64_t tapCount : {1, 2, 4, 8, 16}) {
    checkGrid(context, 3, 5, 4, 6, 11, tapCount);
    checkGrid(context, 1, 1, 1, 1, 3, tapCount);
    checkGrid(context, 2, 33, 7, 5, 300, tapCount); // several chunks, and groups of columns
    checkGrid(context, 1, 2, 3, 3, 5000, tapCount);
  }
  checkGrid(context, 2, 0, 3, 3, 4, 2);
  checkGrid(context, 2, 3, 3, 3, 0, 2);
}

TEST_P(Interpolation, OfNothing) {
  std::vector<float> input(6);
  std::vector<int64_t> places;
  InterpolationArgs args{2, 3, 0, 1, 8, 1, {}, input.data(), nullptr};
  args.taps[0] = {places.data(), nullptr};
  interpolate(context, args);
  args = {0, 3, 4, 1, 8, 1, {}, nullptr, nullptr};
  interpolate(context, args);
}

TORCHERE_EVERY_ISA(Interpolation);

} // namespace
} // namespace torchere::cpu
