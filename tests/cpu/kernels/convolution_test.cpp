// Convolutions and pooling against sums in f64. Halos and the lanes beyond the last channel are checked to be
// zero.
#include "blocked_values.h"
#include "cpu/kernels/tile_runs.h"

#include <algorithm>
#include <limits>

namespace torchere::cpu {
namespace {

class Convolution : public EveryIsa {
protected:
  struct Options {
    int64_t inputHalo = 0, outputHalo = 0;
    bool planarInput = false, residual = false;
    Activation activation = Activation::None;
    bool winograd = false;
    double bound = 1e-5;
  };
  /// Also with factors and shifts behind the activation, and the residual behind them.
  void check(ConvolutionShape shape, Options options) {
    checkOnce(shape, options, /*last=*/false);
    checkOnce(shape, options, /*last=*/true);
  }
  void checkOnce(ConvolutionShape shape, Options options, bool last);
};

double convolvedAt(const ConvolutionShape &s, const std::vector<float> &x, const std::vector<float> &w,
                   int64_t image, int64_t o, int64_t y, int64_t column) {
  double sum = 0;
  int64_t inputs = s.inputChannels / s.groups, group = o / (s.outputChannels / s.groups);
  for (int64_t c = 0; c < inputs; ++c)
    for (int64_t i = 0; i < s.kernel[0]; ++i)
      for (int64_t j = 0; j < s.kernel[1]; ++j) {
        int64_t iy = y * s.stride[0] + i * s.dilation[0] - s.padding[0];
        int64_t ix = column * s.stride[1] + j * s.dilation[1] - s.padding[1];
        if (iy % s.phases[0] != 0 || ix % s.phases[1] != 0)
          continue;
        iy /= s.phases[0], ix /= s.phases[1];
        if (iy < 0 || ix < 0 || iy >= s.inputHeight || ix >= s.inputWidth)
          continue;
        sum += double(x[((image * s.inputChannels + group * inputs + c) * s.inputHeight + iy) * s.inputWidth +
                        ix]) *
               w[((o * inputs + c) * s.kernel[0] + i) * s.kernel[1] + j];
      }
  return sum;
}

void convolveBlocks(const Context &context, const ConvolutionPlan &plan, const float *packed,
                    const Blocked &input, const Blocked &output) {
  ConvolutionArgs args;
  args.plan = plan;
  args.input = input.tensor;
  args.weights = packed;
  args.output = output.tensor;
  convolve(context, args);
}

void Convolution::checkOnce(ConvolutionShape s, Options options, bool last) {
  int64_t inputs = s.inputChannels / s.groups, taps = s.kernel[0] * s.kernel[1];
  int64_t height = s.outputHeight * s.phases[0], width = s.outputWidth * s.phases[1];
  auto x = randomFloats(s.batch * s.inputChannels * s.inputHeight * s.inputWidth, 1);
  auto w = randomFloats(s.outputChannels * inputs * taps, 2);
  int64_t outputs = s.batch * s.outputChannels * height * width;
  auto add = randomFloats(outputs, 4);
  Isa isa = context.isa;
  ConvolutionPlan plan = planConvolution(s, isa, options.planarInput, options.winograd);
  AlignedBuffer<float> packed(plan.weightElements());
  packConvolution(context, plan, w.data(), {inputs * taps, taps, s.kernel[1], 1}, packed.data);
  Blocked input(isa, s.batch, s.inputChannels, s.inputHeight, s.inputWidth, options.inputHalo);
  Blocked output(isa, s.batch, s.outputChannels, height, width, options.outputHalo);
  Blocked residual(isa, s.batch, s.outputChannels, height, width, 1);
  blockedFromPlanar(context, planar(x, s.inputChannels, s.inputHeight, s.inputWidth), input.tensor);
  blockedFromPlanar(context, planar(add, s.outputChannels, height, width), residual.tensor);
  expectZerosAround(input.tensor);
  auto bias = randomFloats(output.tensor.blocks() * output.tensor.lanes, 3);
  std::fill(bias.begin() + s.outputChannels, bias.end(), 0.0f);
  auto factors = randomFloats(bias.size(), 5), shifts = randomFloats(bias.size(), 6);
  auto slopes = randomFloats(bias.size(), 7);
  AlignedBuffer<char> workspace(plan.workspaceBytes(input.tensor.halo));
  ConvolutionArgs args;
  args.plan = plan;
  if (plan.kind == ConvolutionKind::Planar)
    args.planar = planar(x, s.inputChannels, s.inputHeight, s.inputWidth);
  else
    args.input = input.tensor;
  args.weights = packed.data;
  args.output = output.tensor;
  args.epilogue.bias = bias.data();
  args.epilogue.activation = options.activation;
  if (options.residual)
    args.residual = residual.tensor;
  // By the activation: each alone, and together.
  bool scales = last && (!options.residual || options.activation != Activation::None);
  bool hasSlopes = last && options.activation <= Activation::Relu;
  if (hasSlopes)
    args.slopes = slopes.data();
  if (scales) {
    args.factors = factors.data();
    args.shifts = shifts.data();
  }
  args.addsResidualLast = last && options.residual;
  args.workspace = workspace.data;
  convolve(context, args);
  expectZerosAround(output.tensor);
  std::vector<float> result(outputs);
  planarFromBlocked(context, output.tensor, planar(result, s.outputChannels, height, width));
  for (int64_t i = 0; i < outputs; ++i) {
    int64_t column = i % width, y = i / width % height;
    int64_t plane = i / width / height, o = plane % s.outputChannels;
    double expected = convolvedAt(s, x, w, plane / s.outputChannels, o, y, column) + bias[o];
    expected += options.residual && !last ? add[i] : 0;
    expected = activated(options.activation, expected);
    expected = hasSlopes && !(expected > 0) ? expected * slopes[o] : expected;
    expected = scales ? expected * factors[o] + shifts[o] : expected;
    expected += options.residual && last ? add[i] : 0;
    ASSERT_NEAR(result[i], expected, options.bound + 1e-6 * std::fabs(expected))
        << s.inputChannels << " to " << s.outputChannels << ", kernel " << s.kernel[0] << ", at " << i;
  }
}

TEST_P(Convolution, PointwiseWithAllTails) {
  for (int64_t in : {1, 3, 16, 20})
    for (int64_t out : {1, 8, 16, 40, 50, 70})
      check(makeShape(2, in, out, 3, 5, 1), {0, 0, false, true, Activation::Relu});
  check(makeShape(1, 32, 64, 9, 8, 1), {1, 1, false, true, Activation::Sigmoid});
  check(makeShape(1, 24, 20, 9, 8, 1, 2), {0, 1, false, false, Activation::Sigmoid});
  check(makeShape(1, 24, 40, 9, 8, 1, 1, 0, 1, 2), {0, 0}); // dilated, which spaces nothing
}

TEST_P(Convolution, Rows) { // of height 1: nothing lies above and below
  auto row = [](ConvolutionShape shape) {
    shape.kernel[0] = shape.stride[0] = shape.dilation[0] = shape.outputHeight = 1;
    shape.padding[0] = 0;
    return shape;
  };
  for (int64_t halo : {0, 2, 8}) {
    check(row(makeShape(2, 20, 33, 1, 37, 3, 1, 1)), {halo, 1, false, true, Activation::Relu});
    check(row(makeShape(1, 16, 64, 1, 50, 5, 2, 2)), {halo, 3});
    check(row(makeShape(1, 9, 24, 1, 40, 3, 1, 8, 1, 8)), {halo, 0, false, true});
    check(row(makeShape(2, 24, 24, 1, 31, 4, 1, 2, 24)), {halo, 2, false, false, Activation::Silu});
    check(row(makeShape(1, 24, 40, 1, 19, 1)), {halo, 1, false, true, Activation::Relu});
    check(row(makeShape(1, 32, 32, 1, 29, 3, 1, 1, 4)), {halo, 1});
  }
  check(row(makeShape(2, 1, 40, 1, 100, 9, 4, 0)), {0, 2, true, false, Activation::Relu});
}

TEST_P(Convolution, PointwiseWithStrides) { // of many outputs: the pixels between are left out first
  for (int64_t out : {24, 100, 200})
    for (int64_t halo : {0, 1}) {
      check(makeShape(3, 20, out, 9, 12, 1, 2), {halo, 1, false, true, Activation::Relu});
      check(makeShape(1, 20, out, 7, 7, 1, 2, 1), {halo, 0});
    }
}

TEST_P(Convolution, ManyImagesOfFewPixels) {
  check(makeShape(40, 24, 104, 5, 5, 1), {0, 0, false, true, Activation::Relu});
  check(makeShape(5, 150, 300, 3, 4, 1), {0, 1, false, true, Activation::Sigmoid, false, 4e-5});
  check(makeShape(9, 24, 70, 7, 7, 3, 1, 1), {1, 1, false, true, Activation::Relu, false, 4e-5});
  check(makeShape(2, 40, 40, 33, 40, 1), {0, 0, false, true});
}

TEST_P(Convolution, ColumnsBehindTheWholeTilesOfRows) {
  for (int64_t height : {7, 9, 14})
    for (int64_t width : {2, 7, 14}) {
      check(makeShape(2, 9, 40, height, width, 3, 1, 1), {1, 1, false, true, Activation::Relu});
      check(makeShape(1, 20, 25, 2 * height, 2 * width, 3, 2, 1), {1, 0, false, true, Activation::Silu});
      check(makeShape(1, 9, 24, height, width, 3, 1, 2, 1, 2), {0, 0, false, true}); // dilated: rows alone
    }
  check(makeShape(1, 300, 30, 7, 7, 3, 1, 1), {1, 2, false, true, Activation::Relu, false, 4e-5}); // chunks
}

TEST(PlaneTiles, TakeColumnsWhereTheyGiveMoreWholeTiles) {
  auto expectTiles = [](PlaneTiles tiles, int64_t columns, int64_t ofRow, int64_t ofColumn) {
    EXPECT_EQ(tiles.columns, columns);
    EXPECT_EQ(tiles.ofRow.tiles, ofRow);
    EXPECT_EQ(tiles.ofColumn.tiles, ofColumn);
  };
  expectTiles(planeTiles(7, 7, 4, 4), 4, 1, 2); // rows of 4 + 3 would have 28 pixels in whole tiles, not 40
  expectTiles(planeTiles(14, 14, 4, 4), 12, 3, 4); // 4 + 4 + 3 + 3
  expectTiles(planeTiles(8, 2, 4, 4), 0, 0, 2);
  expectTiles(planeTiles(8, 12, 4, 4), 12, 3, 0);  // all are whole
  expectTiles(planeTiles(14, 14, 4, 3), 14, 4, 0); // 3 are enough
  expectTiles(planeTiles(5, 7, 4, 4), 7, 2, 0);    // columns of 3 + 2
  expectTiles(planeTiles(1, 7, 4, 4), 7, 2, 0);
}

TEST_P(Convolution, Phases) {
  for (int64_t out : {1, 12, 40, 72})
    for (int64_t halo : {0, 1}) {
      ConvolutionShape shape = makeShape(2, 20, out, 5, 14, 1);
      shape.phases[0] = shape.kernel[0] = 2, shape.phases[1] = shape.kernel[1] = 3;
      shape.padding[0] = 1, shape.padding[1] = 2;
      check(shape, {0, halo, false, true, Activation::Relu});
      check(shape, {1, halo, false, false, Activation::Sigmoid});
    }
  ConvolutionShape row = makeShape(1, 600, 64, 1, 30, 1); // several chunks of weights
  row.phases[0] = row.phases[1] = row.kernel[0] = row.kernel[1] = 2;
  row.padding[0] = row.padding[1] = 1;
  check(row, {0, 1, false, true, Activation::None, false, 4e-5});
}

TEST_P(Convolution, PhasesOfWindowsThatOverlap) {
  for (int64_t kernel : {3, 4, 5, 6})
    for (int64_t padding = 0; padding < kernel; ++padding)
      for (int64_t halo : {0, 2}) {
        ConvolutionShape shape = makeShape(1, 12, 40, 3, 5, 1);
        shape.kernel[0] = kernel, shape.phases[0] = 2, shape.padding[0] = padding;
        shape.kernel[1] = 4, shape.phases[1] = 1 + kernel % 3, shape.padding[1] = 1;
        check(shape, {halo, 1, false, true, Activation::Sigmoid, true, 2e-5});
        shape.outputHeight += 2; // ends behind the input
        check(shape, {halo, 0, false, false, Activation::Relu, true, 2e-5});
      }
}

TEST_P(Convolution, ActivationsInTiles) {
  for (Activation activation :
       {Activation::Relu6, Activation::HardSwish, Activation::HardSigmoid, Activation::Sigmoid})
    for (int64_t out : {12, 40})
      check(makeShape(1, 24, out, 5, 7, 3, 1, 1), {1, 1, false, true, activation, false, 2e-5});
}

TEST_P(Convolution, KernelsStridesPaddingDilation) {
  for (int64_t halo : {0, 1, 3}) {
    check(makeShape(1, 16, 32, 8, 17, 3, 1, 1), {halo, 1, false, true, Activation::Relu});
    check(makeShape(2, 20, 17, 7, 7, 3, 2, 1), {halo, 0});
    check(makeShape(1, 8, 64, 7, 7, 3, 1, 1), {halo, 1});
    check(makeShape(1, 17, 9, 11, 10, 5, 3, 2), {halo, 0});
    check(makeShape(1, 16, 16, 12, 12, 3, 1, 2, 1, 2), {halo, 0});
    check(makeShape(1, 16, 16, 5, 40, 2, 2, 0), {halo, 0});
  }
  check(makeShape(1, 16, 16, 1, 1, 1), {0, 1});
  check(makeShape(1, 16, 48, 1, 9, 1), {0, 1});
}

TEST_P(Convolution, TapsThatMeetPaddingAlone) {
  // Of a pyramid's dilated windows most outputs meet one tap; tiles at the borders meet two or all.
  check(makeShape(1, 40, 24, 14, 14, 3, 1, 12, 1, 12), {12, 1, false, true, Activation::Relu});
  check(makeShape(2, 24, 40, 9, 21, 3, 1, 6, 1, 6), {0, 0});
  check(makeShape(1, 16, 16, 4, 4, 3, 1, 7, 1, 3), {2, 1}); // some outputs meet none
  check(makeShape(1, 17, 16, 9, 9, 3, 3, 6, 1, 5), {0, 0});
  check(makeShape(1, 300, 40, 7, 7, 3, 1, 5, 1, 5), {5, 1, false, true, Activation::Relu, false, 5e-5});
  check(makeShape(1, 48, 48, 8, 8, 3, 1, 4, 2, 4), {4, 0});
  check(makeShape(1, 3, 16, 6, 7, 3, 1, 4, 1, 4), {0, 0, true});
}

TEST_P(Convolution, TapsOutsideOfTheImageAreLeftOut) {
  // An infinite weight makes NaN of what it meets, if that is zero; not of padding in a tile without pixels.
  ConvolutionShape shape = makeShape(1, 8, 16, 3, 3, 3, 1, 3, 1, 3);
  ConvolutionPlan plan = planConvolution(shape, context.isa, false, false);
  std::vector<float> x(8 * 9, 1.0f), w(int64_t(16) * 8 * 9, 1.0f);
  for (int64_t i = 0; i < 16 * 8; ++i)
    for (int64_t tap : {0, 1, 2, 6, 7, 8}) // rows above and below the image
      w[i * 9 + tap] = INFINITY;
  AlignedBuffer<float> packed(plan.weightElements());
  packConvolution(context, plan, w.data(), {72, 9, 3, 1}, packed.data);
  Blocked input(context.isa, 1, 8, 3, 3, 3), output(context.isa, 1, 16, 3, 3, 0);
  blockedFromPlanar(context, planar(x, 8, 3, 3), input.tensor);
  convolveBlocks(context, plan, packed.data, input, output);
  for (int64_t i = 0; i < 16 * 9; ++i)
    ASSERT_EQ(output.memory.data[i], 8) << "at " << i;
}

TEST_P(Convolution, DeepInputsAreChunked) {
  check(makeShape(1, 1800, 40, 3, 5, 1), {0, 1, false, true, Activation::Relu, false, 1e-4});
  check(makeShape(1, 300, 40, 4, 4, 3, 1, 1), {1, 1, false, true, Activation::Relu, false, 5e-5});
}

TEST_P(Convolution, FirstLayersReadPlanes) {
  check(makeShape(2, 3, 64, 20, 23, 7, 2, 3), {0, 1, true, false, Activation::Relu});
  check(makeShape(1, 3, 20, 9, 9, 3, 2, 1), {0, 0, true});
  check(makeShape(1, 1, 16, 8, 8, 3, 1, 2, 1, 2), {0, 0, true});
  check(makeShape(1, 4, 8, 8, 8, 4, 4, 0), {0, 0, true});
}

TEST_P(Convolution, Groups) {
  check(makeShape(1, 32, 32, 5, 6, 3, 1, 1, 2), {1, 0});
  check(makeShape(1, 32, 64, 5, 6, 3, 1, 1, 4), {1, 0});
  check(makeShape(1, 24, 24, 5, 6, 3, 2, 1, 3), {1, 0});
  check(makeShape(1, 12, 36, 5, 6, 3, 1, 1, 12), {1, 0});
  check(makeShape(1, 40, 20, 5, 6, 1, 1, 0, 5), {0, 0});
  for (int64_t width : {1, 2, 3, 8, 24})
    check(makeShape(2, 6 * width, 6 * width, 5, 13, 3, 2, 1, 6), {1, 1, false, true, Activation::Sigmoid});
  check(makeShape(1, 7, 14, 5, 6, 3, 1, 2, 7, 2), {0, 1, false, true, Activation::Relu});
  check(makeShape(1, 64, 4, 5, 6, 1, 1, 0, 4), {0, 0});
}

TEST_P(Convolution, GroupsOfAVectorAndLess) {
  for (int64_t group : {2, 4, 8, 16})
    for (int64_t stride : {1, 2})
      for (int64_t width : {1, 2, 7, 8, 9, 17})
        check(makeShape(1, 3 * group, 3 * group, 3, width, 3, stride, 1, 3),
              {1, 1, false, true, Activation::Relu});
  check(makeShape(1, 32, 32, 6, 9, 5, 1, 2, 4), {2, 0}); // other windows
  check(makeShape(1, 32, 32, 6, 9, 3, 3, 1, 8), {1, 0});
  check(makeShape(1, 32, 32, 6, 9, 3, 1, 2, 8, 2), {2, 0});
  check(makeShape(1, 16, 64, 6, 9, 3, 1, 1, 8), {1, 0}); // more outputs than inputs
  check(makeShape(1, 64, 16, 6, 9, 3, 1, 1, 8), {1, 0});
}

TEST_P(Convolution, GroupsThatShareBlocks) { // of a number of vectors and a half
  int64_t half = floatLanes(context.isa) / 2;
  using Widths = std::pair<int64_t, int64_t>;
  for (auto [in, out] : {Widths{3, 3}, {1, 5}, {5, 7}, {2, 3}, {3, 4}, {4, 3}, {7, 3}})
    for (int64_t groups : {2, 3, 5}) {
      int64_t inputs = in * half * groups, outputs = out * half * groups;
      check(makeShape(2, inputs, outputs, 5, 9, 3, 1, 1, groups), {1, 1, false, true, Activation::Relu});
      check(makeShape(1, inputs, outputs, 8, 7, 3, 2, 1, groups), {0, 0, false, false, Activation::Sigmoid});
      check(makeShape(1, inputs, outputs, 3, 17, 1, 1, 0, groups), {0, 0, false, true, Activation::Gelu});
    }
  check(makeShape(1, 9 * half, 9 * half, 7, 8, 3, 1, 2, 3, 2), {2, 1, false, true}); // dilated
  check(makeShape(2, 3 * half, 3 * half, 1, 1, 1, 1, 0, 1), {0, 1});                 // one group
  // In chunks, also of several images in a part.
  for (int64_t images : {1, 40})
    check(makeShape(images, 150 * half, 6 * half, 3, 2, 3, 1, 1, 2),
          {1, 2, false, true, Activation::Relu, false, 4e-5});
}

TEST_P(Convolution, GroupsOfAnOddNumberOfVectors) {
  int64_t lanes = floatLanes(context.isa);
  for (int64_t width : {3, 5, 7}) {
    int64_t channels = 2 * width * lanes;
    check(makeShape(1, 2 * lanes, channels, 7, 8, 3, 1, 1, 2), {1, 1, false, true, Activation::Relu});
    check(makeShape(2, channels, channels, 5, 3, 1, 2, 0, 2), {0, 0, false, true, Activation::Sigmoid});
  }
}

TEST_P(Convolution, GroupsDoNotTouchEachOther) {
  int64_t half = floatLanes(context.isa) / 2;
  for (auto [width, window] : {std::pair<int64_t, int64_t>{2, 1},
                               {4, 3},
                               {8, 1},
                               {8, 3},
                               {12, 1},
                               {16, 3},
                               {32, 1},
                               {3 * half, 1},
                               {3 * half, 3},
                               {5 * half, 3}}) {
    ConvolutionShape shape = makeShape(1, 3 * width, 3 * width, 4, 4, window, 1, window / 2, 3);
    ConvolutionPlan plan = planConvolution(shape, context.isa, false, true);
    auto x = randomFloats(3 * width * 16), w = randomFloats(3 * width * width * window * window);
    std::fill(x.begin() + width * 16, x.begin() + 2 * width * 16, NAN); // the second group
    AlignedBuffer<float> packed(plan.weightElements());
    packConvolution(context, plan, w.data(), {width * window * window, window * window, window, 1},
                    packed.data);
    Blocked input(context.isa, 1, 3 * width, 4, 4, window / 2), output(context.isa, 1, 3 * width, 4, 4, 0);
    blockedFromPlanar(context, planar(x, 3 * width, 4, 4), input.tensor);
    convolveBlocks(context, plan, packed.data, input, output);
    std::vector<float> result(3 * width * 16);
    planarFromBlocked(context, output.tensor, planar(result, 3 * width, 4, 4));
    for (int64_t i = 0; i < 3 * width * 16; ++i)
      EXPECT_EQ(std::isnan(result[i]), i / 16 / width == 1) << width << ", " << window << " at " << i;
  }
}

TEST_P(Convolution, Depthwise) {
  for (int64_t channels : {2, 16, 20, 33})
    for (int64_t halo : {0, 2}) {
      check(makeShape(2, channels, channels, 7, 13, 3, 1, 1, channels),
            {halo, 1, false, true, Activation::Sigmoid});
      check(makeShape(1, channels, channels, 9, 9, 5, 2, 2, channels),
            {halo, 0, false, false, Activation::Relu});
    }
}

TEST_P(Convolution, DepthwiseWindows) { // those of 3, 5 and 7 taps a row have tiles of their own
  for (int64_t window : {2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      for (int64_t width : {7, 16, 23}) {
        check(makeShape(1, 20, 20, 9, width, window, stride, window / 2, 20),
              {window / 2, 1, false, true, Activation::Relu6, false, 2e-5});
        check(makeShape(2, 9, 9, 8, width, window, stride, window / 2, 9),
              {0, 0, false, false, Activation::Silu, false, 2e-5});
      }
  check(makeShape(1, 20, 20, 12, 13, 3, 1, 2, 20, 2), {2, 0, false, true, Activation::Gelu}); // dilated
}

TEST_P(Convolution, Patches) { // rows of a window as long as a vector, on planes
  for (int64_t window : {8, 16})
    check(makeShape(1, 3, 40, 4 * window, 5 * window, window, window, 0),
          {0, 0, true, false, Activation::None, false, 2e-5});
}

TEST_P(Convolution, LastBlocksOfFewChannels) { // half of whose weights are zeros
  for (int64_t in : {2, 4, 6, 24, 40, 56})
    for (int64_t kernel : {1, 3})
      check(makeShape(2, in, 40, 14, 15, kernel, 1, kernel / 2),
            {1, 1, false, true, Activation::Relu, false, 2e-5});
  check(makeShape(1, 600, 33, 5, 15, 1),
        {0, 0, false, true, Activation::None, false, 5e-5}); // several chunks
}

TEST_P(Convolution, OnePixel) {
  for (int64_t in : {20, 600})
    check(makeShape(1, in, 100, 1, 1, 1), {0, 0, false, true, Activation::HardSigmoid, false, 5e-5});
}

TEST_P(Convolution, DepthwiseRowsOfAnyWidth) {
  for (int64_t width : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 25})
    check(makeShape(1, 18, 18, 3, width, 3, 1, 1, 18), {1, 0, false, true, Activation::HardSwish});
  check(makeShape(1, 4, 4, 40, 40, 7, 1, 3, 4), {3, 1, false, false, Activation::None, false, 2e-5});
}

TEST_P(Convolution, Winograd) {
  for (int64_t halo : {0, 1}) {
    check(makeShape(1, 33, 40, 14, 15, 3, 1, 1), {halo, 1, false, true, Activation::Relu, true, 4e-5});
    check(makeShape(4, 32, 32, 8, 9, 3, 1, 1), {halo, 0, false, false, Activation::Sigmoid, true, 4e-5});
    check(makeShape(1, 192, 72, 6, 6, 3, 1, 1),
          {halo, 0, false, true, Activation::Relu, true, 4e-5}); // F(2,3)
    check(makeShape(1, 48, 70, 16, 14, 3, 1, 0), {halo, 1, false, true, Activation::None, true, 6e-5});
  }
  auto kind = [&](ConvolutionShape shape) { return planConvolution(shape, context.isa, false, true).kind; };
  EXPECT_EQ(kind(makeShape(1, 64, 64, 56, 56, 3, 1, 1)), ConvolutionKind::Winograd4);
  EXPECT_EQ(kind(makeShape(1, 256, 256, 14, 14, 3, 1, 1)), ConvolutionKind::Winograd4);
  EXPECT_EQ(kind(makeShape(4, 512, 512, 7, 7, 3, 1, 1)), ConvolutionKind::Winograd4);
  EXPECT_EQ(kind(makeShape(1, 512, 512, 7, 7, 3, 1, 1)), ConvolutionKind::Winograd2);
  EXPECT_EQ(kind(makeShape(1, 64, 64, 56, 56, 3, 2, 1)), ConvolutionKind::Direct);
  EXPECT_EQ(kind(makeShape(1, 512, 512, 3, 3, 3, 1, 1)), ConvolutionKind::Direct);
  EXPECT_EQ(kind(makeShape(1, 16, 16, 56, 56, 3, 1, 1)), ConvolutionKind::Direct);
  EXPECT_EQ(kind(makeShape(1, 64, 64, 56, 56, 1)), ConvolutionKind::Direct);
}

/// Channels that follow each other for each pixel, of some blocks and of many, the last of which has few.
TEST_P(Convolution, LayoutsOfAnyOrder) {
  for (int64_t channels : {20, 150, 256}) {
    std::vector<float> x = randomFloats(2 * channels * 3 * 5), back(x.size());
    Blocked blocked(context.isa, 2, channels, 3, 5, 2);
    PlanarTensor nhwc{x.data(), {channels * 15, 1, channels * 5, channels}};
    blockedFromPlanar(context, nhwc, blocked.tensor);
    expectZerosAround(blocked.tensor);
    planarFromBlocked(context, blocked.tensor, {back.data(), {channels * 15, 1, channels * 5, channels}});
    EXPECT_EQ(back, x);
    planarFromBlocked(context, blocked.tensor, planar(back, channels, 3, 5));
    for (int64_t i = 0; i < 2 * channels * 15; ++i) {
      int64_t image = i / (channels * 15), channel = i / 15 % channels, pixel = i % 15;
      ASSERT_EQ(back[i], x[(image * 15 + pixel) * channels + channel]) << channels;
    }
  }
}

/// The output with `threads` threads, which `x` and `w` are long enough for.
std::vector<float> convolvedBy(int threads, Isa isa, const ConvolutionShape &s, bool winograd,
                               std::vector<float> x, const std::vector<float> &w) {
  ThreadPool pool(threads);
  Context context{pool, isa};
  ConvolutionPlan plan = planConvolution(s, isa, false, winograd);
  int64_t taps = s.kernel[0] * s.kernel[1];
  AlignedBuffer<float> packed(plan.weightElements());
  packConvolution(context, plan, w.data(), {s.inputChannels * taps, taps, s.kernel[1], 1}, packed.data);
  Blocked input(isa, s.batch, s.inputChannels, s.inputHeight, s.inputWidth, plan.inputHalo());
  Blocked output(isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, 0);
  blockedFromPlanar(context, planar(x, s.inputChannels, s.inputHeight, s.inputWidth), input.tensor);
  AlignedBuffer<char> workspace(plan.workspaceBytes(plan.inputHalo()));
  ConvolutionArgs args;
  args.plan = plan;
  args.input = input.tensor;
  args.weights = packed.data;
  args.output = output.tensor;
  args.workspace = workspace.data;
  convolve(context, args);
  return {output.memory.data, output.memory.data + output.memory.size};
}

TEST_P(Convolution, TheSameForAnyNumberOfThreads) {
  auto x = randomFloats(1 << 16, 1), w = randomFloats(1 << 17, 2);
  for (ConvolutionShape s : {makeShape(1, 32, 64, 20, 20, 3, 1, 1), makeShape(2, 256, 488, 3, 5, 1),
                             makeShape(1, 256, 488, 8, 7, 1, 2), makeShape(2, 64, 96, 16, 18, 3, 1, 1),
                             makeShape(1, 96, 96, 20, 20, 3, 1, 1, 4)})
    for (bool winograd : {false, true}) {
      std::vector<float> first = convolvedBy(1, context.isa, s, winograd, x, w);
      for (int threads : {2, 5})
        EXPECT_EQ(first, convolvedBy(threads, context.isa, s, winograd, x, w)) << s.outputChannels;
    }
}

TEST_P(Convolution, Pooling) {
  for (bool average : {false, true})
    for (bool countPadding : {false, true})
      for (int64_t stride : {1, 2, 3}) {
        const int64_t channels = 20, height = 9, width = 11, kernel = 3, padding = 1;
        auto x = randomFloats(2 * channels * height * width);
        for (float &value : x)
          value -= 2;
        ConvolutionShape s = makeShape(2, channels, channels, height, width, kernel, stride, padding);
        Blocked input(context.isa, 2, channels, height, width, 1);
        Blocked output(context.isa, 2, channels, s.outputHeight, s.outputWidth, 2);
        blockedFromPlanar(context, planar(x, channels, height, width), input.tensor);
        PoolingArgs args{average, countPadding, {3, 3},       {stride, stride}, {1, 1},
                         {1, 1},  {},           input.tensor, output.tensor};
        ::torchere::cpu::pool(context, args);
        expectZerosAround(output.tensor);
        std::vector<float> result(2 * channels * s.outputHeight * s.outputWidth);
        planarFromBlocked(context, output.tensor, planar(result, channels, s.outputHeight, s.outputWidth));
        for (size_t at = 0; at < result.size(); ++at) {
          int64_t column = int64_t(at) % s.outputWidth, row = int64_t(at) / s.outputWidth % s.outputHeight;
          int64_t plane = int64_t(at) / s.outputWidth / s.outputHeight;
          double sum = 0, most = -std::numeric_limits<double>::infinity(), count = 0;
          for (int64_t i = 0; i < kernel; ++i)
            for (int64_t j = 0; j < kernel; ++j) {
              int64_t iy = row * stride + i - padding, ix = column * stride + j - padding;
              if (iy < 0 || ix < 0 || iy >= height || ix >= width)
                continue;
              float value = x[(plane * height + iy) * width + ix];
              sum += value;
              most = std::max<double>(most, value);
              ++count;
            }
          double expected = average ? sum / (countPadding ? 9 : count) : most;
          ASSERT_NEAR(result[at], expected, 1e-6);
        }
      }
}

TEST_P(Convolution, Upsampling) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2, 2}, {1, 3}, {4, 1}})
    for (int64_t channels : {5, 32}) {
      const int64_t height = 5, width = 7;
      auto x = randomFloats(2 * channels * height * width);
      Blocked input(context.isa, 2, channels, height, width, 1);
      Blocked output(context.isa, 2, channels, height * rows, width * columns, 2);
      blockedFromPlanar(context, planar(x, channels, height, width), input.tensor);
      upsample(context, {{rows, columns}, false, input.tensor, output.tensor});
      expectZerosAround(output.tensor);
      std::vector<float> result(x.size() * static_cast<size_t>(rows * columns));
      planarFromBlocked(context, output.tensor, planar(result, channels, height * rows, width * columns));
      for (size_t at = 0; at < result.size(); ++at) {
        int64_t column = int64_t(at) % (width * columns), line = int64_t(at) / (width * columns);
        int64_t row = line % (height * rows), plane = line / (height * rows);
        ASSERT_EQ(result[at], x[(plane * height + row / rows) * width + column / columns]);
      }
    }
}

