// Convolutions of any form against the definition.
#include "cpu/kernels/unfolded_convolution.h"
#include "test_values.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

class Unfolded : public EveryIsa {
protected:
  /// Contiguous tensors: input (batch, channels, space), weights (outputs, group's inputs, space).
  struct Case {
    std::vector<ConvolvedAxis> axes;
    int64_t batch = 1; ///< of the input
    int64_t inputs = 1, outputs = 1, groups = 1;
    bool batchGroups = false;
  };

  static UnfoldedConvolution argsOf(const Case &of) {
    UnfoldedConvolution args;
    args.rank = static_cast<int>(of.axes.size());
    int64_t in = 1, kernel = 1, out = 1;
    for (int i = args.rank - 1; i >= 0; --i) {
      ConvolvedAxis &axis = args.axes[i] = of.axes[i];
      args.input.spatial[i] = in;
      args.weights.spatial[i] = kernel;
      args.output.spatial[i] = out;
      in *= axis.input;
      kernel *= axis.kernel;
      out *= axis.output;
    }
    args.groups = of.groups;
    args.batchGroups = of.batchGroups;
    args.batch = of.batchGroups ? of.batch / of.groups : of.batch;
    args.groupInputs = of.batchGroups ? of.inputs : of.inputs / of.groups;
    args.groupOutputs = of.outputs / of.groups;
    args.input.first = in * of.inputs;
    args.input.second = in;
    args.weights.first = kernel * args.groupInputs;
    args.weights.second = kernel;
    args.output.first = out * of.outputs;
    args.output.second = out;
    return args;
  }

  static int64_t sizeOf(const Case &of, int64_t ConvolvedAxis::*extent) {
    int64_t size = 1;
    for (const ConvolvedAxis &axis : of.axes)
      size *= axis.*extent;
    return size;
  }

  /// By the definition, in f64.
  template <class T>
  static std::vector<double> expected(const UnfoldedConvolution &args, const std::vector<T> &input,
                                      const std::vector<T> &weights, int64_t size) {
    std::vector<double> result(size);
    int64_t positions = 1, taps = 1;
    for (int i = 0; i < args.rank; ++i) {
      positions *= args.axes[i].output;
      taps *= args.axes[i].kernel;
    }
    for (int64_t n = 0; n < args.batch; ++n)
      for (int64_t o = 0; o < args.groups * args.groupOutputs; ++o)
        for (int64_t p = 0; p < positions; ++p) {
          double sum = 0;
          int64_t group = o / args.groupOutputs;
          for (int64_t c = 0; c < args.groupInputs; ++c)
            for (int64_t t = 0; t < taps; ++t) {
              int64_t place = p, tap = t, from = 0, by = 0;
              bool isInside = true;
              for (int i = args.rank - 1; i >= 0; --i) {
                const ConvolvedAxis &axis = args.axes[i];
                int64_t k = tap % axis.kernel;
                int64_t at = place % axis.output * axis.stride - axis.padding + k * axis.kernelDilation;
                isInside &= at >= 0 && at % axis.inputDilation == 0 && at / axis.inputDilation < axis.input;
                from += at / axis.inputDilation * args.input.spatial[i];
                by += (axis.reversed ? axis.kernel - 1 - k : k) * args.weights.spatial[i];
                tap /= axis.kernel;
                place /= axis.output;
              }
              if (!isInside)
                continue;
              int64_t image = args.batchGroups ? group * args.batch + n : n;
              int64_t channel = args.batchGroups ? c : group * args.groupInputs + c;
              sum += double(input[image * args.input.first + channel * args.input.second + from]) *
                     double(weights[o * args.weights.first + c * args.weights.second + by]);
            }
          result[(n * args.groups * args.groupOutputs + o) * positions + p] = sum;
        }
    return result;
  }

  void check(const Case &of) {
    UnfoldedConvolution args = argsOf(of);
    auto input = randomFloats(of.batch * of.inputs * sizeOf(of, &ConvolvedAxis::input));
    auto weights = randomFloats(of.outputs * args.groupInputs * sizeOf(of, &ConvolvedAxis::kernel), 2);
    int64_t size = args.batch * of.outputs * sizeOf(of, &ConvolvedAxis::output);
    std::vector<float> output(size, 99.0f);
    args.input.data = input.data();
    args.weights.data = weights.data();
    args.output.data = output.data();
    AlignedBuffer<uint8_t> workspace(unfoldedWorkspaceBytes(args));
    convolveUnfolded(context, args, workspace.data);
    auto sums = expected(args, input, weights, size);
    for (int64_t i = 0; i < size; ++i)
      ASSERT_NEAR(output[i], sums[i], 1e-5) << i;
  }
};

ConvolvedAxis axis(int64_t input, int64_t output, int64_t kernel, int64_t stride = 1, int64_t padding = 0,
                   int64_t inputDilation = 1, int64_t kernelDilation = 1, bool reversed = false) {
  return {input, output, kernel, stride, padding, inputDilation, kernelDilation, reversed};
}

TEST_P(Unfolded, TransposedConvolutions) {
  check({{axis(7, 15, 3, 1, 1, 2), axis(9, 20, 4, 1, 2, 2)}, 2, 5, 6, 1});
  check({{axis(5, 13, 2, 1, 0, 3), axis(6, 17, 5, 1, 3, 3, 1, true)}, 1, 3, 4, 1});
  check({{axis(5, 8, 3, 2, 1, 4, 3)}, 2, 4, 6, 2}); // strides and dilations of both
}

