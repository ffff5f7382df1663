// Implements the search for conversions around f32.
#include "cpu/frontend/fusion/narrow_values.h"

#include "cpu/frontend/fusion/pattern.h"

using namespace mlir;

namespace torchere::cpu {

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

bool isRounding(Operation *op) {
  if (!isa_and_present<stablehlo::ConvertOp>(op))
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  return (isNarrow(from) && getElementTypeOrSelf(to).isF32()) ||
         (isNarrow(to) && getElementTypeOrSelf(from).isF32());
}

mlir::Value withoutWidening(mlir::Value value) {
  Operation *op = value.getDefiningOp();
  return isRounding(op) && isNarrow(op->getOperand(0).getType()) ? op->getOperand(0) : value;
}

mlir::Value withoutWidening(mlir::Value value, Subgraph &subgraph) {
  mlir::Value source = withoutWidening(value);
  if (source != value)
    subgraph.add(value.getDefiningOp());
  return source;
}

/// The view of another operand, in that one's element type.
static mlir::Value viewOf(OpBuilder &builder, Operation *view, mlir::Value operand) {
  auto type = cast<RankedTensorType>(view->getResult(0).getType());
  Operation *made = builder.clone(*view);
  made->setOperand(0, operand);
  made->getResult(0).setType(type.clone(getElementTypeOrSelf(operand.getType())));
  return made->getResult(0);
}

WidenedValue::WidenedValue(mlir::Value value) : value(value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isNarrow(value.getType()) ||
        !isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::BroadcastInDimOp>(op))
      break;
    views.push_back(op);
    value = op->getOperand(0);
  }
  value = withoutWidening(value);
  if (isNarrow(value.getType()))
    source = value;
}

Type WidenedValue::narrowType() const {
  return source ? getElementTypeOrSelf(source.getType()) : Type();
}

mlir::Value WidenedValue::narrowed(OpBuilder &builder) const {
  mlir::Value made = source;
  for (Operation *view : llvm::reverse(views))
    made = viewOf(builder, view, made);
  return made;
}

std::optional<Narrowing> Narrowing::of(mlir::Value value) {
  Narrowing found;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (isRounding(user) && isNarrow(user->getResult(0).getType())) {
      found.conversion = cast<stablehlo::ConvertOp>(user);
      return found;
    }
    if (!isa<stablehlo::ReshapeOp, stablehlo::TransposeOp>(user))
      break;
    found.views.push_back(user);
    value = user->getResult(0);
  }
  return std::nullopt;
}

Type Narrowing::type() const {
  return getElementTypeOrSelf(stablehlo::ConvertOp(conversion)->getResult(0).getType());
}

void Narrowing::replaceBy(mlir::Value made) {
  OpBuilder builder(conversion);
  for (Operation *view : views)
    made = viewOf(builder, view, made);
  conversion->getResult(0).replaceAllUsesWith(made);
}

} // namespace torchere::cpu
