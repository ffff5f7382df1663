// Inverse trigonometric functions, hyperbolic functions and their inverses, of real numbers.
#include "passes/chlo/angle.h"
#include "passes/chlo/functions.h"

#include <cmath>

namespace torchere::passes {

namespace {

Elements withSignOf(const Elements &magnitude, const Elements &x) {
  return (x < 0.0).select(-magnitude, magnitude);
}

/// sqrt(1 - x * x), without cancellation near 1; NaN beyond it.
Elements opposite(const Elements &x) {
  return sqrt((1.0 - x) * (1.0 + x));
}

/// Beyond this, x * x + 1 is x * x.
constexpr double largeArgument = 1e9;

} // namespace

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
  Elements root = exp(abs(x) * 0.5);
  Elements large = (0.5 * root) * root - (0.5 / root) / root;
  Elements less = expm1(minimum(maximum(x, -1.0), 1.0));
  Elements small = 0.5 * (less + less / (less + 1.0));
  return (abs(x) < 1.0).select(small, withSignOf(large, x));
}

Elements hyperbolicCosine(const Elements &x) {
  Elements root = exp(abs(x) * 0.5);
  return (0.5 * root) * root + (0.5 / root) / root;
}

Elements hyperbolicArcSine(const Elements &x) {
  Elements magnitude = abs(x);
  Elements a = minimum(magnitude, largeArgument);
  Elements square = a * a;
  Elements small = log1p(a + square / (1.0 + sqrt(square + 1.0)));
  Elements large = log(magnitude) + std::log(2.0);
  Elements result = withSignOf((magnitude < largeArgument).select(small, large), x);
  return equal(x, 0.0).select(x, result);
}

Elements hyperbolicArcCosine(const Elements &x) {
  Elements above = minimum(x, largeArgument) - 1.0;
  Elements small = log1p(above + sqrt(above * (above + 2.0)));
  Elements large = log(x) + std::log(2.0);
  return (x < 1.0).select(nan, (x < largeArgument).select(small, large));
}

Elements hyperbolicArcTangent(const Elements &x) {
  return 0.5 * (log1p(x) - log1p(-x));
}

} // namespace torchere::passes
