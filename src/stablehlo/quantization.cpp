// Conversions of quantized numbers: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/quantization.cpp.inc"

namespace torchere::stablehlo {

void addQuantizationOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/quantization.cpp.inc"
      >();
}

LogicalResult UniformDequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  types.push_back(operand.clone(expressedType(operand.getElementType())));
  return success();
}

LogicalResult UniformQuantizeOp::verify() {
  auto operand = getOperand().getType(), result = getType();
  if (failed(verifyCompatibleShape(operand, result)))
    return violation(*this, "C1", "shapes of operand and result differ: got ", operand, " and ", result);
  Type from = expressedType(operand.getElementType()), to = expressedType(result.getElementType());
  if (from != to)
    return violation(*this, "C2", "result stands for numbers of type ", to, ", operand for ", from);
  return success();
}

} // namespace torchere::stablehlo
