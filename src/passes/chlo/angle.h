// The angle of a point in the plane, including signs of zeros.
#pragma once

#include "passes/chlo/formula.h"

namespace torchere::passes {

/// Bools: whether the sign bit is set. False for NaN.
Elements isNegative(const Elements &x);

/// `magnitude`, which is not negative, with the sign of x.
Elements withSignBit(const Elements &magnitude, const Elements &x);

/// The angle from the positive x axis to the point (x, y), in [-pi, pi], as C's atan2.
Elements angle(const Elements &y, const Elements &x);

} // namespace torchere::passes
