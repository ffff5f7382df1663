// Orthogonal polynomials of degrees that a tensor holds, by their recurrences.
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "lowering/region.h"

#include <limits>
#include <numeric>
#include <string>

namespace torchere::lowering {

namespace {

/// A family of polynomials p(0) = 1, p(1), ...: the first, and p(k + 1) from p(k) and p(k - 1).
struct PolynomialFamily {
  Elements (*first)(const Elements &x);
  Elements (*next)(const Elements &x, const Elements &k, const Elements &current, const Elements &previous);
};

Elements itself(const Elements &x) {
  return x;
}
Elements twice(const Elements &x) {
  return x + x;
}
Elements twiceLessOne(const Elements &x) {
  return x + x - 1.0;
}
Elements twiceAndOne(const Elements &x) {
  return x + x + 1.0;
}
Elements oneLess(const Elements &x) {
  return 1.0 - x;
}

Elements nextChebyshev(const Elements &x, const Elements &, const Elements &current,
                       const Elements &previous) {
  return (x + x) * current - previous;
}
Elements nextHermite(const Elements &x, const Elements &k, const Elements &current,
                     const Elements &previous) {
  return (x + x) * current - (k + k) * previous;
}
Elements nextProbabilistHermite(const Elements &x, const Elements &k, const Elements &current,
                                const Elements &previous) {
  return x * current - k * previous;
}
Elements nextLaguerre(const Elements &x, const Elements &k, const Elements &current,
                      const Elements &previous) {
  return ((k + k + (1.0 - x)) * current - k * previous) / (k + 1.0);
}
Elements nextLegendre(const Elements &x, const Elements &k, const Elements &current,
                      const Elements &previous) {
  return ((k + k + 1.0) * x * current - k * previous) / (k + 1.0);
}

/// The polynomials of the degrees `n`, whose fractions are cut off: 0 where they are negative then.
Elements polynomialsOf(Context &cx, const Elements &x, const Elements &n, const PolynomialFamily &family) {
  Elements whole = (n < 0.0).select(-floor(-n), floor(n));
  Elements degree = (n < std::numeric_limits<double>::infinity()).select(whole, -1.0);
  Elements one = x.constant(1.0);
  Integers axes(Context::rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  // The state: the polynomials of degree k and k - 1, k, the degrees, the results, x.
  Values done = repeatWhile(
      cx, {family.first(x), one, one, degree, equal(degree, 0.0).select(one, x.constant(0.0)), x},
      [&](mlir::ValueRange state) {
        mlir::Value remains = Elements(cx, state[3]) >= Elements(cx, state[2]);
        return Values{axes.empty()
                          ? remains
                          : cx.reduceWith<stablehlo::OrOp>(remains, cx.constant(false, DType::Bool), axes)};
      },
      [&](mlir::ValueRange state) {
        Elements current(cx, state[0]), previous(cx, state[1]), k(cx, state[2]), x(cx, state[5]);
        Elements result = equal(k, Elements(cx, state[3])).select(current, Elements(cx, state[4]));
        return Values{family.next(x, k, current, previous), current, k + 1.0, state[3], result, x};
      });
  return {cx, done[4]};
}

/// Of degrees in a tensor, of one degree, and of one number.
void addFamily(OpTable &table, const std::string &name, const PolynomialFamily &family,
               bool isShifted = false) {
  auto row = [family, isShifted](Context &cx, const Args &args) -> mlir::Value {
    Elements x = formulaOperand(cx, args, "x"), n = formulaOperand(cx, args, "n");
    Elements result = polynomialsOf(cx, isShifted ? twiceLessOne(x) : x, n, family);
    return cx.convert(result, cx.resultType().dtype);
  };
  std::string op = "aten::special_" + name;
  table.add(op + "(Tensor x, Tensor n) -> Tensor", row);
  table.add(op + ".n_scalar(Tensor x, Scalar n) -> Tensor", row);
  table.add(op + ".x_scalar(Scalar x, Tensor n) -> Tensor", row);
}

} // namespace

void addOrthogonalPolynomial(OpTable &table) {
  for (bool isShifted : {false, true}) {
    std::string prefix = isShifted ? "shifted_chebyshev_polynomial_" : "chebyshev_polynomial_";
    addFamily(table, prefix + "t", {itself, nextChebyshev}, isShifted);
    addFamily(table, prefix + "u", {twice, nextChebyshev}, isShifted);
    addFamily(table, prefix + "v", {twiceLessOne, nextChebyshev}, isShifted);
    addFamily(table, prefix + "w", {twiceAndOne, nextChebyshev}, isShifted);
  }
  addFamily(table, "hermite_polynomial_h", {twice, nextHermite});
  addFamily(table, "hermite_polynomial_he", {itself, nextProbabilistHermite});
  addFamily(table, "laguerre_polynomial_l", {oneLess, nextLaguerre});
  addFamily(table, "legendre_polynomial_p", {itself, nextLegendre});
}

} // namespace torchere::lowering
