// Implements constants of one value.
#include "cpu/frontend/fusion/splats.h"

#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

std::optional<double> splatNumber(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<stablehlo::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant->getAttr("value")) : DenseElementsAttr();
  if (!elements || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  APFloat number = elements.getSplatValue<APFloat>();
  bool isInexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

Value splatOf(OpBuilder &builder, Location location, RankedTensorType type, double number) {
  FloatAttr element = FloatAttr::get(type.getElementType(), number);
  return stablehlo::ConstantOp::create(builder, location, DenseElementsAttr::get(type, element.getValue()))
      ->getResult(0);
}

} // namespace torchere::cpu
