// Pairs of a convolution and a depthwise one of its result: the bits of both, one after the other.
#include "blocked_values.h"

#include <algorithm>
#include <optional>

namespace torchere::cpu {
namespace {

class ConvolutionPair : public EveryIsa {
protected:
  /// Of each convolution.
  struct Options {
    Activation activation = Activation::None;
    bool hasBias = false;
    bool hasLastStage = false; ///< slopes, factors and shifts
    bool hasResidual = false;
    int64_t outputHalo = 0;
    bool isPlanar = false;
  };
  void check(const ConvolutionShape &first, const Options &options, const ConvolutionShape &depthwise,
             const Options &last, int threads = 0);
};

/// A convolution with weights and operands of its own.
struct Operands {
  Operands(const Context &context, const ConvolutionShape &shape, bool isPlanar, int seed)
      : plan(planConvolution(shape, context.isa, isPlanar, false)), packed(plan.weightElements()),
        workspace(plan.workspaceBytes({})) {
    int64_t inputs = shape.inputChannels / shape.groups, width = shape.kernel[1];
    int64_t taps = shape.kernel[0] * width;
    auto weights = randomFloats(shape.outputChannels * inputs * taps, seed);
    packConvolution(context, plan, weights.data(), {inputs * taps, taps, width, 1}, packed.data);
    int64_t lanes = floatLanes(context.isa);
    channels = randomFloats((shape.outputChannels + lanes - 1) / lanes * lanes, seed + 1);
    std::fill(channels.begin() + shape.outputChannels, channels.end(), 0.0f);
  }
  ConvolutionArgs args(Activation activation, bool hasBias, bool hasLastStage) const {
    ConvolutionArgs args;
    args.plan = plan;
    args.weights = packed.data;
    args.workspace = workspace.data;
    args.epilogue.activation = activation;
    if (hasBias)
      args.epilogue.bias = channels.data();
    if (hasLastStage)
      args.slopes = args.factors = args.shifts = channels.data();
    return args;
  }
  ConvolutionPlan plan;
  AlignedBuffer<float> packed;
  AlignedBuffer<char> workspace;
  std::vector<float> channels;
};

void ConvolutionPair::check(const ConvolutionShape &s, const Options &options, const ConvolutionShape &w,
                            const Options &last, int threads) {
  std::optional<ThreadPool> own;
  if (threads > 0)
    own.emplace(threads);
  Context here{own ? *own : context.pool, context.isa};
  Operands first(here, s, options.isPlanar, 1), second(here, w, false, 3);
  ASSERT_TRUE(canJoin(first.plan, second.plan));
  auto x = randomFloats(s.batch * s.inputChannels * s.inputHeight * s.inputWidth, 5);
  auto add = randomFloats(w.batch * w.outputChannels * w.outputHeight * w.outputWidth, 6);
  Blocked input(here.isa, s.batch, s.inputChannels, s.inputHeight, s.inputWidth, first.plan.inputHalo());
  blockedFromPlanar(here, planar(x, s.inputChannels, s.inputHeight, s.inputWidth), input.tensor);
  Blocked residual(here.isa, w.batch, w.outputChannels, w.outputHeight, w.outputWidth, 1);
  blockedFromPlanar(here, planar(add, w.outputChannels, w.outputHeight, w.outputWidth), residual.tensor);
  Blocked middle(here.isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, second.plan.inputHalo());
  auto makeOutput = [&] {
    return Blocked(here.isa, w.batch, w.outputChannels, w.outputHeight, w.outputWidth, last.outputHalo);
  };
  Blocked expected = makeOutput(), output = makeOutput();
  ConvolutionArgs ofFirst = first.args(options.activation, options.hasBias, options.hasLastStage);
  ConvolutionArgs ofSecond = second.args(last.activation, last.hasBias, last.hasLastStage);
  ofFirst.input = input.tensor;
  if (options.isPlanar)
    ofFirst.planar = planar(x, s.inputChannels, s.inputHeight, s.inputWidth);
  if (last.hasResidual)
    ofSecond.residual = residual.tensor;
  ofSecond.addsResidualLast = last.hasResidual && last.hasLastStage;
  ofSecond.output = output.tensor;
  convolvePair(here, ofFirst, ofSecond);
  ofFirst.output = ofSecond.input = middle.tensor;
  ofSecond.output = expected.tensor;
  convolve(here, ofFirst);
  convolve(here, ofSecond);
  expectZerosAround(output.tensor);
  for (int64_t i = 0; i < expected.memory.size; ++i)
    ASSERT_EQ(output.memory.data[i], expected.memory.data[i])
        << s.inputChannels << " to " << s.outputChannels << ", windows of " << w.kernel[0] << ", at " << i;
}

/// A depthwise one of the result.
ConvolutionShape windowOn(const ConvolutionShape &s, int64_t kernel, int64_t stride, int64_t padding,
                          int64_t dilation = 1) {
  return makeShape(s.batch, s.outputChannels, s.outputChannels, s.outputHeight, s.outputWidth, kernel, stride,
                   padding, s.outputChannels, dilation);
}

TEST_P(ConvolutionPair, WindowsAndStrides) {
  for (int64_t outputs : {2, 16, 33, 72})
    for (int64_t kernel : {2, 3, 5, 7})
      for (int64_t stride : {1, 2, 3}) {
        ConvolutionShape shape = makeShape(2, 20, outputs, 9, 13, 1);
        check(shape, {Activation::Relu, true}, windowOn(shape, kernel, stride, kernel / 2),
              {Activation::Relu6, true, false, false, 1});
      }
}

TEST_P(ConvolutionPair, StridesBeyondTheWindow) {
  ConvolutionShape shape = makeShape(1, 8, 40, 11, 9, 1);
  check(shape, {}, windowOn(shape, 1, 2, 0), {});
  check(shape, {}, windowOn(shape, 2, 4, 1), {});
}

TEST_P(ConvolutionPair, DilatedWindowsAndMuchPadding) {
  ConvolutionShape shape = makeShape(1, 8, 40, 11, 9, 1);
  check(shape, {Activation::None, true}, windowOn(shape, 3, 1, 2, 2), {});
  check(shape, {Activation::None, true}, windowOn(shape, 3, 2, 5), {}); // rows of padding alone
}

TEST_P(ConvolutionPair, BandsOfRows) { // more of them than one band in between holds
  for (int threads : {1, 2, 3, 8})
    for (int64_t kernel : {3, 5})
      for (int64_t stride : {1, 2}) {
        ConvolutionShape shape = makeShape(1, 24, 72, 96, 60, 1);
        check(shape, {Activation::HardSwish, true}, windowOn(shape, kernel, stride, kernel / 2),
              {Activation::HardSwish, true}, threads);
      }
}

TEST_P(ConvolutionPair, WhatFollowsEither) {
  ConvolutionShape shape = makeShape(2, 20, 40, 10, 12, 1);
  for (Activation activation : {Activation::None, Activation::Silu, Activation::Gelu, Activation::Sigmoid})
    for (bool hasLastStage : {false, true})
      for (bool hasResidual : {false, true})
        check(shape, {activation, true, hasLastStage}, windowOn(shape, 3, 1, 1),
              {activation, true, hasLastStage, hasResidual});
}

TEST_P(ConvolutionPair, FirstOnesOfAnyWindow) {
  for (bool isPlanar : {false, true})
    for (int64_t stride : {1, 2}) {
      ConvolutionShape shape = makeShape(2, 3, 24, 20, 18, 3, stride, 1);
      check(shape, {Activation::Relu, true, false, false, 0, isPlanar}, windowOn(shape, 3, 1, 1),
            {Activation::Relu, true});
    }
  ConvolutionShape chunked = makeShape(1, 600, 48, 14, 14, 1);
  check(chunked, {Activation::Silu, true}, windowOn(chunked, 5, 1, 2), {Activation::Silu, true});
}

TEST_P(ConvolutionPair, IsNotMadeOfOthers) {
  auto plan = [&](const ConvolutionShape &shape) { return planConvolution(shape, context.isa, false, true); };
  ConvolutionShape point = makeShape(1, 8, 40, 11, 9, 1), window = windowOn(point, 3, 1, 1);
  EXPECT_TRUE(canJoin(plan(point), plan(window)));
  EXPECT_FALSE(canJoin(plan(point), plan(makeShape(1, 40, 40, 11, 9, 3, 1, 1))));       // no depthwise one
  EXPECT_FALSE(canJoin(plan(windowOn(point, 3, 1, 1)), plan(window)));                  // two of them
  EXPECT_FALSE(canJoin(plan(makeShape(1, 8, 40, 11, 9, 3, 1, 2, 1, 2)), plan(window))); // dilated
  EXPECT_FALSE(canJoin(plan(point), plan(makeShape(1, 40, 40, 11, 8, 3, 1, 1, 40))));   // another width
  EXPECT_FALSE(canJoin(plan(point), plan(makeShape(2, 40, 40, 11, 9, 3, 1, 1, 40))));   // more images
  ConvolutionShape high = makeShape(1, 8, 40, 300, 9, 1);
  EXPECT_TRUE(canJoin(plan(high), plan(windowOn(high, 3, 1, 1))));
  EXPECT_FALSE(canJoin(plan(high), plan(windowOn(high, 3, 1, 4000, 4000)))); // taps so far apart
  ConvolutionShape row = makeShape(1, 8, 40, 1, 9, 1);
  EXPECT_FALSE(canJoin(plan(row), plan(windowOn(row, 1, 1, 0)))); // of one row there are no bands
}

TORCHERE_EVERY_ISA(ConvolutionPair);

} // namespace
} // namespace torchere::cpu