TEST_P(Convolution, NormsOfChannels) {
  for (int64_t channels : {1, 7, 16, 20, 1100})
    for (bool subtractMean : {true, false})
      for (bool isAffine : {true, false}) {
        const int64_t height = 3, width = 11, pixels = height * width;
        auto x = randomFloats(2 * channels * pixels, 1);
        for (float &value : x)
          value = 3 * value + 5; // a mean beside which the deviations are small
        Blocked input(context.isa, 2, channels, height, width, 2);
        Blocked output(context.isa, 2, channels, height, width, 1);
        blockedFromPlanar(context, planar(x, channels, height, width), input.tensor);
        int64_t padded = output.tensor.blocks() * output.tensor.lanes;
        auto scale = randomFloats(padded, 2), bias = randomFloats(padded, 3);
        std::fill(scale.begin() + channels, scale.end(), 0.0f);
        std::fill(bias.begin() + channels, bias.end(), 0.0f);
        normalizeChannels(context, {subtractMean, 1e-5, input.tensor, isAffine ? scale.data() : nullptr,
                                    isAffine ? bias.data() : nullptr, output.tensor});
        expectZerosAround(output.tensor);
        std::vector<float> result(x.size());
        planarFromBlocked(context, output.tensor, planar(result, channels, height, width));
        for (int64_t at = 0; at < 2 * pixels; ++at) {
          auto place = [&](int64_t c) { return (at / pixels * channels + c) * pixels + at % pixels; };
          double mean = 0, squares = 0;
          for (int64_t c = 0; subtractMean && c < channels; ++c)
            mean += x[place(c)] / double(channels);
          for (int64_t c = 0; c < channels; ++c)
            squares += (x[place(c)] - mean) * (x[place(c)] - mean);
          double factor = 1 / std::sqrt(squares / double(channels) + 1e-5);
          for (int64_t c = 0; c < channels; ++c) {
            double expected = (x[place(c)] - mean) * factor;
            if (isAffine)
              expected = expected * scale[c] + bias[c];
            ASSERT_NEAR(result[place(c)], expected, 2e-5) << channels << " channels, at " << at << ", " << c;
          }
        }
      }
}

