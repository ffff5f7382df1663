// Implements the angle of a point.
#include "passes/chlo/angle.h"

namespace torchere::passes {

Elements isNegative(const Elements &x) {
  return equal(x, 0.0).select(1.0 / x, x) < 0.0;
}

Elements withSignBit(const Elements &magnitude, const Elements &x) {
  return isNegative(x).select(-magnitude, magnitude);
}

Elements angle(const Elements &y, const Elements &x) {
  return y.apply<stablehlo::Atan2Op>(x);
}

} // namespace torchere::passes
