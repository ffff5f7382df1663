// Convolutions and pooling in two or three dimensions on f32 tensors whose channels lie in blocks of a
// vector.
#pragma once

#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/thread_pool.h"

#include <cstdint>
#include <span>

namespace torchere::cpu {

/// Pixels around those of a tensor: rows above and below, columns on the left and on the right.
struct Halo {
  int64_t rows = 0;
  int64_t columns = 0;

  bool operator==(const Halo &) const = default;
  bool covers(const Halo &other) const { return rows >= other.rows && columns >= other.columns; }
};
/// The least one that covers both.
Halo widest(const Halo &a, const Halo &b);

/// A tensor [batch][blocks][height + 2 halo.rows][width + 2 halo.columns][lanes] of f32: NCHW16c for AVX-512,
/// 8c for AVX2. The halo and the lanes beyond the last channel are zeros: whoever writes such a tensor writes
/// them too. A tensor of one dimension of space has the height 1.
struct BlockedTensor {
  float *data = nullptr;
  int64_t batch = 0; ///< images; an item in three dimensions is as many as it is deep, one behind the other
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  Halo halo;
  int lanes = 0;

  int64_t blocks() const { return (channels + lanes - 1) / lanes; }
  int64_t paddedHeight() const { return height + 2 * halo.rows; }
  int64_t paddedWidth() const { return width + 2 * halo.columns; }
  int64_t plane() const { return paddedHeight() * paddedWidth() * lanes; } ///< elements of a block
  int64_t elements() const { return batch * blocks() * plane(); }
  /// The first pixel inside the halo.
  float *at(int64_t image, int64_t block) const {
    return data + (image * blocks() + block) * plane() + (halo.rows * paddedWidth() + halo.columns) * lanes;
  }
};

/// A planar tensor by its strides in elements: NCHW, NHWC, NCDHW or any other order.
struct PlanarTensor {
  float *data = nullptr;
  int64_t strides[5] = {}; ///< of N, C, H, W and D
  int64_t depth = 1;       ///< images of an item

  float *at(int64_t image) const { return data + image / depth * strides[0] + image % depth * strides[4]; }
};
void blockedFromPlanar(const Context &context, const PlanarTensor &input, const BlockedTensor &output);
void planarFromBlocked(const Context &context, const BlockedTensor &input, const PlanarTensor &output);

/// Taps of a window along an axis, of those that plans may have.
inline constexpr int64_t mostWindow = int64_t(1) << 12;
/// Of a window of pooling, whose places are written down.
inline constexpr int64_t mostPooledTaps = int64_t(1) << 16;

/// Taps [first, end) of a window along an axis.
struct TapRange {
  int64_t first, end;
  int64_t count() const { return end - first; }
  bool operator==(const TapRange &) const = default;
};
/// Those that lie in the `size` places of the axis if the first tap lies at `begin`.
TapRange tapsInside(int64_t begin, int64_t size, int64_t kernel, int64_t dilation);

/// The axis of a window across images: those of an item follow each other, so that what an output image reads
/// is a run of them. Images before the first and behind the last are left out.
struct DepthWindow {
  int64_t input = 1; ///< images of an item
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  struct Taps {
    TapRange range;
    int64_t image; ///< of the input, that the first tap meets; some image if there is no tap
  };
  /// Of an output image.
  Taps tapsOf(int64_t image) const;
  /// Of all output images of an item together.
  int64_t tapCount() const;
  /// Whether there is nothing across: each item is an image.
  bool isFlat() const { return input * output * kernel == 1; }
};

struct ConvolutionShape {
  int64_t batch = 1; ///< images of the output
  int64_t inputChannels = 0;
  int64_t inputHeight = 0;
  int64_t inputWidth = 0;
  int64_t outputChannels = 0;
  int64_t outputHeight = 0; ///< of one phase, as the width
  int64_t outputWidth = 0;
  int64_t groups = 1;
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {
      0, 0}; ///< before the first row and column; what follows the last is implied by the output
  int64_t dilation[2] = {1, 1};
  /// A transposed convolution: `phases` - 1 rows and columns of zeros lie between the pixels of the input,
  /// and `padding` counts them. Outputs that are `phases` apart meet the same taps of the kernel, and are
  /// computed by a convolution of those taps alone (`phasePlan()`). More than one only with a kernel at least
  /// as large, one group, and neither stride nor dilation.
  int64_t phases[2] = {1, 1};
  /// More than one tap only without groups, or with groups of one channel.
  DepthWindow depth;

