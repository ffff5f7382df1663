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
  Reporter reporter(*this);
  auto state = getInitialState().getType();
  if (!areCompatible(state, getOutputState().getType()))
    return reporter.violation("C1", "types of initial_state and output_state differ: got ", state, " and ",
                              getOutputState().getType());
  if (state.getRank() != 1 || !isKnown(state.getDimSize(0)))
    return success();
  int64_t size = state.getDimSize(0);
  if (getRngAlgorithm() == RngAlgorithm::THREE_FRY)
    return reporter.size("C2", "initial_state", size, 2);
  if (getRngAlgorithm() == RngAlgorithm::PHILOX && size != 2 && size != 3)
    return reporter.violation("C2", "initial_state has the wrong number of elements: got ", size,
                              ", expected 2 or 3");
  return success();
}

} // namespace torchere::stablehlo
