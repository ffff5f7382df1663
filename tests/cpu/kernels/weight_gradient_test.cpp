// Gradients of convolutions' weights against sums in f64.
#include "blocked_values.h"

namespace torchere::cpu {
namespace {

class WeightGradients : public EveryIsa {
protected:
  struct Halos {
    int64_t input = 0, pixels = 0;
  };
  /// The input's halo is the one that is wanted, or wider.
  void check(const ConvolutionShape &shape, const Halos &halos);
};

double gradientAt(const ConvolutionShape &s, const std::vector<float> &x, const std::vector<float> &g,
                  int64_t o, int64_t c, int64_t i, int64_t j) {
  double sum = 0;
  int64_t input = o / (s.outputChannels / s.groups) * (s.inputChannels / s.groups) + c;
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t y = 0; y < s.outputHeight; ++y)
      for (int64_t column = 0; column < s.outputWidth; ++column) {
        int64_t iy = y * s.stride[0] + i * s.dilation[0] - s.padding[0];
        int64_t ix = column * s.stride[1] + j * s.dilation[1] - s.padding[1];
        if (iy >= 0 && ix >= 0 && iy < s.inputHeight && ix < s.inputWidth)
          sum += double(x[((image * s.inputChannels + input) * s.inputHeight + iy) * s.inputWidth + ix]) *
                 g[((image * s.outputChannels + o) * s.outputHeight + y) * s.outputWidth + column];
      }
  return sum;
}

void WeightGradients::check(const ConvolutionShape &s, const Halos &halos) {
  auto x = randomFloats(s.batch * s.inputChannels * s.inputHeight * s.inputWidth, 1);
  auto g = randomFloats(s.batch * s.outputChannels * s.outputHeight * s.outputWidth, 2);
  WeightGradientArgs args;
  args.groups = s.groups;
  for (int axis = 0; axis < 2; ++axis) {
    args.kernel[axis] = s.kernel[axis];
    args.stride[axis] = s.stride[axis];
    args.padding[axis] = s.padding[axis];
    args.dilation[axis] = s.dilation[axis];
  }
  Blocked pixels(context.isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, halos.pixels);
  args.pixels = pixels.tensor;
  args.input = {nullptr, s.batch, s.inputChannels, s.inputHeight, s.inputWidth, {}, floatLanes(context.isa)};
  Blocked input(context.isa, s.batch, s.inputChannels, s.inputHeight, s.inputWidth,
                widest(args.inputHalo(), haloOf(halos.input, s.inputHeight)));
  args.input = input.tensor;
  blockedFromPlanar(context, planar(x, s.inputChannels, s.inputHeight, s.inputWidth), args.input);
  blockedFromPlanar(context, planar(g, s.outputChannels, s.outputHeight, s.outputWidth), args.pixels);
  int64_t inputs = s.inputChannels / s.groups, taps = s.kernel[0] * s.kernel[1];
  std::vector<float> output(s.outputChannels * inputs * taps, NAN);
  AlignedBuffer<char> workspace(args.workspaceBytes(), 0x7f);
  args.output = output.data();
  args.workspace = workspace.data;
  weightGradient(context, args);
  double scale = std::sqrt(double(s.batch * s.outputHeight * s.outputWidth));
  for (int64_t o = 0; o < s.outputChannels; ++o)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        ASSERT_NEAR(output[(o * inputs + c) * taps + tap],
                    gradientAt(s, x, g, o, c, tap / s.kernel[1], tap % s.kernel[1]), 1e-6 * scale)
            << o << ", " << c << ", " << tap;
}

TEST_P(WeightGradients, OfOneGroup) {
  for (int64_t channels : {1, 3, 16, 20, 37})
    for (int64_t outputs : {1, 14, 33})
      for (auto [kernel, stride, padding, dilation] :
           {std::array<int64_t, 4>{1, 1, 0, 1}, {3, 1, 1, 1}, {3, 2, 1, 1}, {5, 1, 4, 2}, {2, 3, 0, 1}})
        check(makeShape(2, channels, outputs, 11, 13, kernel, stride, padding, 1, dilation),
              {padding % 2, 0});
}

TEST_P(WeightGradients, OfManyPixels) { // several chunks, and parts of the outputs
  check(makeShape(3, 16, 70, 40, 40, 3, 1, 1), {1, 1});
  check(makeShape(2, 5, 64, 1, 2000, 1), {0, 0});
}

TEST_P(WeightGradients, OfGroups) {
  for (auto [groups, inputs, outputs] :
       {std::array<int64_t, 3>{2, 32, 32}, {4, 16, 8}, {8, 32, 48}, {3, 60, 33}, {5, 35, 10}, {2, 6, 2}})
    for (int64_t stride : {1, 2})
      check(makeShape(2, inputs, outputs, 9, 7, 3, stride, 1, groups), {1, 0});
}

TEST_P(WeightGradients, OfDepthwiseConvolutions) {
  for (int64_t channels : {2, 16, 41})
    for (int64_t kernel : {1, 2, 3, 4, 5, 7, 11})
      for (int64_t stride : {1, 2, 3})
        for (int64_t halo : {int64_t(0), kernel / 2})
          check(makeShape(2, channels, channels, 12, 10, kernel, stride, kernel / 2, channels),
                {halo, halo % 2});
  check(makeShape(1, 8, 8, 20, 21, 3, 1, 3, 8, 3), {0, 0});
  ConvolutionShape row = makeShape(2, 24, 24, 1, 40, 1, 1, 0, 24);
  row.kernel[1] = 9;
  row.padding[1] = 8; // causal
  check(row, {0, 0});
}

/// Where the pixels leave a rest of the input, no tap meets its last columns.
TEST_P(WeightGradients, OfInputsWithARest) {
  ConvolutionShape shape = makeShape(2, 17, 9, 10, 10, 3, 3);
  ASSERT_EQ(shape.outputWidth, 3);
  check(shape, {0, 0});
}

TEST_P(WeightGradients, TheSameForAnyNumberOfThreads) {
  ConvolutionShape s = makeShape(2, 20, 40, 16, 16, 3, 1, 1);
  auto x = randomFloats(s.batch * s.inputChannels * 256, 1),
       g = randomFloats(s.batch * s.outputChannels * 256, 2);
  std::vector<float> first;
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    Context other{pool, context.isa};
    Blocked input(context.isa, 2, 20, 16, 16, 1), pixels(context.isa, 2, 40, 16, 16, 0);
    blockedFromPlanar(other, planar(x, 20, 16, 16), input.tensor);
    blockedFromPlanar(other, planar(g, 40, 16, 16), pixels.tensor);
    std::vector<float> output(40 * 20 * 9);
    WeightGradientArgs args{
        1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, input.tensor, pixels.tensor, output.data(), nullptr};
    AlignedBuffer<char> workspace(args.workspaceBytes(), 0);
    args.workspace = workspace.data;
    weightGradient(other, args);
    first = threads == 1 ? output : first;
    EXPECT_EQ(output, first) << threads;
  }
}

/// Pixels with zeros between them and behind the last ones.
TEST_P(WeightGradients, ZerosBetweenPixels) {
  for (int64_t channels : {5, 16, 33}) {
    auto x = randomFloats(2 * channels * 4 * 3);
    Blocked input(context.isa, 2, channels, 4, 3, 1), output(context.isa, 2, channels, 8, 9, 2);
    blockedFromPlanar(context, planar(x, channels, 4, 3), input.tensor);
    upsample(context, {{2, 3}, true, input.tensor, output.tensor});
    expectZerosAround(output.tensor);
    std::vector<float> y(2 * channels * 8 * 9, NAN);
    planarFromBlocked(context, output.tensor, planar(y, channels, 8, 9));
    for (int64_t i = 0; i < 2 * channels * 72; ++i) {
      int64_t row = i / 9 % 8, column = i % 9;
      bool isPixel = row % 2 == 0 && column % 3 == 0;
      ASSERT_EQ(y[i], isPixel ? x[i / 72 * 12 + row / 2 * 3 + column / 3] : 0.0f) << i;
    }
  }
}

TORCHERE_EVERY_ISA(WeightGradients);

} // namespace
} // namespace torchere::cpu