  int64_t inputImages() const { return batch / depth.output * depth.input; }
  bool isDepthwise() const { return groups == inputChannels && groups == outputChannels && groups > 1; }
  int64_t phaseCount() const { return phases[0] * phases[1]; }
};

enum class ConvolutionKind : uint8_t {
  Direct,    ///< blocked input; any kernel, any phases, one group, or those of whole or half blocks
  Planar,    ///< planar input of few channels (the first layer), one group
  Depthwise, ///< blocked input, one input and one output channel a group
  Grouped,   ///< blocked input, groups of one vector with wide windows, or of less, or of no half vectors
  Winograd2, ///< F(2,3): 3x3, stride 1, one group
  Winograd4, ///< F(4,3)
};

/// A convolution as it is run: the choice for a shape, and the layout of its weights.
struct ConvolutionPlan {
  ConvolutionShape shape;
  ConvolutionKind kind = ConvolutionKind::Direct;
  Isa isa = Isa::Baseline;
  int32_t vectors = 1;    ///< vectors of output channels of a tile
  int64_t groupSteps = 0; ///< of a Grouped one: steps of a block of outputs

  /// The halo that a blocked input needs; a smaller one costs a copy into the workspace.
  Halo inputHalo() const;
  int64_t weightElements() const;
  int64_t workspaceBytes(const Halo &actualInputHalo) const;
};
/// The convolution that computes the outputs of one phase.
struct PhasePlan {
  ConvolutionPlan plan;   ///< without phases; its padding may be -1
  int64_t firstOutput[2]; ///< its row and column; the next ones are `phases` apart
  int64_t firstTap[2];    ///< of the kernel's; the next ones are `phases` apart
};
PhasePlan phasePlan(const ConvolutionPlan &plan, int64_t y, int64_t x);

/// `planarInput`: the input lies in planes. `winograd`: it may be used (its error is about twice that of the
/// sum).
ConvolutionPlan planConvolution(const ConvolutionShape &shape, Isa isa, bool planarInput, bool winograd);

/// Packs weights given as [O][I / groups][H][W][D] by their strides (in elements). `packed` is aligned to 64.
void packConvolution(const Context &context, const ConvolutionPlan &plan, const float *weights,
                     const int64_t (&strides)[5], float *packed);

struct ConvolutionArgs {
  ConvolutionPlan plan;
  BlockedTensor input; ///< unless the plan is Planar
  PlanarTensor planar; ///< if it is; contiguous in W
  const float *weights = nullptr;
  BlockedTensor output;
  /// The bias has output.blocks() * lanes elements. `residual` of the epilogue is not read, but this,
  /// blocked.
  Epilogue epilogue;
  BlockedTensor residual; ///< data null for none; any halo
  /// What follows the activation, in this order, of each channel and padded with zeros like the bias: a slope
  /// of what is not above zero (the leaky ReLU, PReLU); a factor and a shift (a batch norm), both or none.
  const float *slopes = nullptr;
  const float *factors = nullptr;
  const float *shifts = nullptr;
  /// The residual is added behind those, rather than before the activation.
  bool addsResidualLast = false;
  /// What the input's channels are multiplied by: of each image a whole number of blocks. Only if canGate().
  const float *gate = nullptr;
  void *workspace = nullptr;

