// The Hurwitz zeta function and polygamma, its special case at integers.
//
// zeta(s, q) for positive q is summed by Euler and Maclaurin's formula (Abramowitz and Stegun, 23.1.30): some
// terms one by one, the rest as an integral and its corrections.
#include "passes/chlo/functions.h"

namespace torchere::passes {

namespace {

/// B(2j) / (2j)! for j = 1, 2, ..., of the Bernoulli numbers B.
constexpr double corrections[] = {0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
                                  -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
                                  1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
                                  -2.174868698558062e-16};

/// How many terms are summed one by one, and how many corrections the rest takes.
int summands(const Elements &x) {
  return isDouble(x) ? 10 : 5;
}
size_t correctionCount(const Elements &x) {
  return isDouble(x) ? 10 : 4;
}

/// The sum over k of (q / (q + k))^s, which is zeta(s, q) q^s, for s > 1 and q > 0: it neither overflows nor
/// underflows.
Elements scaledZeta(const Elements &s, const Elements &anyQ) {
  Elements q = minimum(anyQ, isDouble(anyQ) ? 1e300 : 1e30); // infinity would give infinity / infinity
  Elements end = q + static_cast<double>(summands(q));
  // Where s is far above the end, what is left is too small to count, and its corrections must not overflow.
  Elements bounded = minimum(s, end * 5.0);
  Elements inverse = 1.0 / end;
  Elements sum = q.constant(corrections[correctionCount(q) - 1]);
  for (size_t j = correctionCount(q) - 1; j-- > 0;)
    sum = sum * ((bounded + (2.0 * j + 1.0)) * inverse) * ((bounded + (2.0 * j + 2.0)) * inverse) +
          corrections[j];
  Elements rest = end / (s - 1.0) + 0.5 + bounded * inverse * sum;
  Elements total = power(q * inverse, s) * rest;
  for (int k = summands(q) - 1; k > 0; --k)
    total = total + power(q / (q + static_cast<double>(k)), s);
  return total + 1.0;
}

Elements zetaOfPositive(const Elements &s, const Elements &q) {
  Elements half = power(q, -0.5 * s); // q^-s may underflow where the result does not
  return half * scaledZeta(s, q) * half;
}

Elements isInteger(const Elements &x) {
  return equal(x, floor(x));
}

Elements isOdd(const Elements &x) {
  return equal(x - 2.0 * floor(x * 0.5), 1.0);
}

/// For q <= 0. An integer s has a value between the poles, from positive arguments: q's terms below zero, the
/// last of which is at `rest`, are those of a sum that ends at |q|.
Elements zetaOfNegative(const Elements &s, const Elements &q) {
  Elements magnitude = abs(q);
  Elements rest = magnitude - floor(magnitude);
  Elements below = zetaOfPositive(s, rest) - zetaOfPositive(s, 1.0 + magnitude);
  Elements value = zetaOfPositive(s, 1.0 - rest) + isOdd(s).select(-below, below);
  return isInteger(q).select(infinity, isInteger(s).select(value, nan));
}

} // namespace

Elements zeta(const Elements &x, const Elements &q) {
  Elements value = (q > 0.0).select(zetaOfPositive(x, q), zetaOfNegative(x, q));
  Elements result = equal(x, 1.0).select(infinity, (x < 1.0).select(nan, value));
  return equal(q, q).select(result, q); // no comparison above holds for NaN
}

Elements polygamma(const Elements &n, const Elements &x) {
  Elements s = n + 1.0;
  Elements logFactorial = logGamma(s);
  // The factorial and the power may overflow or underflow where their product does not.
  Elements half = exp(0.5 * logFactorial) * power(x, -0.5 * s);
  Elements positive = half * scaledZeta(s, x) * half;
  Elements magnitude = (x > 0.0).select(positive, exp(logFactorial) * zetaOfNegative(s, x));
  Elements value = isOdd(n).select(magnitude, -magnitude);
  Elements isOrder = both(isInteger(n), both(n >= 0.0, n < n.constant(infinity)));
  return isOrder.select(equal(n, 0.0).select(digamma(x), value), nan);
}

} // namespace torchere::passes