TEST_P(Unfolded, GroupsAndPadding) {
  check({{axis(9, 9, 3, 1, 1), axis(11, 6, 3, 2, 1)}, 2, 12, 12, 4});
  check({{axis(9, 4, 3, 1, -2), axis(8, 8, 1)}, 1, 2, 3, 1}); // padding that cuts
  check({{axis(6, 4, 3), axis(6, 4, 3)}, 6, 4, 9, 3, true});  // batch groups
  check({{}, 3, 5, 4, 1});                                    // no axes
}

TEST_P(Unfolded, ThreeAxes) {
  check({{axis(4, 4, 3, 1, 1), axis(5, 3, 2, 2, 1), axis(33, 31, 3)}, 2, 3, 5, 1});
}

/// As in gradients of weights.
TEST_P(Unfolded, LongRowsOfTaps) {
  check({{axis(20, 3, 20, 1, 1), axis(20, 3, 20, 1, 1)}, 6, 2, 6, 6, true});
  check({{axis(17, 2, 8, 2, 0, 1, 2), axis(41, 5, 37, 1, 0)}, 2, 4, 4, 2});
  check({{axis(9, 4, 9, 3, 4, 1, 1, true), axis(30, 7, 29, 2, 6)}, 1, 3, 2, 1});
  check({{axis(100, 1, 100)}, 1, 8, 8, 8});
  check({{axis(20, 19, 20, 1, 9)}, 2, 1, 4, 1});
  check({{axis(18, 4, 17, 1, -1), axis(3, 3, 3, 1, 1), axis(40, 3, 38, 1)}, 1, 2, 2, 1}); // padding that cuts
  check({{axis(5, 30, 16, 1, 20)}, 1, 1, 1, 1});                                          // shorter rows
  check({{axis(2, 10, 16, 1, 12)}, 1, 1, 1, 1}); // some outputs see nothing
}

TEST_P(Unfolded, ManyPositions) {
  check({{axis(60, 60, 3, 1, 1), axis(70, 70, 3, 1, 1)}, 1, 4, 4, 2});
}

TEST_P(Unfolded, IntegersWrap) {
  UnfoldedConvolution args = argsOf({{axis(4, 3, 2)}, 1, 1, 1, 1});
  std::vector<int8_t> input = {100, 100, -5, 7}, weights = {1, 2}, output(3);
  args.type = args.resultType = DType::I8;
  args.input.data = input.data();
  args.weights.data = weights.data();
  args.output.data = output.data();
  AlignedBuffer<uint8_t> workspace(unfoldedWorkspaceBytes(args));
  convolveUnfolded(context, args, workspace.data);
  EXPECT_EQ(output, (std::vector<int8_t>{int8_t(300 - 256), 90, 9}));
  std::vector<int32_t> wide(3);
  args.resultType = DType::I32;
  args.output.data = wide.data();
  convolveUnfolded(context, args, workspace.data);
  EXPECT_EQ(wide, (std::vector<int32_t>{300, 90, 9}));
}

/// A product with a zero between the elements is NaN then.
TEST_P(Unfolded, InfiniteWeightsMeetTheZerosBetween) {
  UnfoldedConvolution args = argsOf({{axis(2, 4, 2, 1, 1, 2)}, 1, 1, 1, 1});
  std::vector<float> input = {1, 2}, weights = {INFINITY, 1}, output(4);
  args.input.data = input.data();
  args.weights.data = weights.data();
  args.output.data = output.data();
  AlignedBuffer<uint8_t> workspace(unfoldedWorkspaceBytes(args));
  convolveUnfolded(context, args, workspace.data);
  EXPECT_TRUE(std::isnan(output[0]) && std::isnan(output[2]));
  EXPECT_EQ(output[1], INFINITY);
  EXPECT_EQ(output[3], INFINITY);
}

TEST_P(Unfolded, DoublesAndHalves) {
  UnfoldedConvolution args = argsOf({{axis(3, 2, 2)}, 1, 1, 1, 1});
  std::vector<double> input = {1e10, 1, 3}, weights = {1, 1e-10}, output(2);
  args.type = args.resultType = DType::F64;
  args.input.data = input.data();
  args.weights.data = weights.data();
  args.output.data = output.data();
  AlignedBuffer<uint8_t> workspace(unfoldedWorkspaceBytes(args));
  convolveUnfolded(context, args, workspace.data);
  EXPECT_EQ(output, (std::vector<double>{1e10 + 1e-10, 1 + 3e-10}));
  std::vector<uint16_t> halves = {f16OfFloat(1), f16OfFloat(2), f16OfFloat(3)}, sums(2);
  std::vector<uint16_t> factors = {f16OfFloat(0.5f), f16OfFloat(4)};
  args.type = args.resultType = DType::F16;
  args.input.data = halves.data();
  args.weights.data = factors.data();
  args.output.data = sums.data();
  convolveUnfolded(context, args, workspace.data);
  EXPECT_EQ(sums, (std::vector<uint16_t>{f16OfFloat(8.5f), f16OfFloat(13)}));
}

TORCHERE_EVERY_ISA(Unfolded);

} // namespace
} // namespace torchere::cpu
