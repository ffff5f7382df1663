// The gradients of convolutions: of the input, the weight and the bias.
#include "lowering/convolution.h"
#include "lowering/op_table.h"

#include <numeric>
#include <utility>

namespace torchere::lowering {

namespace {

/// A convolution as the call describes it; its padding stands in `padding` alone.
struct Forward {
  Convolution call;
  Integers padding;
  mlir::Value gradient; ///< of the output
};

Forward forwardOf(const Args &args) {
  Forward forward;
  forward.call.input = args.tensor("input");
  forward.call.weight = args.tensor("weight");
  forward.gradient = args.tensor("grad_output");
  size_t spatialRank = Context::rank(forward.call.weight) - 2;
  forward.call.stride = args.integers("stride", spatialRank);
  forward.call.dilation = args.integers("dilation", spatialRank);
  forward.call.groups = args.integer("groups");
  forward.call.isTransposed = args.boolean("transposed");
  forward.padding = args.integers("padding", spatialRank);
  return forward;
}

/// (size - 1) * stride, the distance of the first and last place of a kernel.
Dim distance(Context &cx, Dim size, int64_t stride) {
  return cx.multiply(cx.subtract(size, 1), stride);
}

/// The gradient of a convolution's input is a transposed convolution of the output's, and the other way
/// round, padded so that it gets exactly the input's sizes.
mlir::Value inputGradient(Context &cx, const Forward &forward) {
  Convolution call = forward.call;
  Dims in = cx.shape(call.input), out = cx.shape(forward.gradient);
  Dims reach = reachOf(cx, call.weight, call.dilation);
  call.input = forward.gradient;
  call.isTransposed = !call.isTransposed;
  for (size_t i = 0; i < reach.size(); ++i) {
    Dim padding = forward.padding[i];
    if (call.isTransposed) {
      call.low.push_back(cx.subtract(reach[i], padding));
      Dim covered = cx.add(distance(cx, out[2 + i], call.stride[i]), 1);
      call.high.push_back(cx.add(cx.subtract(in[2 + i], covered), padding));
    } else {
      Dim needed = cx.add(cx.add(distance(cx, in[2 + i], call.stride[i]), reach[i]), 1);
      call.low.push_back(padding);
      call.high.push_back(cx.subtract(cx.subtract(needed, out[2 + i]), padding));
    }
  }
  return convolve(cx, call, in);
}

/// A transposed convolution is a plain one from its output to its input.
mlir::Value weightGradient(Context &cx, const Forward &forward) {
  Convolution call = forward.call;
  mlir::Value gradient = forward.gradient;
  if (call.isTransposed)
    std::swap(call.input, gradient);
  Dims in = cx.shape(call.input), out = cx.shape(gradient);
  Dims reach = reachOf(cx, call.weight, call.dilation);
  for (size_t i = 0; i < reach.size(); ++i) {
    Dim needed = cx.add(cx.add(reach[i], distance(cx, out[2 + i], call.stride[i])), 1);
    call.low.push_back(forward.padding[i]);
    call.high.push_back(cx.subtract(cx.subtract(needed, in[2 + i]), forward.padding[i]));
  }
  return convolveToWeight(cx, call, gradient, cx.shape(call.weight));
}

mlir::Value biasGradient(Context &cx, mlir::Value gradient) {
  Integers axes(Context::rank(gradient) - 1);
  std::iota(axes.begin(), axes.end(), 1);
  axes[0] = 0;
  return cx.reduceWith<stablehlo::AddOp>(gradient, cx.constant(0.0, Context::dtype(gradient)), axes);
}

/// Those that output_mask asks for.
Values convolutionBackward(Context &cx, const Args &args) {
  Forward forward = forwardOf(args);
  return {args.isWanted(0) ? inputGradient(cx, forward) : mlir::Value(),
          args.isWanted(1) ? weightGradient(cx, forward) : mlir::Value(),
          args.isWanted(2) ? biasGradient(cx, forward.gradient) : mlir::Value()};
}

} // namespace

void addConvolutionGradient(OpTable &table) {
  table.add("aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, "
            "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, "
            "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
            convolutionBackward);
}

} // namespace torchere::lowering