  bool addsResidualFirst() const { return residual.data && !addsResidualLast; }
  bool hasLastStage() const { return slopes || factors || addsResidualLast; }
};
void convolve(const Context &context, const ConvolutionArgs &args);

/// Whether the convolution may have a gate, which is multiplied into its weights: one of tiles on blocks,
/// with windows of one pixel, without groups and depth.
bool canGate(const ConvolutionPlan &plan);

/// Whether a depthwise convolution may be computed together with the one whose result it reads: images in two
/// dimensions, one of tiles without groups, phases and dilation, rows of which a cache holds enough.
bool canJoin(const ConvolutionPlan &first, const ConvolutionPlan &depthwise);

/// Both, whose middle is never stored: bands of its rows lie in the threads' scratch memory, which their
/// caches hold. `first.output` and `depthwise.input` are not read.
void convolvePair(const Context &context, const ConvolutionArgs &first, const ConvolutionArgs &depthwise);

struct PoolingArgs {
  bool average = false;
  bool countPadding = true; ///< of an average: divide by the whole window
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  DepthWindow depth;
  BlockedTensor input;
  BlockedTensor output;
};
void pool(const Context &context, const PoolingArgs &args);

/// The gradient of a convolution's weights: of each output channel, input channel of its group and tap, the
/// sum over all pixels of that output's gradient times what the tap meets for it in the input. Tap (i, j)
/// meets row y * stride[0] + i * dilation[0] - padding[0] for pixels of row y, likewise columns.
struct WeightGradientArgs {
  int64_t groups = 1;
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  BlockedTensor input;     ///< its halo covers inputHalo()
  BlockedTensor pixels;    ///< the gradient of the output, as many images
  float *output = nullptr; ///< [O][I / groups][kernel[0]][kernel[1]]
  void *workspace = nullptr;

  bool isDepthwise() const { return groups == input.channels && groups == pixels.channels; }
  /// What taps meet beyond the input: zeros, which are multiplied too.
  Halo inputHalo() const;
  int64_t workspaceBytes() const;
};
void weightGradient(const Context &context, const WeightGradientArgs &args);

/// Each pixel becomes factor[0] x factor[1] pixels of the output, which is as many times as large.
struct UpsamplingArgs {
  int64_t factor[2] = {1, 1};
  bool fillsZeros = false; ///< all but the first of these are zeros
  BlockedTensor input;
  BlockedTensor output;
};
void upsample(const Context &context, const UpsamplingArgs &args);

/// The mean over height, width and depth: the output is of one pixel, and has an image for each item.
void globalAverage(const Context &context, const BlockedTensor &input, const BlockedTensor &output);

/// Each pixel's channels: (x - mean) / sqrt(variance + epsilon) * scale + bias; without the mean for RMS
/// norm.
struct ChannelNormArgs {
  bool subtractMean = true;
  double epsilon = 1e-5;
  BlockedTensor input;
  const float *scale = nullptr; ///< output.blocks() * lanes elements, zeros beyond the last channel; or null
  const float *bias = nullptr;  ///< likewise
  BlockedTensor output;
};
void normalizeChannels(const Context &context, const ChannelNormArgs &args);

/// The channels of an item in groups of as many that follow each other, of all its pixels: (x - mean) /
/// sqrt(variance + epsilon) * scale + bias, then the activation.
struct GroupNormArgs {
  int64_t groups = 1;
  int64_t depth = 1; ///< images of an item
  double epsilon = 1e-5;
  Activation activation = Activation::None;
  BlockedTensor input;
  const float *scale = nullptr; ///< output.channels elements; or null
  const float *bias = nullptr;  ///< likewise
  BlockedTensor output;
};
void normalizeGroups(const Context &context, const GroupNormArgs &args);

/// Channel i of the output is channel channels[i] of the inputs, whose channels are counted one input after
/// the other.
inline constexpr int64_t kMostChosenInputs = 64;
struct ChannelChoiceArgs {
  std::span<const BlockedTensor> inputs;
  std::span<const int64_t> channels;
  BlockedTensor output;
};
void chooseChannels(const Context &context, const ChannelChoiceArgs &args);

} // namespace torchere::cpu
