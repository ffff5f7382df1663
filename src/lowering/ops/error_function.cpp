// The error function, its complement and inverse, the normal distribution, and gelu, which is made of them.
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"
#include "stablehlo/error_function_parts.h"

#include <cmath>

namespace torchere::lowering {

namespace {

/// x times the normal distribution function of x; erfc keeps the digits that 1 + erf would lose for negative
/// x.
Elements exactGelu(const Elements &x) {
  return 0.5 * x * (x * -std::sqrt(0.5)).apply<chlo::ErfcOp>();
}

Elements tanhGelu(const Elements &x) {
  Elements inner = std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}

Result<mlir::Value> gelu(Context &cx, const Args &args) {
  std::string approximation = args.string("approximate");
  if (approximation != "none" && approximation != "tanh")
    return cx.invalid("unknown approximation: got '{}', expected 'none' or 'tanh'", approximation);
  Elements x = formulaOperand(cx, args, "self");
  return cx.convert(approximation == "none" ? exactGelu(x) : tanhGelu(x), cx.resultType().dtype);
}

/// exp(x * x) erfc(x).
Elements scaledComplement(const Elements &x) {
  Elements finite = minimum(abs(x), isDouble(x) ? 1e308 : 3e38);
  Elements positive = stablehlo::scaledErrorFunctionComplement(finite);
  Elements magnitude = minimum(abs(x), isDouble(x) ? 26.64 : 9.41); // exp(x * x) overflows a little beyond
  Elements reflected = 2.0 * stablehlo::exponentialOfSquare(magnitude, /*isNegative=*/false) - positive;
  return (x < 0.0).select(reflected, positive);
}

// Fractions that interpolate at Chebyshev nodes, computed with 60 digits.
/// The quantile of 1/2 + y over y for |y| <= 0.37, in y * y.
constexpr double centerTop[] = {2.5066282746310007,  -31.0964788623993,  146.61219786343747,
                                -324.80829402841147, 335.05404566002966, -133.0360962500894,
                                9.758902098136625};
constexpr double centerBottom[] = {1.0,
                                   -13.452897741017118,
                                   70.27473842760708,
                                   -178.44098544440095,
                                   224.01634380504555,
                                   -123.31590695474766,
                                   19.947306627552074};
/// (w - log(w) / w + quantile(p)) w for w = sqrt(-2 log(p)), in 1 / w: for 2 <= w <= 8, and up to 40.
constexpr double middleTop[] = {0.9187706319412473, 44.83932633575424,  534.6455524210288,
                                2426.122495192697,  6176.020508955689,  7747.333556504318,
                                4854.057341993623,  1083.3167192983808, 16.117836760208743};
constexpr double middleBottom[] = {1.0,
                                   48.73861135783755,
                                   570.2239938327261,
                                   2410.0033784243064,
                                   5684.534961162177,
                                   6105.421316487498,
                                   2846.153728644001,
                                   348.24180453417944};
constexpr double farTop[] = {0.9189283835850294, 222.20827157387123, 13739.868975618881,
                             289347.6662265211,  2251501.697487674,  7223876.465209714,
                             12905193.833223272, 4087642.4119087113, -603937.296037213};
constexpr double farBottom[] = {1.0,
                                241.79446168395356,
                                14930.79972957559,
                                312075.0391935406,
                                2352207.4842722504,
                                6838001.338636646,
                                11164231.620154817,
                                -70399.31443033178};

/// The inverse of the normal distribution, from the nearer end of (0, 1).
Elements normalQuantile(const Elements &p) {
  Elements y = p - 0.5, square = y * y;
  Elements center = y * (polynomial(square, centerTop) / polynomial(square, centerBottom));
  Elements end = minimum(p, 1.0 - p);
  Elements w = sqrt(-2.0 * log(end)), inverse = 1.0 / maximum(w, 2.0);
  Elements rest = (w < 8.0).select(polynomial(inverse, middleTop) / polynomial(inverse, middleBottom),
                                   polynomial(inverse, farTop) / polynomial(inverse, farBottom));
  Elements tail = w - log(w) * inverse - rest * inverse;
  Elements outer = (y < 0.0).select(-tail, tail);
  Elements atEnd = equal(end, 0.0).select((y < 0.0).select(-infinity, p.constant(infinity)), outer);
  Elements value = (abs(y) < 0.365).select(center, atEnd);
  return (end < 0.0).select(nan, value);
}

} // namespace

void addErrorFunction(OpTable &table) {
  table.add("aten::erf(Tensor self) -> Tensor", unary<chlo::ErfOp>);
  table.add("aten::erfc(Tensor self) -> Tensor", unary<chlo::ErfcOp>);
  table.add("aten::erfinv(Tensor self) -> Tensor", unary<chlo::ErfInvOp>);
  table.add("aten::special_erfcx(Tensor self) -> Tensor", formula<scaledComplement>);
  table.add("aten::special_ndtri(Tensor self) -> Tensor", formula<normalQuantile>);
  table.add("aten::gelu(Tensor self, *, str approximate='none') -> Tensor", gelu, AsComposite{"gelu"});
}

} // namespace torchere::lowering
