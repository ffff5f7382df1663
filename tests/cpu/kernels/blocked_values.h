// Blocked tensors with memory, and shapes of convolutions, for the tests of kernels on them.
#pragma once

#include "cpu/kernels/convolution.h"
#include "test_values.h"

namespace torchere::cpu {

inline Halo haloOf(int64_t size, int64_t height) {
  return {height == 1 ? 0 : size, size};
}

/// A blocked tensor with memory that begins as NaN, so that whatever is not written shows.
struct Blocked {
  Blocked(Isa isa, int64_t batch, int64_t channels, int64_t height, int64_t width, const Halo &halo)
      : tensor{nullptr, batch, channels, height, width, halo, floatLanes(isa)},
        memory(tensor.elements(), NAN) {
    tensor.data = memory.data;
  }
  /// With as many columns as rows around it; a row has none above and below.
  Blocked(Isa isa, int64_t batch, int64_t channels, int64_t height, int64_t width, int64_t halo)
      : Blocked(isa, batch, channels, height, width, haloOf(halo, height)) {}
  BlockedTensor tensor;
  AlignedBuffer<float> memory;
};

inline PlanarTensor planar(std::vector<float> &data, int64_t channels, int64_t height, int64_t width) {
  return {data.data(), {channels * height * width, height * width, width, 1}};
}

inline void expectZerosAround(const BlockedTensor &t) {
  for (int64_t image = 0; image < t.batch; ++image)
    for (int64_t block = 0; block < t.blocks(); ++block)
      for (int64_t y = -t.halo.rows; y < t.height + t.halo.rows; ++y)
        for (int64_t x = -t.halo.columns; x < t.width + t.halo.columns; ++x)
          for (int64_t lane = 0; lane < t.lanes; ++lane) {
            bool inside =
                y >= 0 && y < t.height && x >= 0 && x < t.width && block * t.lanes + lane < t.channels;
            float value = t.at(image, block)[(y * t.paddedWidth() + x) * t.lanes + lane];
            if (!inside) {
              ASSERT_EQ(value, 0) << "at " << block << ", " << y << ", " << x << ", " << lane;
            }
          }
}

inline ConvolutionShape makeShape(int64_t batch, int64_t in, int64_t out, int64_t height, int64_t width,
                                  int64_t kernel, int64_t stride = 1, int64_t padding = 0, int64_t groups = 1,
                                  int64_t dilation = 1) {
  ConvolutionShape shape;
  shape.batch = batch;
  shape.inputChannels = in;
  shape.outputChannels = out;
  shape.inputHeight = height;
  shape.inputWidth = width;
  shape.kernel[0] = shape.kernel[1] = kernel;
  shape.stride[0] = shape.stride[1] = stride;
  shape.padding[0] = shape.padding[1] = padding;
  shape.dilation[0] = shape.dilation[1] = dilation;
  shape.groups = groups;
  int64_t reach = (kernel - 1) * dilation + 1;
  shape.outputHeight = (height + 2 * padding - reach) / stride + 1;
  shape.outputWidth = (width + 2 * padding - reach) / stride + 1;
  return shape;
}

} // namespace torchere::cpu
