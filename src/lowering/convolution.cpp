// Implements convolutions by the one op that has them all.
#include "lowering/convolution.h"

#include "lowering/window.h"

#include <numeric>

namespace torchere::lowering {

namespace {

/// [groups * in, out, k...] -> [in, groups * out, k...], the order that a grouped kernel with its input axis
/// first has.
mlir::Value groupedTransposedKernel(Context &cx, mlir::Value weight, int64_t groups) {
  if (groups == 1)
    return weight;
  Dims shape = cx.shape(weight);
  Dims split = {Dim(groups), cx.floorDivide(shape[0], groups)};
  split.append(shape.begin() + 1, shape.end());
  Integers permutation(split.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  Dims merged = {split[1], cx.multiply(groups, shape[1])};
  merged.append(shape.begin() + 2, shape.end());
  return cx.reshape(cx.transpose(cx.reshape(weight, split), permutation), merged);
}

/// What an op slides over, and how; the rest of its attributes.
struct Sliding {
  Integers stride, inputDilation, kernelDilation;
  bool isMirrored = false;
  stablehlo::ConvDimensionNumbersAttr numbers;
  int64_t featureGroups = 1, batchGroups = 1;
};

/// The padding is an attribute where it is known, else an operand.
mlir::Value createConvolution(Context &cx, Values operands, const Sliding &sliding, llvm::ArrayRef<Dim> low,
                              llvm::ArrayRef<Dim> high, llvm::ArrayRef<Dim> shape) {
  mlir::Builder &builder = cx.builder();
  llvm::SmallVector<bool> reversal(sliding.stride.size(), sliding.isMirrored);
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      cx.integersAttribute("window_strides", sliding.stride),
      cx.integersAttribute("lhs_dilation", sliding.inputDilation),
      cx.integersAttribute("rhs_dilation", sliding.kernelDilation),
      cx.attribute("window_reversal", builder.getDenseBoolArrayAttr(reversal)),
      cx.attribute("dimension_numbers", sliding.numbers),
      cx.attribute("feature_group_count", builder.getI64IntegerAttr(sliding.featureGroups)),
      cx.attribute("batch_group_count", builder.getI64IntegerAttr(sliding.batchGroups))};
  Integers before, after;
  Dims pairs;
  for (auto [first, last] : llvm::zip(low, high)) {
    pairs.append({first, last});
    if (first.isConstant() && last.isConstant()) {
      before.push_back(first.constant());
      after.push_back(last.constant());
    }
  }
  mlir::Type type = cx.tensorType(shape, Context::elementType(operands[0]));
  if (before.size() == low.size()) {
    attributes.push_back(paddingAttribute(cx, before, after));
    return cx.withShape(cx.create<stablehlo::ConvolutionOp>(type, operands, attributes), shape);
  }
  operands.push_back(cx.reshape(cx.shapeTensor(pairs), {Dim(static_cast<int64_t>(low.size())), Dim(2)}));
  return cx.withShape(cx.create<stablehlo::DynamicConvOp>(type, operands, attributes), shape);
}

Integers spatialAxes(size_t count) {
  Integers axes(count);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

} // namespace

Dims reachOf(Context &cx, mlir::Value weight, llvm::ArrayRef<int64_t> dilation) {
  Dims reach;
  for (size_t i = 0; i < dilation.size(); ++i)
    reach.push_back(cx.multiply(cx.subtract(cx.size(weight, static_cast<int64_t>(i) + 2), 1), dilation[i]));
  return reach;
}

mlir::Value convolve(Context &cx, const Convolution &convolution, llvm::ArrayRef<Dim> shape) {
  Integers spatial = spatialAxes(convolution.stride.size());
  Integers ones(spatial.size(), 1);
  Sliding sliding;
  sliding.stride = convolution.isTransposed ? ones : convolution.stride;
  sliding.inputDilation = convolution.isTransposed ? convolution.stride : ones;
  sliding.kernelDilation = convolution.dilation;
  sliding.isMirrored = convolution.isTransposed;
  sliding.featureGroups = convolution.groups;
  int64_t kernelInput = convolution.isTransposed ? 0 : 1;
  sliding.numbers = stablehlo::ConvDimensionNumbersAttr::get(
      cx.builder().getContext(), 0, 1, spatial, kernelInput, 1 - kernelInput, spatial, 0, 1, spatial);
  mlir::Value weight = convolution.weight;
  if (convolution.isTransposed)
    weight = groupedTransposedKernel(cx, weight, convolution.groups);
  return createConvolution(cx, {convolution.input, weight}, sliding, convolution.low, convolution.high,
                           shape);
}

mlir::Value convolveToWeight(Context &cx, const Convolution &convolution, mlir::Value gradient,
                             llvm::ArrayRef<Dim> shape) {
  Integers spatial = spatialAxes(convolution.stride.size());
  Sliding sliding;
  sliding.stride = convolution.dilation;
  sliding.inputDilation = Integers(spatial.size(), 1);
  sliding.kernelDilation = convolution.stride;
  sliding.batchGroups = convolution.groups;
  // Channels take the place of the batch, over which is summed.
  sliding.numbers = stablehlo::ConvDimensionNumbersAttr::get(cx.builder().getContext(), 1, 0, spatial, 0, 1,
                                                             spatial, 1, 0, spatial);
  return createConvolution(cx, {convolution.input, gradient}, sliding, convolution.low, convolution.high,
                           shape);
}

} // namespace torchere::lowering
