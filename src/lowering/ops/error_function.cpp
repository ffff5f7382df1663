// The error function, its complement, and gelu, which is made of it.
//
// The polynomials interpolate at Chebyshev nodes; they were computed with 50 digits and tried against exact
// values over the whole range. erfc holds to 4e-16 in float64 and 2e-7 in float32, absolutely, and relatively
// to 6e-14 and 4e-6 as far out as it is a normal number (the error of exp(-x * x) grows with x * x there).
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <cmath>
#include <vector>

namespace torchere::lowering {

namespace {

struct Polynomials {
  std::vector<double> center; ///< erf(x) / x for 0 <= x <= 1, in x * x
  std::vector<double> tail;   ///< (1 + 2 x) exp(x * x) erfc(x) for x >= 0, in (x - 3) / (x + 3)
  double end;                 ///< where erfc is 0
};

const Polynomials &doublePolynomials() {
  static const Polynomials polynomials = {
      {1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
       0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05,
       1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10},
      {1.2530080582697296,     -0.13562110612457573,    -0.04756229435344576,   0.129645158702281,
       -0.11927366341575335,   0.06830802735644051,     -0.02377051490712486,   0.0025293916666211625,
       0.0018886902217603342,  -0.000779831276440303,   -0.000105158888745708,  0.00012509529969692863,
       4.945791788878783e-06,  -2.0089974601937562e-05, -7.218910913909693e-07, 3.4542640815449015e-06,
       3.4040811203344006e-07, -5.963735757072212e-07,  -1.232972365581405e-07, 8.764763429942915e-08,
       2.900096033455807e-08,  -7.639805706660184e-09,  -3.3911975149641994e-09},
      28.0};
  return polynomials;
}

const Polynomials &singlePolynomials() {
  static const Polynomials polynomials = {
      {1.1283791658483509, -0.37612626666720334, 0.11283594715160218, -0.026854212010626412,
       0.005189087423433974, -0.000801686428716587, 7.875875062685488e-05},
      {1.2530080582697296, -0.13562021387623402, -0.04756225170643757, 0.12962717489066664,
       -0.11927451860620696, 0.0684107595220041, -0.023765692173267204, 0.002284952149043377,
       0.00187749464838414, -0.0005131594359951843, -9.351062915344479e-05},
      11.0};
  return polynomials;
}

const Polynomials &polynomialsFor(mlir::Value value) {
  return Context::dtype(value) == DType::F64 ? doublePolynomials() : singlePolynomials();
}

/// erfc of values that are not negative.
Elements complementOfPositive(const Elements &value) {
  const Polynomials &polynomials = polynomialsFor(value);
  Elements x = minimum(value, polynomials.end);
  Elements scaled = polynomial((x - 3.0) / (x + 3.0), polynomials.tail);
  return scaled / (1.0 + 2.0 * x) * exp(-(x * x));
}

Elements complementOf(const Elements &x) {
  Elements positive = complementOfPositive(abs(x));
  return (x < 0.0).select(2.0 - positive, positive);
}

Elements errorFunctionOf(const Elements &x) {
  Elements magnitude = abs(x);
  Elements clamped = minimum(magnitude, 1.0);
  Elements center = x * polynomial(clamped * clamped, polynomialsFor(x).center);
  Elements tail = 1.0 - complementOfPositive(magnitude);
  return (magnitude < 1.0).select(center, (x < 0.0).select(-tail, tail));
}

/// Integers become the result's floats; half precision is computed in float32.
Elements operand(Context &cx, const Args &args) {
  return {cx, cx.convert(args.tensor("self"), computeType(cx.resultType().dtype))};
}

mlir::Value errorFunction(Context &cx, const Args &args) {
  return cx.convert(errorFunctionOf(operand(cx, args)), cx.resultType().dtype);
}

mlir::Value complement(Context &cx, const Args &args) {
  return cx.convert(complementOf(operand(cx, args)), cx.resultType().dtype);
}

/// x times the normal distribution up to x; erfc keeps the digits that 1 + erf would lose where x is
/// negative.
Elements exactGelu(const Elements &x) {
  return 0.5 * x * complementOf(x * -std::sqrt(0.5));
}

Elements tanhGelu(const Elements &x) {
  Elements inner = std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}

Result<mlir::Value> gelu(Context &cx, const Args &args) {
  std::string approximation = args.string("approximate");
  if (approximation != "none" && approximation != "tanh")
    return cx.invalid("unknown approximation: got '{}', expected 'none' or 'tanh'", approximation);
  Elements x = operand(cx, args);
  return cx.convert(approximation == "none" ? exactGelu(x) : tanhGelu(x), cx.resultType().dtype);
}

} // namespace

void addErrorFunction(OpTable &table) {
  table.add("aten::erf(Tensor self) -> Tensor", errorFunction);
  table.add("aten::erfc(Tensor self) -> Tensor", complement);
  table.add("aten::gelu(Tensor self, *, str approximate='none') -> Tensor", gelu);
}

} // namespace torchere::lowering
