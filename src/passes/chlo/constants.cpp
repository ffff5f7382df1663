// The expansions of constants.
#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"

using namespace mlir;

namespace torchere::passes {

void addConstantExpansions(Expansions &table) {
  addExpansion<chlo::ConstantOp>(table, [](chlo::ConstantOp op, OpBuilder &builder) -> FailureOr<Values> {
    return Values{stablehlo::ConstantOp::create(builder, op.getLoc(), op.getValue())};
  });
  addExpansion<chlo::ConstantLikeOp>(
      table, [](chlo::ConstantLikeOp op, OpBuilder &builder) -> FailureOr<Values> {
        if (!isa<FloatAttr, IntegerAttr>(op.getValue()))
          return op.emitOpError() << "has a value that is no number: got " << op.getValue();
        Value operand = op.getOperand();
        auto type = cast<RankedTensorType>(operand.getType()).clone(op.getValue().getType());
        return Values{fullOf(builder, op.getLoc(), type, op.getValue(),
                             [&] { return shapeOf(builder, op.getLoc(), operand); })};
      });
}

} // namespace torchere::passes
