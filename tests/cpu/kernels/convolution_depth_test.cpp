// Convolutions and pooling in three dimensions against sums in f64.
#include "blocked_values.h"

#include <limits>
#include <optional>

namespace torchere::cpu {
namespace {

/// Of [item][channel][image of the item][row][column].
PlanarTensor volumes(std::vector<float> &data, int64_t channels, int64_t depth, int64_t height,
                     int64_t width) {
  int64_t plane = height * width;
  return {data.data(), {channels * depth * plane, depth * plane, width, 1, plane}, depth};
}

class ConvolutionInDepth : public EveryIsa {
protected:
  struct Options {
    int64_t inputHalo = 0, outputHalo = 0;
    bool planarInput = false, winograd = false;
    double bound = 1e-5;
  };
  /// With a residual and a relu.
  void check(ConvolutionShape shape, Options options, std::optional<ConvolutionKind> kind);
};

double convolvedInDepth(const ConvolutionShape &s, const std::vector<float> &x, const std::vector<float> &w,
                        int64_t image, int64_t o, int64_t y, int64_t column) {
  double sum = 0;
  int64_t inputs = s.inputChannels / s.groups, group = o / (s.outputChannels / s.groups);
  const DepthWindow &d = s.depth;
  for (int64_t c = 0; c < inputs; ++c)
    for (int64_t k = 0; k < d.kernel; ++k)
      for (int64_t i = 0; i < s.kernel[0]; ++i)
        for (int64_t j = 0; j < s.kernel[1]; ++j) {
          int64_t iz = image % d.output * d.stride + k * d.dilation - d.padding;
          int64_t iy = y * s.stride[0] + i * s.dilation[0] - s.padding[0];
          int64_t ix = column * s.stride[1] + j * s.dilation[1] - s.padding[1];
          if (iz < 0 || iy < 0 || ix < 0 || iz >= d.input || iy >= s.inputHeight || ix >= s.inputWidth)
            continue;
          int64_t channel = image / d.output * s.inputChannels + group * inputs + c;
          sum += double(x[((channel * d.input + iz) * s.inputHeight + iy) * s.inputWidth + ix]) *
                 w[(((o * inputs + c) * d.kernel + k) * s.kernel[0] + i) * s.kernel[1] + j];
        }
  return sum;
}

ConvolutionShape inDepth(ConvolutionShape shape, DepthWindow depth, int64_t items) {
  depth.output =
      (depth.input + 2 * depth.padding - (depth.kernel - 1) * depth.dilation - 1) / depth.stride + 1;
  shape.depth = depth;
  shape.batch = items * depth.output;
  return shape;
}

void ConvolutionInDepth::check(ConvolutionShape s, Options options, std::optional<ConvolutionKind> kind) {
  const DepthWindow &d = s.depth;
  int64_t inputs = s.inputChannels / s.groups, taps = s.kernel[0] * s.kernel[1];
  auto x = randomFloats(s.inputImages() * s.inputChannels * s.inputHeight * s.inputWidth, 1);
  auto w = randomFloats(s.outputChannels * inputs * d.kernel * taps, 2);
  int64_t outputs = s.batch * s.outputChannels * s.outputHeight * s.outputWidth;
  auto add = randomFloats(outputs, 4);
  Isa isa = context.isa;
  ConvolutionPlan plan = planConvolution(s, isa, options.planarInput, options.winograd);
  if (kind) {
    EXPECT_EQ(plan.kind, *kind);
  }
  AlignedBuffer<float> packed(plan.weightElements());
  packConvolution(context, plan, w.data(), {inputs * d.kernel * taps, d.kernel * taps, s.kernel[1], 1, taps},
                  packed.data);
  Blocked input(isa, s.inputImages(), s.inputChannels, s.inputHeight, s.inputWidth, options.inputHalo);
  Blocked output(isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, options.outputHalo);
  Blocked residual(isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, 1);
  PlanarTensor planarInput = volumes(x, s.inputChannels, d.input, s.inputHeight, s.inputWidth);
  blockedFromPlanar(context, planarInput, input.tensor);
  blockedFromPlanar(context, volumes(add, s.outputChannels, d.output, s.outputHeight, s.outputWidth),
                    residual.tensor);
  AlignedBuffer<char> workspace(plan.workspaceBytes(input.tensor.halo));
  ConvolutionArgs args;
  args.plan = plan;
  if (plan.kind == ConvolutionKind::Planar)
    args.planar = planarInput;
  else
    args.input = input.tensor;
  args.weights = packed.data;
  args.output = output.tensor;
  args.epilogue.activation = Activation::Relu;
  args.residual = residual.tensor;
  args.workspace = workspace.data;
  convolve(context, args);
  expectZerosAround(output.tensor);
  std::vector<float> result(outputs);
  planarFromBlocked(context, output.tensor,
                    volumes(result, s.outputChannels, d.output, s.outputHeight, s.outputWidth));
  size_t at = 0;
  for (int64_t item = 0; item < s.batch / d.output; ++item)
    for (int64_t o = 0; o < s.outputChannels; ++o)
      for (int64_t z = 0; z < d.output; ++z)
        for (int64_t y = 0; y < s.outputHeight; ++y)
          for (int64_t column = 0; column < s.outputWidth; ++column, ++at) {
            double sum = convolvedInDepth(s, x, w, item * d.output + z, o, y, column) + add[at];
            double scale = std::sqrt(double(inputs * d.kernel * taps));
            ASSERT_NEAR(result[at], std::max(sum, 0.0), options.bound * scale)
                << "item " << item << ", " << o << ", " << z << ", " << y << ", " << column;
          }
}

TEST_P(ConvolutionInDepth, Values) {
  const DepthWindow depths[] = {{5, 0, 3, 1, 1, 1}, {6, 0, 3, 2, 1, 1}, {5, 0, 1, 2, 0, 1},
                                {7, 0, 3, 1, 2, 2}, {2, 0, 5, 1, 3, 1}, {3, 0, 2, 2, 4, 1}};
  for (int64_t items : {1, 2})
    for (const DepthWindow &depth : depths) {
      auto checkWith = [&](const ConvolutionShape &shape, Options options,
                           std::optional<ConvolutionKind> kind = std::nullopt) {
        check(inDepth(shape, depth, items), options, kind);
      };
      checkWith(makeShape(1, 20, 36, 6, 7, 3, 1, 1), {1, 1}, ConvolutionKind::Direct);
      checkWith(makeShape(1, 12, 20, 7, 9, 3, 2, 1), {0, 2}, ConvolutionKind::Direct);
      checkWith(makeShape(1, 16, 20, 5, 6, 1), {}, ConvolutionKind::Direct);
      checkWith(makeShape(1, 16, 72, 5, 6, 1, 2), {1, 0});
      checkWith(makeShape(1, 3, 24, 9, 10, 7, 2, 3), {0, 1, true}, ConvolutionKind::Planar);
      checkWith(makeShape(1, 20, 20, 6, 7, 3, 1, 1, 20), {1, 1}, ConvolutionKind::Depthwise);
    }
  // Groups have one tap along the depth, which may meet no image.
  for (const DepthWindow &depth : {DepthWindow{4, 0, 1, 4, 1, 1}, {3, 0, 1, 1, 2, 1}}) {
    check(inDepth(makeShape(1, 33, 11, 6, 7, 3, 1, 1, 11), depth, 2), {1, 1}, ConvolutionKind::Grouped);
    check(inDepth(makeShape(1, 64, 64, 6, 7, 3, 1, 1, 2), depth, 2), {1, 1}, ConvolutionKind::Direct);
  }
  Options winograd{1, 0, false, true, 6e-5};
  for (int64_t items : {1, 2}) {
    check(inDepth(makeShape(1, 20, 40, 16, 14, 3, 1, 1), {4, 0, 3, 1, 1, 1}, items), winograd,
          ConvolutionKind::Winograd4);
    check(inDepth(makeShape(1, 24, 40, 10, 10, 3, 1, 1), {5, 0, 3, 2, 1, 1}, items), winograd, std::nullopt);
  }
  // Where most taps of the depth meet nothing, the sum itself takes less work.
  ConvolutionShape shallow = inDepth(makeShape(1, 512, 512, 7, 7, 3, 1, 1), {1, 0, 3, 1, 1, 1}, 1);
  EXPECT_EQ(planConvolution(shallow, context.isa, false, true).kind, ConvolutionKind::Direct);
}

TEST_P(ConvolutionInDepth, Pooling) {
  const int64_t channels = 20, height = 6, width = 7;
  auto x = randomFloats(2 * channels * 5 * height * width);
  Blocked input(context.isa, 2 * 5, channels, height, width, 1);
  blockedFromPlanar(context, volumes(x, channels, 5, height, width), input.tensor);
  auto at = [&](int64_t item, int64_t c, int64_t z, int64_t y, int64_t column) {
    bool isInside = z >= 0 && y >= 0 && column >= 0 && z < 5 && y < height && column < width;
    return isInside ? x[(((item * channels + c) * 5 + z) * height + y) * width + column] : NAN;
  };
  for (bool average : {false, true}) {
    Blocked output(context.isa, 2 * 3, channels, 3, 4, 1);
    PoolingArgs args{average,      true,         {3, 3}, {2, 2}, {1, 1}, {1, 1}, {5, 3, 3, 2, 1, 1},
                     input.tensor, output.tensor};
    ::torchere::cpu::pool(context, args);
    expectZerosAround(output.tensor);
    std::vector<float> result(2 * channels * 3 * 3 * 4);
    planarFromBlocked(context, output.tensor, volumes(result, channels, 3, 3, 4));
    for (int64_t place = 0; place < int64_t(result.size()); ++place) {
      int64_t column = place % 4, y = place / 4 % 3, z = place / 12 % 3, c = place / 36 % channels;
      double sum = 0, most = -std::numeric_limits<double>::infinity();
      for (int64_t tap = 0; tap < 27; ++tap) {
        float value = at(place / 36 / channels, c, 2 * z + tap / 9 - 1, 2 * y + tap / 3 % 3 - 1,
                         2 * column + tap % 3 - 1);
        if (!std::isnan(value)) {
          sum += value;
          most = std::max<double>(most, value);
        }
      }
      ASSERT_NEAR(result[place], average ? sum / 27 : most, 1e-6) << place;
    }
  }
  Blocked mean(context.isa, 2, channels, 1, 1, 0);
  globalAverage(context, input.tensor, mean.tensor);
  expectZerosAround(mean.tensor);
  for (int64_t plane = 0; plane < 2 * channels; ++plane) {
    double sum = 0;
    for (int64_t i = 0; i < 5 * height * width; ++i)
      sum += x[plane * 5 * height * width + i];
    int64_t lanes = mean.tensor.lanes, channel = plane % channels;
    ASSERT_NEAR(mean.tensor.at(plane / channels, channel / lanes)[channel % lanes],
                sum / double(5 * height * width), 1e-6);
  }
}

TORCHERE_EVERY_ISA(ConvolutionInDepth);

} // namespace
} // namespace torchere::cpu
