// expandArcTangents: replaces atan2 by a formula.
#include "passes/chlo/angle.h"
#include "passes/prepare/plugin_passes.h"

#include <numbers>

using namespace mlir;

namespace torchere::passes {

namespace {

using std::numbers::pi;

/// atan(z) / z for |z| <= tan(pi / 8), in z * z: Chebyshev interpolation, computed with 50 digits.
constexpr double arcTangents[] = {1.0,
                                  -0.3333333333333312,
                                  0.19999999999940893,
                                  -0.14285714279250245,
                                  0.11111110744919658,
                                  -0.09090896809064027,
                                  0.07692045330902225,
                                  -0.06662951813629191,
                                  0.05846878297330872,
                                  -0.05035102456601552,
                                  0.03796525745386593,
                                  -0.017805397205419446};

/// atan of numbers from 0 to 1; near 1, from the difference to 1.
Elements arcTangentOfFraction(const Elements &x) {
  Elements isNearOne = x > 0.41421356237309503; // tan(pi / 8)
  Elements z = isNearOne.select((x - 1.0) / (x + 1.0), x);
  Elements value = z * polynomial(z * z, arcTangents);
  return isNearOne.select(pi / 4 + value, value);
}

/// As C's atan2, including signs of zeros.
Elements arcTangentOf(const Elements &y, const Elements &x) {
  Elements width = abs(x), height = abs(y);
  Elements longer = maximum(width, height), shorter = minimum(width, height);
  Elements ratio = equal(shorter, longer).select(1.0, shorter / longer); // also where both are infinite
  Elements acute = arcTangentOfFraction(equal(longer, 0.0).select(0.0, ratio));
  Elements upright = (height > width).select(pi / 2 - acute, acute);
  return withSignBit(isNegative(x).select(pi - upright, upright), y);
}

} // namespace

void expandArcTangents(ModuleOp module) {
  SmallVector<stablehlo::Atan2Op> ops;
  module.walk([&](stablehlo::Atan2Op op) {
    if (isa<FloatType>(stablehlo::elementType(op.getType())))
      ops.push_back(op);
  });
  for (stablehlo::Atan2Op op : ops) {
    OpBuilder builder(op);
    Value angle =
        buildFormula(builder, op, [](auto operands) { return arcTangentOf(operands[0], operands[1]); });
    op.replaceAllUsesWith(withType(builder, op.getLoc(), angle, op.getType()));
    op.erase();
  }
}

} // namespace torchere::passes
