// Ops that order other ops: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/ordering.cpp.inc"

namespace torchere::stablehlo {

void addOrderingOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/ordering.cpp.inc"
      >();
}

LogicalResult OptimizationBarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperand().getTypes());
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  // Its text gives each type once, so compatible types are not enough.
  if (getOperandTypes() == getResultTypes())
    return success();
  return violation(*this, "C1", "types of operands and results differ: got (", getOperandTypes(), ") and (",
                   getResultTypes(), ")");
}

} // namespace torchere::stablehlo
