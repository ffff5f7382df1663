// Convolution and transposed convolution, in any number of spatial dimensions.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/window.h"

#include <numeric>

namespace torchere::lowering {

namespace {

struct Convolution {
  mlir::Value input;  ///< [N, C, spatial...]
  mlir::Value weight; ///< [out, in / groups, spatial...]; transposed: [in, out / groups, spatial...]
  Integers stride, padding, dilation, outputPadding;
  int64_t groups = 1;
};

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

/// Padding before and after each spatial dimension.
struct Padding {
  Dims low, high;
};

/// A transposed convolution is one of the stretched input with the mirrored kernel.
Padding paddingOf(Context &cx, const Convolution &convolution, bool isTransposed) {
  Padding padding;
  Dims kernel = cx.shape(convolution.weight);
  for (size_t i = 0; i < convolution.padding.size(); ++i) {
    Dim low = convolution.padding[i];
    Dim high = low;
    if (isTransposed) {
      Dim reach = cx.multiply(cx.subtract(kernel[2 + i], 1), convolution.dilation[i]);
      low = cx.subtract(reach, convolution.padding[i]);
      high = cx.add(low, convolution.outputPadding[i]);
    }
    padding.low.push_back(low);
    padding.high.push_back(high);
  }
  return padding;
}

/// An attribute where the padding is known, else an operand.
mlir::Value createConvolution(Context &cx, mlir::Type type, mlir::ValueRange operands, const Padding &padding,
                              llvm::SmallVector<mlir::NamedAttribute> attributes) {
  Integers low, high;
  Dims pairs;
  for (auto [before, after] : llvm::zip(padding.low, padding.high)) {
    pairs.append({before, after});
    if (before.isConstant() && after.isConstant()) {
      low.push_back(before.constant());
      high.push_back(after.constant());
    }
  }
  if (low.size() == padding.low.size()) {
    attributes.push_back(paddingAttribute(cx, low, high));
    return cx.create<stablehlo::ConvolutionOp>(type, operands, attributes);
  }
  Values all(operands.begin(), operands.end());
  all.push_back(cx.reshape(cx.shapeTensor(pairs), {Dim(static_cast<int64_t>(padding.low.size())), Dim(2)}));
  return cx.create<stablehlo::DynamicConvOp>(type, all, attributes);
}

mlir::Value convolve(Context &cx, const Convolution &convolution, bool isTransposed,
                     llvm::ArrayRef<Dim> shape) {
  mlir::Builder &builder = cx.builder();
  size_t spatialRank = convolution.stride.size();
  Integers spatial(spatialRank);
  std::iota(spatial.begin(), spatial.end(), 2);
  int64_t kernelInput = isTransposed ? 0 : 1;
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(builder.getContext(), 0, 1, spatial, kernelInput,
                                                          1 - kernelInput, spatial, 0, 1, spatial);
  Integers ones(spatialRank, 1);
  mlir::Value weight = convolution.weight;
  if (isTransposed)
    weight = groupedTransposedKernel(cx, weight, convolution.groups);
  llvm::SmallVector<bool> reversal(spatialRank, isTransposed);
  mlir::Type type = cx.tensorType(shape, Context::elementType(convolution.input));
  mlir::Value result =
      createConvolution(cx, type, {convolution.input, weight}, paddingOf(cx, convolution, isTransposed),
                        {cx.integersAttribute("window_strides", isTransposed ? ones : convolution.stride),
                         cx.integersAttribute("lhs_dilation", isTransposed ? convolution.stride : ones),
                         cx.integersAttribute("rhs_dilation", convolution.dilation),
                         cx.attribute("window_reversal", builder.getDenseBoolArrayAttr(reversal)),
                         cx.attribute("dimension_numbers", numbers),
                         cx.attribute("feature_group_count", builder.getI64IntegerAttr(convolution.groups)),
                         cx.attribute("batch_group_count", builder.getI64IntegerAttr(1))});
  return cx.withShape(result, shape);
}

/// The arguments that all of the ops have.
Convolution readConvolution(const Args &args) {
  Convolution call;
  call.weight = args.tensor("weight");
  size_t spatialRank = Context::rank(call.weight) - 2;
  call.stride = args.integers("stride", spatialRank);
  call.padding = args.integers("padding", spatialRank);
  call.dilation = args.integers("dilation", spatialRank);
  call.groups = args.integer("groups");
  return call;
}

/// The result is of the op's rank, with the bias added.
mlir::Value convolveWithBias(Context &cx, const Args &args, Convolution call, bool isTransposed) {
  Dims shape = cx.resultType().shape;
  mlir::Value input = args.tensor("input");
  bool isBatched = Context::rank(input) == Context::rank(call.weight);
  if (!isBatched) { // one sample: [C, spatial...]
    Dims batched = cx.shape(input);
    batched.insert(batched.begin(), Dim(1));
    input = cx.reshape(input, batched);
    shape.insert(shape.begin(), Dim(1));
  }
  call.input = input;
  mlir::Value result = convolve(cx, call, isTransposed, shape);
  if (auto bias = args.optionalTensor("bias"))
    result = cx.elementwise<stablehlo::AddOp>({result, cx.broadcastInDim(*bias, shape, {1})});
  return cx.reshape(result, cx.resultType().shape);
}

mlir::Value convolution(Context &cx, const Args &args) {
  Convolution call = readConvolution(args);
  call.outputPadding = args.integers("output_padding", call.stride.size());
  return convolveWithBias(cx, args, std::move(call), args.boolean("transposed"));
}

/// conv1d, conv2d and conv3d.
mlir::Value plainConvolution(Context &cx, const Args &args) {
  return convolveWithBias(cx, args, readConvolution(args), /*isTransposed=*/false);
}

} // namespace

void addConvolution(OpTable &table) {
  table.add("aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, "
            "int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
            convolution);
  std::string zeros = "0", ones = "1";
  for (int rank = 1; rank <= 3; ++rank, zeros += ", 0", ones += ", 1")
    table.add(
        fmt::format("aten::conv{0}d(Tensor input, Tensor weight, Tensor? bias=None, int[{0}] stride=[{1}], "
                    "int[{0}] padding=[{2}], int[{0}] dilation=[{1}], int groups=1) -> Tensor",
                    rank, ones, zeros),
        plainConvolution);
}

} // namespace torchere::lowering
