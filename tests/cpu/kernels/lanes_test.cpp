// Group norms, and channels in another order, of blocked tensors against plain loops.
#include "blocked_values.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace torchere::cpu {
namespace {

class Lanes : public EveryIsa {};

struct GroupCase {
  int64_t items, depth, channels, groups, height, width;
};

double expectedNorm(const GroupCase &c, const std::vector<float> &x, int64_t item, int64_t channel,
                    float value, double epsilon) {
  int64_t size = c.channels / c.groups, first = channel / size * size, pixels = c.height * c.width;
  double mean = 0, squares = 0, count = double(size * c.depth * pixels);
  auto each = [&](auto body) {
    for (int64_t image = item * c.depth; image < (item + 1) * c.depth; ++image)
      for (int64_t i = first * pixels; i < (first + size) * pixels; ++i)
        body(double(x[image * c.channels * pixels + i]));
  };
  each([&](double v) { mean += v / count; });
  each([&](double v) { squares += (v - mean) * (v - mean); });
  return (value - mean) / std::sqrt(squares / count + epsilon);
}

void check(const Context &context, const GroupCase &c, Activation activation, bool isAffine) {
  const int64_t images = c.items * c.depth, pixels = c.height * c.width;
  auto x = randomFloats(images * c.channels * pixels);
  for (int64_t i = 0; i < int64_t(x.size()); ++i) // a mean of its own for each channel
    x[i] = 2 * x[i] + 100 + float(i / pixels % c.channels % 7);
  Blocked input(context.isa, images, c.channels, c.height, c.width, 2);
  Blocked output(context.isa, images, c.channels, c.height, c.width, 1);
  blockedFromPlanar(context, planar(x, c.channels, c.height, c.width), input.tensor);
  for (int64_t lane = c.channels % input.tensor.lanes; lane > 0 && lane < input.tensor.lanes; ++lane)
    input.tensor.at(0, input.tensor.blocks() - 1)[lane] = NAN; // they are no part of a group
  auto scale = randomFloats(c.channels, 2), bias = randomFloats(c.channels, 3);
  GroupNormArgs args{c.groups, c.depth, 1e-5, activation, input.tensor, nullptr, nullptr, output.tensor};
  if (isAffine) {
    args.scale = scale.data();
    args.bias = bias.data();
  }
  normalizeGroups(context, args);
  expectZerosAround(output.tensor);
  std::vector<float> result(x.size());
  planarFromBlocked(context, output.tensor, planar(result, c.channels, c.height, c.width));
  for (int64_t i = 0; i < int64_t(x.size()); i += std::max<int64_t>(1, int64_t(x.size()) / 200)) {
    int64_t channel = i / pixels % c.channels, item = i / pixels / c.channels / c.depth;
    double expected = expectedNorm(c, x, item, channel, x[i], 1e-5);
    if (isAffine)
      expected = expected * scale[channel] + bias[channel];
    ASSERT_NEAR(result[i], activated(activation, expected), 4e-5)
        << c.channels << " channels in " << c.groups << " groups, at " << i;
  }
}

TEST_P(Lanes, NormsOfGroups) {
  const GroupCase cases[] = {
      {1, 1, 64, 1, 9, 11},                      // all blocks
      {2, 1, 64, 4, 5, 3},                       // whole blocks
      {2, 1, 40, 20, 7, 6},                      // parts of blocks
      {1, 1, 60, 6, 4, 4},                       // neither
      {3, 1, 5, 5, 3, 70},                       // a channel each
      {2, 3, 12, 3, 5, 7},                       // of several images
      {1, 1, 24, 2, 1, 700},                     // rows longer than what is summed at a time
      {1, 1, 8, 2, 60, 50},  {1, 1, 7, 7, 1, 1}, // one pixel: the variance is zero
  };
  for (const GroupCase &each : cases) {
    check(context, each, Activation::None, true);
    check(context, each, Activation::Silu, true);
    check(context, each, Activation::Sigmoid, false); // which makes no zero of zero
  }
}

TEST_P(Lanes, TheSameForAnyNumberOfThreads) {
  auto x = randomFloats(40 * 13 * 9);
  std::vector<float> results[2];
  for (int threads : {1, 2}) {
    ThreadPool own(threads);
    Context here{own, context.isa};
    Blocked input(here.isa, 1, 40, 13, 9, 0), output(here.isa, 1, 40, 13, 9, 0);
    blockedFromPlanar(here, planar(x, 40, 13, 9), input.tensor);
    GroupNormArgs args;
    args.groups = 4;
    args.input = input.tensor;
    args.output = output.tensor;
    normalizeGroups(here, args);
    results[threads - 1].assign(output.tensor.data, output.tensor.data + output.tensor.elements());
  }
  EXPECT_EQ(results[0], results[1]);
}

void check(const Context &context, const std::vector<int64_t> &sizes, const std::vector<int64_t> &channels) {
  const int64_t batch = 2, height = 5, width = 7, pixels = height * width;
  std::vector<std::vector<float>> values;
  std::vector<std::unique_ptr<Blocked>> blocked;
  std::vector<BlockedTensor> inputs;
  for (int64_t size : sizes) {
    values.push_back(randomFloats(batch * size * pixels, uint32_t(values.size() + 1)));
    blocked.push_back(std::make_unique<Blocked>(context.isa, batch, size, height, width, values.size() % 3));
    inputs.push_back(blocked.back()->tensor);
    blockedFromPlanar(context, planar(values.back(), size, height, width), inputs.back());
  }
  auto count = static_cast<int64_t>(channels.size());
  Blocked output(context.isa, batch, count, height, width, 1);
  chooseChannels(context, {inputs, channels, output.tensor});
  expectZerosAround(output.tensor);
  std::vector<float> result(static_cast<size_t>(batch * count * pixels));
  planarFromBlocked(context, output.tensor, planar(result, count, height, width));
  for (int64_t i = 0; i < int64_t(result.size()); ++i) {
    int64_t channel = channels[i / pixels % count], image = i / pixels / count;
    size_t input = 0;
    for (; channel >= sizes[input]; ++input)
      channel -= sizes[input];
    ASSERT_EQ(result[i], values[input][(image * sizes[input] + channel) * pixels + i % pixels]) << "at " << i;
  }
}

std::vector<int64_t> channelsFrom(int64_t begin, int64_t end, int64_t step = 1) {
  std::vector<int64_t> channels;
  for (int64_t channel = begin; channel < end; channel += step)
    channels.push_back(channel);
  return channels;
}

TEST_P(Lanes, ChannelsInAnotherOrder) {
  check(context, {12, 12}, channelsFrom(0, 24)); // joined
  check(context, {3, 1, 5, 2, 20}, channelsFrom(0, 31));
  check(context, {40}, channelsFrom(5, 38)); // a slice
  check(context, {40}, channelsFrom(1, 40, 3));
  std::vector<int64_t> shuffled;
  for (int64_t channel = 0; channel < 29; ++channel)
    shuffled.insert(shuffled.end(), {channel, 29 + channel});
  check(context, {58}, shuffled);
  std::vector<int64_t> apart; // a block for each lane
  for (int64_t lane = 0; lane < 17; ++lane)
    apart.push_back(lane * 37 % 320);
  check(context, {320}, apart);
}

TORCHERE_EVERY_ISA(Lanes);

} // namespace
} // namespace torchere::cpu
