// Interpolation along an axis against plain loops.
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
