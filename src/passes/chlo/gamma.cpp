// log-gamma and its derivative, digamma.
//
// Near 1 and 2 both come from a polynomial about the point between (Chebyshev interpolation, computed with 50
// digits), which keeps the digits at the zeros there; arguments a little away are moved by the recurrences
// gamma(x + 1) = x gamma(x) and psi(x + 1) = psi(x) + 1 / x, large ones use Stirling's series, negative ones
// the reflection formulas (Abramowitz and Stegun, 6.1.15, 6.1.17, 6.1.41, 6.3.5, 6.3.7, 6.3.18).
#include "passes/chlo/functions.h"

#include <cmath>
#include <numbers>

namespace torchere::passes {

namespace {

using std::numbers::pi;

/// log(gamma(2 + t)) / t for |t| <= 1/2.
constexpr double logGammaSingle[] = {0.42278432846069336,    0.32246702909469604,   -0.0673522800207138,
                                     0.020580800250172615,   -0.00738617405295372,  0.002890795236453414,
                                     -0.0011858600191771984, 0.0005065171280875802, -0.0002538170956540853,
                                     0.00011347282270435244};
constexpr double logGammaDouble[] = {
    0.42278433509846713,     0.3224670334241132,     -0.06735230105319814,    0.02058080842778457,
    -0.0073855510286681535,  0.002890510330738737,   -0.0011927539120010226,  0.0005096695248853096,
    -0.00022315475074520367, 9.945750909889392e-05,  -4.4926351103833334e-05, 2.050726741605779e-05,
    -9.438458716242811e-06,  4.374374916915131e-06,  -2.0449201467015115e-06, 9.578663334114758e-07,
    -4.303558760359961e-07,  2.0304806751615227e-07, -1.3412819758517287e-07, 6.379047507619774e-08};

/// psi(x) / (x - root) for 1 <= x <= 2, in x - 1.5.
constexpr double digammaSingle[] = {0.9510558843612671,   -0.42362743616104126, 0.24053844809532166,
                                    -0.14840224385261536, 0.09511622041463852,  -0.06200706958770752,
                                    0.03936941921710968,  -0.02604888193309307, 0.02390907146036625,
                                    -0.0159063171595335};
constexpr double digammaDouble[] = {
    0.951055876031833,      -0.4236274212814605,    0.2405424842407742,    -0.14840492305390884,
    0.09498872445494122,    -0.061922133273064534,  0.04076083381242074,   -0.02697579675613825,
    0.0179072524394512,     -0.011908218001568644,  0.007926944646403797,  -0.005279964873257405,
    0.003519006401502276,   -0.002345267632540769,  0.0015566317474486838, -0.0010376374098418604,
    0.0007233266279287554,  -0.0004821990530566789, 0.0002272331660987376, -0.00015148586836773365,
    0.00025968482126430747, -0.00017312261802727394};

/// Bernoulli numbers B2, B4, ....
constexpr double bernoulli[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};

/// Where Stirling's series begins, and how many of its terms reach the precision there.
int seriesStart(const Elements &x) {
  return isDouble(x) ? 8 : 4;
}
size_t seriesTerms(const Elements &x) {
  return isDouble(x) ? 9 : 4;
}

/// The sum of B(2k) / (2k (2k - 1)^(0 or 1)) y^(k - 1): the series' terms, in y = 1 / x^2.
Elements seriesOf(const Elements &y, bool derived) {
  llvm::SmallVector<double> coefficients;
  for (size_t k = 1; k <= seriesTerms(y); ++k)
    coefficients.push_back(bernoulli[k - 1] / (derived ? 2.0 * k : 2.0 * k * (2.0 * k - 1)));
  return polynomial(y, coefficients);
}

Elements logGammaOfLarge(const Elements &value) {
  Elements x = maximum(value, seriesStart(value));
  Elements inverse = 1.0 / x;
  Elements series = inverse * seriesOf(inverse * inverse, false);
  return (x - 0.5) * (log(x) - 1.0) + (0.5 * std::log(2.0 * pi) - 0.5) + series;
}

/// log(gamma(x)) for 0 <= x up to where the series begins: log(gamma(2 + t)), |t| <= 1/2, and the logarithm
/// of what the recurrence multiplies by.
Elements logGammaOfSmall(const Elements &value) {
  Elements x = minimum(value, seriesStart(value));
  Elements nearest = floor(x + 0.5);
  Elements t = x - nearest;
  Elements center = t * polynomial(t, precise(x, logGammaSingle, logGammaDouble));
  Elements factor = x.constant(1.0);
  for (int k = 2; k < seriesStart(x); ++k)
    factor = factor * (nearest > k).select(t + k, 1.0);
  Elements divisor = (nearest < 1.0).select(x * (1.0 + x), (nearest < 2.0).select(x, 1.0));
  return center + log(factor) - log(divisor);
}

Elements logGammaOfPositive(const Elements &x) {
  return (x < seriesStart(x)).select(logGammaOfSmall(x), logGammaOfLarge(x));
}

/// pi times the distance of x >= 0 from the nearest integer, signed. The distance is exact.
Elements angleOf(const Elements &x) {
  Elements fraction = x - floor(x);
  return pi * (fraction > 0.5).select(fraction - 1.0, fraction);
}

Elements digammaOfLarge(const Elements &value) {
  Elements x = maximum(value, seriesStart(value));
  Elements inverse = 1.0 / x;
  Elements square = inverse * inverse;
  return log(x) - 0.5 * inverse - square * seriesOf(square, true);
}

Elements digammaOfSmall(const Elements &value) {
  Elements x = minimum(value, seriesStart(value));
  Elements base = (x < 1.0).select(x + 1.0, x - maximum(floor(x) - 1.0, 0.0)); // in [1, 2]
  double root = isDouble(x) ? 1.4616321449683622 : 1.4616321325302124;
  double rest = isDouble(x) ? 9.549995429965697e-17 : 1.243815006546356e-08;
  Elements slope = polynomial(base - 1.5, precise(x, digammaSingle, digammaDouble));
  // (base - root - rest) * slope; compilers would add the two constants.
  Elements center = (base - root) * slope - rest * slope;
  Elements sum = (x < 1.0).select(-1.0 / x, 0.0);
  for (int k = 1; k < seriesStart(x) - 1; ++k)
    sum = sum + (x >= k + 1.0).select(1.0 / maximum(x - static_cast<double>(k), 1.0), 0.0);
  return center + sum;
}

Elements digammaOfPositive(const Elements &x) {
  return (x < seriesStart(x)).select(digammaOfSmall(x), digammaOfLarge(x));
}

} // namespace

Elements logGamma(const Elements &x) {
  Elements isNegative = x < 0.0;
  Elements positive = logGammaOfPositive(isNegative.select(1.0 - x, x));
  Elements reflected = std::log(pi) - log(abs(sine(angleOf(abs(x))))) - positive;
  Elements result = isNegative.select(reflected, positive);
  return equal(abs(x), infinity).select(infinity, result);
}

Elements digamma(const Elements &x) {
  Elements isNegative = x < 0.0;
  Elements positive = digammaOfPositive(isNegative.select(1.0 - x, x));
  Elements angle = angleOf(abs(x));
  Elements reflected = positive + pi * cosine(angle) / sine(angle);
  Elements result = isNegative.select(equal(angle, 0.0).select(nan, reflected), positive);
  return equal(x, 0.0).select(-1.0 / x, result);
}

} // namespace torchere::passes
