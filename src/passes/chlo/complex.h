// Functions of complex numbers as formulas of their parts.
//
// On branch cuts the sign of a zero part tells the side, as in C's annex G. Results whose parts differ much
// in size are accurate in each part.
#pragma once

#include "passes/chlo/formula.h"

namespace torchere::passes {

struct Complex {
  Elements real;
  Elements imaginary;
};

/// What asin, acos, asinh and acosh are made of. For z = x + i y and a = (|z + 1| + |z - 1|) / 2, the result
/// is sqrt((a + x) (a - x)) + i acosh(a).
Complex inverseSineKernel(const Complex &z);
Complex arcSine(const Complex &z);
Complex arcCosine(const Complex &z);
Complex hyperbolicArcSine(const Complex &z);
Complex hyperbolicArcCosine(const Complex &z);
Complex arcTangent(const Complex &z);
Complex hyperbolicArcTangent(const Complex &z);
Complex hyperbolicSine(const Complex &z);
Complex hyperbolicCosine(const Complex &z);
Complex conjugate(const Complex &z);
Complex square(const Complex &z);

} // namespace torchere::passes
