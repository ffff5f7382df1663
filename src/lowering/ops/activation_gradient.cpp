// The gradients of activation functions.
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"

#include <cmath>
#include <numbers>

namespace torchere::lowering {

namespace {

/// Rows of a gradient and of what the function was given ("self") or gave ("output").
template <auto function> mlir::Value gradient(Context &cx, const Args &args) {
  Elements given = formulaOperand(cx, args, args.has("output") ? "output" : "self");
  Elements incoming = formulaOperand(cx, args, "grad_output");
  if constexpr (std::is_invocable_v<decltype(function), const Elements &, const Elements &, const Args &>)
    return cx.convert(function(incoming, given, args), cx.resultType().dtype);
  else
    return cx.convert(function(incoming, given), cx.resultType().dtype);
}

Elements sigmoidBackward(const Elements &incoming, const Elements &output) {
  return incoming * ((1.0 - output) * output);
}

Elements tanhBackward(const Elements &incoming, const Elements &output) {
  return incoming * (1.0 - output * output);
}

Elements thresholdBackward(const Elements &incoming, const Elements &self, const Args &args) {
  return (self <= self.constant(args.scalar("threshold"))).select(0.0, incoming);
}

Elements hardtanhBackward(const Elements &incoming, const Elements &self, const Args &args) {
  Elements isBelow = self <= self.constant(args.scalar("min_val"));
  return either(isBelow, self >= self.constant(args.scalar("max_val"))).select(0.0, incoming);
}

Elements leakyReluBackward(const Elements &incoming, const Elements &self, const Args &args) {
  return (self > 0.0).select(incoming, incoming * self.constant(args.scalar("negative_slope")));
}

Elements siluBackward(const Elements &incoming, const Elements &self) {
  Elements sigmoid = self.apply<stablehlo::LogisticOp>();
  return incoming * sigmoid * (1.0 + self * (1.0 - sigmoid));
}

/// The derivative of x / 2 * (1 + tanh(inner(x))).
Elements geluTanhBackward(const Elements &incoming, const Elements &self) {
  const double scale = std::sqrt(2.0 / std::numbers::pi), cubic = 0.044715;
  Elements square = self * self;
  Elements bent = tanh(scale * (self + cubic * square * self));
  Elements innerSlope = scale * (1.0 + 3.0 * cubic * square);
  return incoming * (0.5 * (1.0 + bent) + 0.5 * self * (1.0 - bent * bent) * innerSlope);
}

Elements geluBackward(const Elements &incoming, const Elements &self, const Args &args) {
  if (args.string("approximate") == "tanh")
    return geluTanhBackward(incoming, self);
  Elements distribution = 0.5 * (self * -std::sqrt(0.5)).apply<chlo::ErfcOp>();
  Elements density = exp(self * self * -0.5) / std::sqrt(2.0 * std::numbers::pi);
  return incoming * (distribution + self * density);
}

} // namespace

void addActivationGradient(OpTable &table) {
  table.add("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
            gradient<thresholdBackward>);
  table.add("aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", gradient<sigmoidBackward>);
  table.add("aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor", gradient<tanhBackward>);
  table.add(
      "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
      gradient<hardtanhBackward>);
  table.add("aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
            "bool self_is_result) -> Tensor",
            gradient<leakyReluBackward>);
  table.add("aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor", gradient<siluBackward>);
  table.add("aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
            gradient<geluBackward>);
}

} // namespace torchere::lowering
