// Implements convolutions by patches: a part is some pixels of one image and group.
#include "cpu/kernels/patch_convolution.h"

#include "cpu/kernels/gemm.h"
#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>
#include <cstring>

namespace torchere::cpu {
namespace {

/// Elements of a part's patches: they stay in the L2 cache.
constexpr int64_t kPatchElements = 1 << 16;
constexpr int64_t kFewestPixels = 64;
// Scratch slots that products do not use.
constexpr int kPatches = 4;
constexpr int kPacked = 5;

class Patches {
public:
  Patches(const Context &context, const PatchConvolutionArgs &args)
      : context_(context), args_(args), shape_(*args.convolution), size_(byteSize(shape_.type)) {
    for (const PatchDimension &dimension : shape_.space) {
      pixels_ *= dimension.output;
      taps_ *= dimension.kernel;
    }
    depth_ = shape_.channels * taps_;
    int64_t wanted = std::max(kFewestPixels, kPatchElements / std::max<int64_t>(depth_, 1));
    blocks_ = divideUp(pixels_, wanted);
  }

  void run() {
    context_.pool.parallelFor(shape_.batch * shape_.groups * blocks_, [&](int64_t part) {
      int64_t block = part % blocks_, rest = part / blocks_;
      runPart(rest / shape_.groups, rest % shape_.groups, partBegin(pixels_, blocks_, block),
              partBegin(pixels_, blocks_, block + 1));
    });
  }

private:
  void runPart(int64_t image, int64_t group, int64_t begin, int64_t end) {
    int64_t count = end - begin, features = shape_.features / shape_.groups;
    auto *patches =
        static_cast<char *>(ThreadPool::scratch(static_cast<size_t>(depth_ * count) * size_, kPatches));
    const char *input = static_cast<const char *>(args_.input);
    int64_t batch = shape_.groupsBatch ? group * shape_.batch + image : image;
    int64_t channel = shape_.groupsBatch ? 0 : group * shape_.channels;
    input += (batch * args_.inputStrides[0] + channel * args_.inputStrides[1]) * int64_t(size_);
    for (int64_t row = 0; row < depth_; ++row)
      fillRow(input + row / taps_ * args_.inputStrides[1] * int64_t(size_), row % taps_, begin, count,
              patches + row * count * int64_t(size_));
    MatmulArgs product;
    product.gemm.layout = packedLayout(shape_.type, context_.isa, features, depth_, count);
    product.gemm.m = features;
    product.gemm.a = static_cast<const char *>(args_.weights) + group * features * depth_ * int64_t(size_);
    product.gemm.aRowStride = depth_;
    product.gemm.c = static_cast<char *>(args_.output) +
                     ((image * shape_.features + group * features) * pixels_ + begin) * int64_t(size_);
    product.gemm.cType = shape_.type;
    product.gemm.cRowStride = pixels_;
    product.b = patches;
    product.bRowStride = count;
    product.workspace = ThreadPool::scratch(static_cast<size_t>(matmulWorkspaceBytes(product)), kPacked);
    matmul(context_, product);
  }

  /// What a tap sees of a channel at each of the pixels.
  void fillRow(const char *channel, int64_t tap, int64_t begin, int64_t count, char *to) const {
    size_t rank = shape_.space.size();
    int64_t offsets[kMaxSpace] = {}, index[kMaxSpace] = {};
    for (size_t i = rank; i-- > 0;) {
      const PatchDimension &dimension = shape_.space[i];
      offsets[i] = tap % dimension.kernel * dimension.kernelDilation - dimension.padding;
      tap /= dimension.kernel;
      index[i] = begin % dimension.output;
      begin /= dimension.output;
    }
    for (int64_t pixel = 0; pixel < count; ++pixel, to += size_) {
      int64_t place = 0;
      bool isInside = true;
      for (size_t i = 0; i < rank; ++i) {
        const PatchDimension &dimension = shape_.space[i];
        int64_t at = index[i] * dimension.stride + offsets[i];
        isInside &=
            at >= 0 && at % dimension.inputDilation == 0 && at / dimension.inputDilation < dimension.input;
        place += at / dimension.inputDilation * args_.inputStrides[i + 2];
      }
      if (isInside)
        std::memcpy(to, channel + place * int64_t(size_), size_);
      else
        std::memset(to, 0, size_);
      for (size_t i = rank; i-- > 0;) {
        if (++index[i] < shape_.space[i].output)
          break;
        index[i] = 0;
      }
    }
  }

  static constexpr size_t kMaxSpace = 8;
  const Context &context_;
  const PatchConvolutionArgs &args_;
  const PatchConvolution &shape_;
  size_t size_;
  int64_t pixels_ = 1, taps_ = 1, depth_ = 0, blocks_ = 0;
};

} // namespace

void convolvePatches(const Context &context, const PatchConvolutionArgs &args) {
  Patches(context, args).run();
}

} // namespace torchere::cpu
