// Inverse trigonometric functions, hyperbolic functions and their inverses.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <cmath>
#include <limits>

namespace torchere::lowering {

namespace {

/// A row of one operand that computes in float32 for half precision, and on the floats that integers become.
template <Elements (*function)(const Elements &)> Result<mlir::Value> formula(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  if (dtypeInfo(dtype).isComplex)
    return cx.unimplemented("complex operands are not supported: got {}", dtypeInfo(dtype).torchName);
  return cx.convert(function(Elements(cx, cx.convert(args.tensor("self"), computeType(dtype)))), dtype);
}

Elements withSignOf(const Elements &magnitude, const Elements &x) {
  return (x < 0.0).select(-magnitude, magnitude);
}

Elements angle(const Elements &y, const Elements &x) {
  return y.apply<stablehlo::Atan2Op>(x);
}

/// sqrt(1 - x * x), without cancellation near 1; NaN beyond it.
Elements opposite(const Elements &x) {
  return sqrt((1.0 - x) * (1.0 + x));
}

Elements arcSine(const Elements &x) {
  return angle(x, opposite(x));
}

Elements arcCosine(const Elements &x) {
  return angle(opposite(x), x);
}

Elements arcTangent(const Elements &x) {
  return angle(x, x.constant(1.0));
}

/// From exp(|x| / 2), which is finite wherever the result is; near 0 from expm1, which keeps the digits.
Elements hyperbolicSine(const Elements &x) {
  Elements magnitude = abs(x);
  Elements root = exp(magnitude * 0.5);
  Elements large = (0.5 * root) * root - (0.5 / root) / root;
  Elements less = expm1(minimum(magnitude, 1.0));
  Elements small = 0.5 * (less + less / (less + 1.0));
  return withSignOf((magnitude < 1.0).select(small, large), x);
}

Elements hyperbolicCosine(const Elements &x) {
  Elements root = exp(abs(x) * 0.5);
  return (0.5 * root) * root + (0.5 / root) / root;
}

/// Beyond this, x * x + 1 is x * x.
constexpr double largeArgument = 1e9;

Elements hyperbolicArcSine(const Elements &x) {
  Elements magnitude = abs(x);
  Elements a = minimum(magnitude, largeArgument);
  Elements square = a * a;
  Elements small = log1p(a + square / (1.0 + sqrt(square + 1.0)));
  Elements large = log(magnitude) + std::log(2.0);
  Elements result = withSignOf((magnitude < largeArgument).select(small, large), x);
  return x.compare(stablehlo::ComparisonDirection::EQ, x.constant(0.0)).select(x, result);
}

Elements hyperbolicArcCosine(const Elements &x) {
  Elements above = minimum(x, largeArgument) - 1.0;
  Elements small = log1p(above + sqrt(above * (above + 2.0)));
  Elements large = log(x) + std::log(2.0);
  Elements result = (x < largeArgument).select(small, large);
  return (x < 1.0).select(x.constant(std::numeric_limits<double>::quiet_NaN()), result);
}

Elements hyperbolicArcTangent(const Elements &x) {
  return 0.5 * (log1p(x) - log1p(-x));
}

mlir::Value arcTangentOfTwo(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  Elements y(cx, toResultShape(cx, args.tensor("self"), compute));
  return cx.convert(angle(y, Elements(cx, toResultShape(cx, args.tensor("other"), compute))), dtype);
}

} // namespace

void addTrigonometry(OpTable &table) {
  table.add("aten::tan(Tensor self) -> Tensor", unary<stablehlo::TanOp>);
  table.add("aten::asin(Tensor self) -> Tensor", formula<arcSine>);
  table.add("aten::acos(Tensor self) -> Tensor", formula<arcCosine>);
  table.add("aten::atan(Tensor self) -> Tensor", formula<arcTangent>);
  table.add("aten::atan2(Tensor self, Tensor other) -> Tensor", arcTangentOfTwo);
  table.add("aten::sinh(Tensor self) -> Tensor", formula<hyperbolicSine>);
  table.add("aten::cosh(Tensor self) -> Tensor", formula<hyperbolicCosine>);
  table.add("aten::asinh(Tensor self) -> Tensor", formula<hyperbolicArcSine>);
  table.add("aten::acosh(Tensor self) -> Tensor", formula<hyperbolicArcCosine>);
  table.add("aten::atanh(Tensor self) -> Tensor", formula<hyperbolicArcTangent>);
}

} // namespace torchere::lowering
