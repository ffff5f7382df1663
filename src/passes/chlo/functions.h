// Elementwise functions as formulas of StableHLO's. Operands are float32 or float64, and of one shape.
//
// Unless said otherwise a result is within a few units in the last place, except close to zeros of the
// function where it is close to that in absolute terms. NaN gives NaN.
#pragma once

#include "passes/chlo/formula.h"

namespace torchere::passes {

Elements errorFunction(const Elements &x);
Elements complementaryErrorFunction(const Elements &x);
/// Infinite at 1 and -1, NaN beyond.
Elements inverseErrorFunction(const Elements &x);

/// log |gamma(x)|; infinite at 0, the negative integers and the infinities.
Elements logGamma(const Elements &x);
/// -infinity at 0, +infinity at -0, NaN at the negative integers and at -infinity.
Elements digamma(const Elements &x);
/// The sum of (q + k)^-x for k = 0, 1, ...: infinite for x = 1 and for q = 0, -1, ..., NaN for x < 1 and for
/// other negative q unless x is an integer.
Elements zeta(const Elements &x, const Elements &q);
/// Derivative n of digamma; NaN unless n is 0, 1, 2, ....
Elements polygamma(const Elements &n, const Elements &x);

/// exp(-|x|) I1(x).
Elements besselI1e(const Elements &x);

Elements arcSine(const Elements &x);
Elements arcCosine(const Elements &x);
Elements arcTangent(const Elements &x);
Elements hyperbolicSine(const Elements &x);
Elements hyperbolicCosine(const Elements &x);
Elements hyperbolicArcSine(const Elements &x);
Elements hyperbolicArcCosine(const Elements &x);
Elements hyperbolicArcTangent(const Elements &x);

} // namespace torchere::passes
