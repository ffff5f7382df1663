// Convolution and transposed convolution, in any number of spatial dimensions.
#include "lowering/convolution.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// As much on both sides as numbers say, or as a name: 'valid' means nothing, 'same' what keeps the sizes.
Status setPadding(Context &cx, const Args &args, Convolution &call) {
  Dims reach = reachOf(cx, call.weight, call.dilation);
  const auto *name = args.get("padding").as<std::string>();
  if (name && *name != "same" && *name != "valid")
    return cx.invalid("unknown padding: got '{}', expected 'same' or 'valid'", *name);
  if (name) {
    bool isSame = *name == "same";
    for (const Dim &total : reach) {
      call.low.push_back(isSame ? cx.floorDivide(total, 2) : Dim(0));
      call.high.push_back(isSame ? cx.subtract(total, call.low.back()) : Dim(0));
    }
    return {};
  }
  Integers padding = args.integers("padding", reach.size());
  call.low.assign(padding.begin(), padding.end());
  call.high = call.low;
  if (!call.isTransposed)
    return {};
  Integers outputPadding = args.integers("output_padding", reach.size());
  for (size_t i = 0; i < reach.size(); ++i) {
    call.low[i] = cx.subtract(reach[i], padding[i]);
    call.high[i] = cx.add(call.low[i], outputPadding[i]);
  }
  return {};
}

/// Of the op with all options, and of those that have a number of dimensions and a direction in their name.
Result<mlir::Value> convolution(Context &cx, const Args &args) {
  Convolution call;
  call.weight = args.tensor("weight");
  size_t spatialRank = Context::rank(call.weight) - 2;
  call.stride = args.integers("stride", spatialRank);
  call.dilation = args.integers("dilation", spatialRank);
  call.groups = args.integer("groups");
  call.isTransposed = args.has("transposed") ? args.boolean("transposed") : args.has("output_padding");
  TORCHERE_TRY(setPadding(cx, args, call));

  Dims shape = cx.resultType().shape;
  mlir::Value input = args.tensor("input");
  bool isBatched = Context::rank(input) == static_cast<int64_t>(spatialRank) + 2;
  if (!isBatched) { // one sample: [C, spatial...]
    Dims batched = cx.shape(input);
    batched.insert(batched.begin(), Dim(1));
    input = cx.reshape(input, batched);
    shape.insert(shape.begin(), Dim(1));
  }
  call.input = input;
  mlir::Value result = convolve(cx, call, shape);
  if (auto bias = args.optionalTensor("bias"))
    result = cx.elementwise<stablehlo::AddOp>({result, cx.broadcastInDim(*bias, shape, {1})});
  return cx.reshape(result, cx.resultType().shape);
}

} // namespace

void addConvolution(OpTable &table) {
  table.add("aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, "
            "int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
            convolution);
#define TORCHERE_CONVOLUTION(n)                                                                              \
  table.add("aten::conv" #n "d(Tensor input, Tensor weight, Tensor? bias=None, int[" #n "] stride=1, "       \
            "int[" #n "] padding=0, int[" #n "] dilation=1, int groups=1) -> Tensor",                        \
            convolution);                                                                                    \
  table.add("aten::conv" #n "d.padding(Tensor input, Tensor weight, Tensor? bias=None, "                     \
            "int[" #n "] stride=1, str padding=\"valid\", int[" #n "] dilation=1, "                          \
            "int groups=1) -> Tensor",                                                                       \
            convolution);
#define TORCHERE_TRANSPOSED_CONVOLUTION(name, n)                                                             \
  table.add("aten::" name "(Tensor input, Tensor weight, Tensor? bias=None, int[" #n "] stride=1, "          \
            "int[" #n "] padding=0, int[" #n "] output_padding=0, int groups=1, "                            \
            "int[" #n "] dilation=1) -> Tensor",                                                             \
            convolution);
  TORCHERE_CONVOLUTION(1)
  TORCHERE_CONVOLUTION(2)
  TORCHERE_CONVOLUTION(3)
  TORCHERE_TRANSPOSED_CONVOLUTION("conv_transpose1d", 1)
  TORCHERE_TRANSPOSED_CONVOLUTION("conv_transpose2d.input", 2)
  TORCHERE_TRANSPOSED_CONVOLUTION("conv_transpose3d.input", 3)
#undef TORCHERE_CONVOLUTION
#undef TORCHERE_TRANSPOSED_CONVOLUTION
}

} // namespace torchere::lowering
