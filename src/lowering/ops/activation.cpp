// Activation functions.
#include "lowering/formula.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

mlir::Value relu(Context &cx, const Args &args) {
  return maximum(Elements(cx, args.tensor("self")), 0.0);
}

Elements clampBetween(const Elements &value, const Elements &low, const Elements &high) {
  return value.apply<stablehlo::MaxOp>(low).apply<stablehlo::MinOp>(high);
}

mlir::Value hardtanh(Context &cx, const Args &args) {
  Elements self(cx, args.tensor("self"));
  return clampBetween(self, formulaNumber(self, args, "min_val"), formulaNumber(self, args, "max_val"));
}

Elements silu(const Elements &x) {
  return x * sigmoid(x);
}

/// relu6(x + 3) / 6.
Elements hardSigmoid(const Elements &x) {
  return clampBetween(x + 3.0, x.constant(0.0), x.constant(6.0)) / 6.0;
}

Elements hardSwish(const Elements &x) {
  return x * hardSigmoid(x);
}

/// log(1 + exp(x)), computed from the larger of x and 0.
Elements logOfOnePlusExp(const Elements &x) {
  return maximum(x, 0.0) + log1p(exp(-abs(x)));
}

Elements mish(const Elements &x) {
  return x * tanh(logOfOnePlusExp(x));
}

Elements logSigmoid(const Elements &x) {
  return -logOfOnePlusExp(-x);
}

/// log(1 + exp(beta * x)) / beta, and x itself where beta * x exceeds the threshold.
Elements softplus(const Elements &x, const Args &args) {
  Elements beta = formulaNumber(x, args, "beta");
  Elements scaled = x * beta;
  Elements isLinear = scaled.compare(stablehlo::ComparisonDirection::GT, formulaNumber(x, args, "threshold"));
  return isLinear.select(x, logOfOnePlusExp(scaled) / beta);
}

/// scale * x for positive x, else scale * alpha * (exp(input_scale * x) - 1).
Elements elu(const Elements &x, const Args &args) {
  Elements scale = formulaNumber(x, args, "scale");
  Elements negative = expm1(x * formulaNumber(x, args, "input_scale")) * formulaNumber(x, args, "alpha");
  return (x > 0.0).select(x, negative) * scale;
}

Elements celu(const Elements &x, const Args &args) {
  Elements alpha = formulaNumber(x, args, "alpha");
  return (x > 0.0).select(x, expm1(x / alpha) * alpha);
}

mlir::Value leakyRelu(Context &cx, const Args &args) {
  Elements self(cx, args.tensor("self"));
  return (self > 0.0).select(self, self * formulaNumber(self, args, "negative_slope"));
}

/// The weight has the shape of self, or one that broadcasts to it.
mlir::Value parametricRelu(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  Elements self(cx, toResultShape(cx, args.tensor("self"), dtype));
  return (self > 0.0).select(self, self * Elements(cx, toResultShape(cx, args.tensor("weight"), dtype)));
}

/// One weight for all channels, or one for each (axis 1).
mlir::Value parametricReluOverChannels(Context &cx, const Args &args) {
  Elements self(cx, args.tensor("self"));
  mlir::Value weight = args.tensor("weight");
  Dims shape = cx.shape(self);
  if (Context::rank(weight) == 1 && !cx.size(weight, 0).is(1))
    weight = cx.broadcastInDim(weight, shape, {1});
  else
    weight = cx.broadcastTo(cx.reshape(weight, {}), shape);
  return (self > 0.0).select(self, self * Elements(cx, weight));
}

/// The first half of a dimension times the sigmoid of the second.
Result<mlir::Value> gatedLinear(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  TORCHERE_ASSIGN(int64_t axis, cx.axis(args.integer("dim"), Context::rank(self)));
  Dim size = cx.size(self, axis);
  Dim half = cx.floorDivide(size, 2);
  Elements value(cx, cx.sliceAxis(self, axis, 0, half));
  return cx.convert(value * sigmoid({cx, cx.sliceAxis(self, axis, half, size)}), dtype);
}

} // namespace

void addActivation(OpTable &table) {
  table.add("aten::relu(Tensor self) -> Tensor", relu);
  table.add("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanh);
  table.add("aten::silu(Tensor self) -> Tensor", formula<silu>, AsComposite{"silu"});
  table.add("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", leakyRelu);
  table.add("aten::hardsigmoid(Tensor self) -> Tensor", formula<hardSigmoid>);
  table.add("aten::hardswish(Tensor self) -> Tensor", formula<hardSwish>);
  table.add("aten::mish(Tensor self) -> Tensor", formula<mish>);
  table.add("aten::log_sigmoid(Tensor self) -> Tensor", formula<logSigmoid>);
  table.add("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", formula<softplus>);
  table.add("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
            formula<elu>);
  table.add("aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor", formula<celu>);
  table.add("aten::prelu(Tensor self, Tensor weight) -> Tensor", parametricReluOverChannels);
  table.add("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", parametricRelu);
  table.add("aten::glu(Tensor self, int dim=-1) -> Tensor", gatedLinear);
}

} // namespace torchere::lowering
