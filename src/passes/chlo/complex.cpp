// Implements the functions of complex numbers.
//
// Inverse sine and cosine after Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine
// functions using exception handling" (1997); the inverse tangent after Kahan, "Branch cuts for complex
// elementary functions" (1987). Products are arranged so that intermediate results neither overflow nor
// underflow.
#include "passes/chlo/complex.h"

#include "passes/chlo/angle.h"

#include <cmath>
#include <numbers>

namespace torchere::passes {

namespace {

using std::numbers::pi;

/// Where squares begin to overflow, with room for small factors.
double squareLimit(const Elements &x) {
  return isDouble(x) ? 1e153 : 1e18;
}

/// shorter / longer of two non-negative lengths, where 0 / 0 is 0 and infinity / infinity 1.
Elements ratioOf(const Elements &shorter, const Elements &longer) {
  Elements ratio = equal(shorter, longer).select(1.0, shorter / longer);
  return equal(longer, 0.0).select(0.0, ratio);
}

/// sqrt(x * x + y * y).
Elements length(const Elements &x, const Elements &y) {
  Elements longer = maximum(abs(x), abs(y)), shorter = minimum(abs(x), abs(y));
  Elements ratio = ratioOf(shorter, longer);
  return longer * sqrt(1.0 + ratio * ratio);
}

/// log(2 |z|) of a large z.
Elements logOfTwice(const Elements &x, const Elements &y) {
  Elements longer = maximum(x, y);
  Elements ratio = ratioOf(minimum(x, y), longer);
  return std::log(2.0) + log(longer) + 0.5 * log1p(ratio * ratio);
}

Complex timesI(const Complex &z) {
  return {-z.imaginary, z.real};
}

} // namespace

Complex inverseSineKernel(const Complex &z) {
  Elements x = abs(z.real), y = abs(z.imaginary);
  Elements right = length(x + 1.0, y), left = length(x - 1.0, y);
  Elements a = 0.5 * (right + left);
  Elements isInside = x < 1.0;
  // y times `inner` is a - 1 within the strip |x| < 1, and a - x outside of it; both would lose y's digits as
  // a difference. Otherwise `plain` is the other of the two.
  Elements beside = abs(1.0 - x);
  Elements inner = 0.5 * (y / (right + x + 1.0) + y / (left + beside));
  Elements plain = 0.5 * (y * (y / (right + x + 1.0)) + (left + beside));
  Elements below = isInside.select(y * inner, plain); // a - 1
  // sqrt((a - 1) (a + 1)) and sqrt((a + x) (a - x)); sqrt(y) apart, as y * inner may vanish.
  Elements thin = sqrt(y) * sqrt(inner), thick = sqrt(plain);
  Elements root = isInside.select(thin, thick) * sqrt(a + 1.0);
  Elements edge = isInside.select(thick, thin) * sqrt(a + x);
  Elements isOnAxis = equal(y, 0.0);
  Elements height = log1p(below + root);
  Elements isLarge = maximum(x, y) > squareLimit(x);
  Elements sharp = both(isOnAxis, x >= 1.0).select(0.0, edge);
  Elements flat = both(isOnAxis, x <= 1.0).select(0.0, height);
  return {isLarge.select(y, sharp), isLarge.select(logOfTwice(x, y), flat)};
}

Complex arcSine(const Complex &z) {
  Complex kernel = inverseSineKernel(z);
  return {angle(z.real, kernel.real), withSignBit(kernel.imaginary, z.imaginary)};
}

Complex arcCosine(const Complex &z) {
  Complex kernel = inverseSineKernel(z);
  return {angle(kernel.real, z.real), -withSignBit(kernel.imaginary, z.imaginary)};
}

Complex hyperbolicArcSine(const Complex &z) {
  Complex kernel = inverseSineKernel(timesI(z));
  return {withSignBit(kernel.imaginary, z.real), angle(z.imaginary, kernel.real)};
}

Complex hyperbolicArcCosine(const Complex &z) {
  Complex kernel = inverseSineKernel(z);
  return {kernel.imaginary, withSignBit(angle(kernel.real, z.real), z.imaginary)};
}

Complex hyperbolicArcTangent(const Complex &z) {
  Elements x = abs(z.real), y = z.imaginary;
  Elements apart = length(1.0 - x, y); // from the pole
  Elements near = 0.5 * (std::log(2.0) - log(apart));
  Elements far = 0.25 * log1p(4.0 * ((x / apart) / apart));
  Elements real = (apart < (isDouble(x) ? 1e-20 : 1e-10)).select(near, far);
  Elements isLarge = maximum(x, abs(y)) > squareLimit(x);
  Elements isInfinite = equal(maximum(x, abs(y)), infinity);
  Elements imaginary = 0.5 * angle(2.0 * y, (1.0 - x) * (1.0 + x) - y * y);
  return {withSignBit(isInfinite.select(0.0, real), z.real),
          isLarge.select(withSignBit(x.constant(pi / 2), y), imaginary)};
}

Complex arcTangent(const Complex &z) {
  Complex turned = hyperbolicArcTangent(timesI(z));
  return {turned.imaginary, -turned.real};
}

namespace {

/// sinh(x) * factor and cosh(x) * factor, which may be finite where sinh(x) and cosh(x) are not.
Elements sineTimes(const Elements &x, const Elements &factor) {
  Elements root = exp(abs(x) * 0.5);
  Elements large = ((0.5 * root) * factor) * root - ((0.5 / root) * factor) / root;
  Elements less = expm1(minimum(maximum(x, -1.0), 1.0));
  Elements small = 0.5 * (less + less / (less + 1.0)) * factor;
  return (abs(x) < 1.0).select(small, (x < 0.0).select(-large, large));
}

Elements cosineTimes(const Elements &x, const Elements &factor) {
  Elements root = exp(abs(x) * 0.5);
  return ((0.5 * root) * factor) * root + ((0.5 / root) * factor) / root;
}

/// On the real axis the imaginary part stays zero, even where the real part is infinite.
Elements unlessReal(const Elements &zero, const Elements &sine, const Elements &value) {
  return equal(sine, 0.0).select(zero, value);
}

} // namespace

Complex hyperbolicSine(const Complex &z) {
  Elements sinus = sine(z.imaginary);
  return {sineTimes(z.real, cosine(z.imaginary)), unlessReal(sinus, sinus, cosineTimes(z.real, sinus))};
}

Complex hyperbolicCosine(const Complex &z) {
  Elements sinus = sine(z.imaginary);
  Elements zero = sinus * minimum(maximum(z.real, -1.0), 1.0);
  return {cosineTimes(z.real, cosine(z.imaginary)), unlessReal(zero, sinus, sineTimes(z.real, sinus))};
}

Complex conjugate(const Complex &z) {
  return {z.real, -z.imaginary};
}

Complex square(const Complex &z) {
  // Not x * x - y * y, where both squares may overflow. The sum of equal parts may still overflow, and its
  // product with their difference would then be NaN.
  Elements x = z.real, y = z.imaginary;
  Elements isDiagonal = both(equal(abs(x), abs(y)), abs(x) < infinity);
  return {isDiagonal.select(0.0, (x - y) * (x + y)), x * y * 2.0};
}

} // namespace torchere::passes
