// The gamma function's kin: its logarithm, the derivatives of that, zeta, and the incomplete gamma functions.
//
// The incomplete functions are x^a e^-x / gamma(a + 1) times a power series, or a continued fraction where x
// is larger than a (Abramowitz and Stegun, 6.5.29 and 6.5.31), both summed in a loop until no element
// changes.
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "lowering/region.h"
#include "stablehlo/chlo_dialect.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace torchere::lowering {

namespace {

mlir::Value polygamma(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  Elements self(cx, cx.convert(args.tensor("self"), computeType(dtype)));
  int64_t order = args.integer("n");
  Elements result =
      order == 0 ? self.apply<chlo::DigammaOp>() : self.constant(order).apply<chlo::PolygammaOp>(self);
  return cx.convert(result, dtype);
}

Elements zeta(const Elements &x, const Elements &q) {
  return x.apply<chlo::ZetaOp>(q);
}

Elements logGamma(const Elements &x) {
  return x.apply<chlo::LgammaOp>();
}

/// log(x / a) - (x - a) / a, whose digits near a = x a plain difference would lose.
Elements logOfRatioLess(const Elements &x, const Elements &a) {
  // With y = (x - a) / a and s = y / (2 + y), log(1 + y) = 2 atanh(s), and y - 2 s = y s.
  Elements y = (x - a) / a, s = y / (2.0 + y), square = s * s;
  llvm::SmallVector<double> coefficients;
  for (int k = 0; k < 14; ++k)
    coefficients.push_back(2.0 / (2 * k + 3));
  Elements near = s * (square * polynomial(square, coefficients) - y);
  return (abs(y) < 0.5).select(near, log(x / a) - y);
}

/// log(gamma(a + 1)) - (a log(a) - a + log(2 pi a) / 2), for a >= 10, by Stirling's series.
Elements stirlingRest(const Elements &a) {
  Elements inverse = 1.0 / a;
  return inverse * polynomial(inverse * inverse, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                                  -691.0 / 360360, 1.0 / 156});
}

/// x^a e^-x / gamma(a + 1), of positive numbers. The exponents of large ones cancel, but for what is computed
/// here.
Elements leadingFactor(const Elements &a, const Elements &x) {
  Elements large = maximum(a, 10.0);
  Elements ofLarge =
      exp(large * logOfRatioLess(x, large) - stirlingRest(large)) / sqrt(2.0 * std::numbers::pi * large);
  Elements small = minimum(a, 10.0);
  Elements ofSmall = exp(small * log(x) - x - logGamma(small + 1.0));
  return (a < 10.0).select(ofSmall, ofLarge);
}

