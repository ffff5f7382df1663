// Random numbers: verifiers.
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/random.cpp.inc"

namespace torchere::stablehlo {

void addRandomOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/random.cpp.inc"
      >();
}

LogicalResult RngOp::verify() {
  Reporter reporter(*this);
  if (failed(reporter.sameElements("C1", "a", getA(), "b", getB())) ||
      failed(reporter.sameElements("C1", "a", getA(), "result", getResult())))
    return failure();
  Type element = elementType(getA().getType());
  if (getRngDistribution() == RngDistribution::NORMAL && !isFloat(element))
    return reporter.violation("C2", "elements of a NORMAL distribution: got ", element,
                              ", expected a floating-point type");
  if (failed(reporter.length("C3", "shape", getShape(), getType().getRank())))
    return failure();
  DenseIntElementsAttr shape;
  if (!matchPattern(getShape(), m_Constant(&shape)))
    return success();
  for (auto [got, expected] : llvm::zip(getType().getShape(), shape.getValues<APInt>()))
    if (!mayEqual(got, expected.getSExtValue()))
      return reporter.violation("C3", "result is ", getType(), ", expected the shape ", shape);
  return success();
}

LogicalResult RngBitGeneratorOp::verify() {
  // (C2), the number of elements for each algorithm, and their type: upstream checks only the shapes.
  auto state = getInitialState().getType(), next = getOutputState().getType();
  if (succeeded(verifyCompatibleShape(state, next)))
    return success();
  return violation(*this, "C1", "shapes of initial_state and output_state differ: got ", state, " and ",
                   next);
}

} // namespace torchere::stablehlo