TEST_P(Convolution, GlobalAverageAndNotANumber) {
  auto x = randomFloats(2 * 20 * 35);
  Blocked input(context.isa, 2, 20, 5, 7, 1);
  blockedFromPlanar(context, planar(x, 20, 5, 7), input.tensor);
  Blocked mean(context.isa, 2, 20, 1, 1, 0);
  globalAverage(context, input.tensor, mean.tensor);
  expectZerosAround(mean.tensor);
  for (int64_t plane = 0; plane < 40; ++plane) {
    double sum = 0;
    for (int64_t i = 0; i < 35; ++i)
      sum += x[plane * 35 + i];
    int64_t lanes = mean.tensor.lanes, channel = plane % 20;
    ASSERT_NEAR(mean.tensor.at(plane / 20, channel / lanes)[channel % lanes], sum / 35, 1e-6);
  }
  x[3] = NAN;
  blockedFromPlanar(context, planar(x, 20, 5, 7), input.tensor);
  Blocked output(context.isa, 2, 20, 1, 1, 0);
  PoolingArgs args{false, true, {5, 7}, {1, 1}, {0, 0}, {1, 1}, {}, input.tensor, output.tensor};
  ::torchere::cpu::pool(context, args);
  EXPECT_TRUE(std::isnan(output.tensor.data[0]));
  EXPECT_FALSE(std::isnan(output.tensor.data[1]));
}

TORCHERE_EVERY_ISA(Convolution);

} // namespace
} // namespace torchere::cpu