double precisionOf(const Elements &x) {
  return isDouble(x) ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

/// Whether any element of these bools holds.
mlir::Value anyOf(Context &cx, mlir::Value bools) {
  Integers axes;
  for (int64_t axis = 0; axis < Context::rank(bools); ++axis)
    axes.push_back(axis);
  return axes.empty() ? bools : cx.reduceWith<stablehlo::OrOp>(bools, cx.constant(false, DType::Bool), axes);
}

/// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., where `isUsed`.
Elements powerSeries(Context &cx, const Elements &a, const Elements &anyX, const Elements &isUsed) {
  Elements x = isUsed.select(anyX, 0.0), one = a.constant(1.0);
  // The state: the term, the sum, the term's divisor, x.
  Values done = repeatWhile(
      cx, {one, one, a + 1.0, x},
      [&](mlir::ValueRange state) {
        Elements term(cx, state[0]), sum(cx, state[1]);
        return Values{anyOf(cx, term > sum * precisionOf(sum) * 0.25)};
      },
      [&](mlir::ValueRange state) {
        Elements divisor(cx, state[2]), x(cx, state[3]);
        Elements term = Elements(cx, state[0]) * x / divisor;
        return Values{term, Elements(cx, state[1]) + term, divisor + 1.0, x};
      });
  return {cx, done[1]};
}

/// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))) where `isUsed`, for x > a, by
/// Lentz's method.
Elements continuedFraction(Context &cx, const Elements &anyA, const Elements &anyX, const Elements &isUsed) {
  Elements a = isUsed.select(anyA, 1.0), x = isUsed.select(anyX, 1.0);
  Elements first = x + 1.0 - a, large = x.constant(isDouble(x) ? 1e300 : 1e30);
  // The state: the fraction, its last factor, the numerators' and the denominators' ratio, the step's number
  // and summand, a.
  Values done = repeatWhile(
      cx, {1.0 / first, x.constant(0.0), large, 1.0 / first, x.constant(0.0), first, a},
      [&](mlir::ValueRange state) {
        Elements factor(cx, state[1]), step(cx, state[4]);
        Elements changes = abs(factor - 1.0) > 4.0 * precisionOf(factor);
        return Values{anyOf(cx, both(changes, step < 5000.0))};
      },
      [&](mlir::ValueRange state) {
        Elements step = Elements(cx, state[4]) + 1.0, a(cx, state[6]);
        Elements summand = Elements(cx, state[5]) + 2.0, numerator = step * (a - step);
        Elements above = summand + numerator / Elements(cx, state[2]);
        Elements below = 1.0 / (summand + numerator * Elements(cx, state[3]));
        Elements factor = above * below;
        return Values{Elements(cx, state[0]) * factor, factor, above, below, step, summand, a};
      });
  return {cx, done[0]};
}

/// The lower part P(a, x), or the upper one, 1 - P(a, x).
Elements incompleteGamma(Context &cx, const Elements &a, const Elements &x, bool isUpper) {
  Elements isInner = both(both(a > 0.0, a < infinity), both(x > 0.0, x < infinity));
  Elements safeA = isInner.select(a, 1.0), safeX = isInner.select(x, 1.0);
  Elements isSeries = either(safeX < 1.0, safeX < safeA), isFraction = isSeries.apply<stablehlo::NotOp>();
  Elements factor = leadingFactor(safeA, safeX);
  Elements lower = factor * powerSeries(cx, safeA, safeX, isSeries);
  Elements upper = factor * safeA * continuedFraction(cx, safeA, safeX, isFraction);
  Elements inner = isUpper ? isSeries.select(1.0 - lower, upper) : isSeries.select(lower, 1.0 - upper);
  // At the ends, in torch's order of precedence.
  double none = isUpper ? 1.0 : 0.0, all = 1.0 - none;
  Elements result = isInner.select(inner, nan);
  result = equal(x, infinity).select(all, result);
  result = equal(a, infinity).select(equal(x, infinity).select(nan, x.constant(none)), result);
  result = equal(x, 0.0).select(none, result);
  result = equal(a, 0.0).select((x > 0.0).select(all, x.constant(nan)), result);
  return either(a < 0.0, x < 0.0).select(nan, result);
}

template <bool isUpper> mlir::Value incompleteGammaRow(Context &cx, const Args &args) {
  Elements a = formulaOperand(cx, args, "self"), x = formulaOperand(cx, args, "other");
  return cx.convert(incompleteGamma(cx, a, x, isUpper), cx.resultType().dtype);
}

} // namespace

void addGamma(OpTable &table) {
  table.add("aten::lgamma(Tensor self) -> Tensor", unary<chlo::LgammaOp>);
  table.add("aten::digamma(Tensor self) -> Tensor", unary<chlo::DigammaOp>);
  table.add("aten::polygamma(int n, Tensor self) -> Tensor", polygamma);
  table.add("aten::special_zeta(Tensor self, Tensor other) -> Tensor", formulaOfTwo<zeta>);
  table.add("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", formulaOfTwo<zeta>);
  table.add("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", formulaOfTwo<zeta>);
  table.add("aten::igamma(Tensor self, Tensor other) -> Tensor", incompleteGammaRow<false>);
  table.add("aten::igammac(Tensor self, Tensor other) -> Tensor", incompleteGammaRow<true>);
}

} // namespace torchere::lowering
