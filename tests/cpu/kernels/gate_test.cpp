// Convolutions with a gate of their input's channels, against sums in f64.
#include "blocked_values.h"

#include <algorithm>
#include <cmath>

namespace torchere::cpu {
namespace {

class Gate : public EveryIsa {
protected:
  void check(const ConvolutionShape &shape, Activation activation, bool hasResidual);
};

void Gate::check(const ConvolutionShape &s, Activation activation, bool hasResidual) {
  int64_t pixels = s.inputHeight * s.inputWidth, results = s.outputHeight * s.outputWidth;
  auto x = randomFloats(s.batch * s.inputChannels * pixels, 1);
  auto w = randomFloats(s.outputChannels * s.inputChannels, 2);
  auto add = randomFloats(s.batch * s.outputChannels * results, 3);
  ConvolutionPlan plan = planConvolution(s, context.isa, false, true);
  ASSERT_TRUE(canGate(plan));
  AlignedBuffer<float> packed(plan.weightElements());
  packConvolution(context, plan, w.data(), {s.inputChannels, 1, 1, 1}, packed.data);
  Blocked input(context.isa, s.batch, s.inputChannels, s.inputHeight, s.inputWidth, 0);
  Blocked gate(context.isa, s.batch, s.inputChannels, 1, 1, 0);
  Blocked output(context.isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, 1);
  Blocked residual(context.isa, s.batch, s.outputChannels, s.outputHeight, s.outputWidth, 0);
  auto factors = randomFloats(s.batch * s.inputChannels, 4);
  std::transform(factors.begin(), factors.end(), factors.begin(), [](float v) { return std::fabs(v); });
  blockedFromPlanar(context, planar(x, s.inputChannels, s.inputHeight, s.inputWidth), input.tensor);
  blockedFromPlanar(context, planar(factors, s.inputChannels, 1, 1), gate.tensor);
  blockedFromPlanar(context, planar(add, s.outputChannels, s.outputHeight, s.outputWidth), residual.tensor);
  AlignedBuffer<char> workspace(plan.workspaceBytes({}));
  ConvolutionArgs args;
  args.plan = plan;
  args.input = input.tensor;
  args.weights = packed.data;
  args.gate = gate.tensor.data;
  args.output = output.tensor;
  args.epilogue.activation = activation;
  args.workspace = workspace.data;
  if (hasResidual)
    args.residual = residual.tensor;
  convolve(context, args);
  expectZerosAround(output.tensor);
  std::vector<float> result(add.size());
  planarFromBlocked(context, output.tensor, planar(result, s.outputChannels, s.outputHeight, s.outputWidth));
  for (int64_t i = 0; i < std::ssize(result); ++i) {
    int64_t column = i % s.outputWidth, row = i / s.outputWidth % s.outputHeight, plane = i / results;
    int64_t o = plane % s.outputChannels, image = plane / s.outputChannels;
    double sum = hasResidual ? add[i] : 0;
    for (int64_t c = 0; c < s.inputChannels; ++c) {
      int64_t place = row * s.stride[0] * s.inputWidth + column * s.stride[1];
      sum += double(x[(image * s.inputChannels + c) * pixels + place]) *
             factors[image * s.inputChannels + c] * w[o * s.inputChannels + c];
    }
    ASSERT_NEAR(result[i], activated(activation, sum), 2e-5) << s.inputChannels << " channels, at " << i;
  }
}

TEST_P(Gate, OfEachImage) {
  for (int64_t channels : {2, 20, 33, 72})
    for (int64_t outputs : {5, 24, 48})
      check(makeShape(3, channels, outputs, 9, 13, 1), Activation::Relu, true);
}

TEST_P(Gate, OfSeveralChunks) {
  check(makeShape(2, 600, 33, 12, 10, 1), Activation::Silu, true);
}

TEST_P(Gate, OfPixelsThatAreSkipped) {
  check(makeShape(1, 40, 24, 9, 8, 1, 2), Activation::None, false);
  check(makeShape(1, 40, 200, 9, 8, 1, 2), Activation::None, false); // left out of a copy first
}

TEST_P(Gate, IsTakenByPointsAlone) {
  auto takes = [&](const ConvolutionShape &shape, bool isPlanar = false) {
    return canGate(planConvolution(shape, context.isa, isPlanar, true));
  };
  EXPECT_TRUE(takes(makeShape(1, 16, 16, 9, 9, 1)));
  EXPECT_FALSE(takes(makeShape(1, 16, 16, 9, 9, 3, 1, 1)));
  EXPECT_FALSE(takes(makeShape(1, 64, 64, 9, 9, 1, 1, 0, 2)));
  EXPECT_FALSE(takes(makeShape(1, 16, 16, 9, 9, 1, 1, 0, 16)));
  EXPECT_FALSE(takes(makeShape(1, 3, 16, 9, 9, 1), true));
  ConvolutionShape volume = makeShape(4, 16, 16, 9, 9, 1);
  volume.depth = {4, 4, 1, 1, 0, 1};
  EXPECT_FALSE(takes(volume));
}

TORCHERE_EVERY_ISA(Gate);

} // namespace
} // namespace torchere::cpu
