// Values without elements become constants, so that what only they come from is dead: a kernel that someone
// registered may not know such arrays.
#include "cpu/frontend/expansion/expansion.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::cpu {

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0 && !value.use_empty() &&
         (type.getElementType().isIntOrFloat() || isa<ComplexType>(type.getElementType()));
}

void replaceEmptyValues(func::FuncOp function) {
  SmallVector<Value> found;
  function.walk([&](Operation *op) {
    if (!isa<stablehlo::ConstantOp>(op))
      llvm::copy_if(op->getResults(), std::back_inserter(found), isEmpty);
  });
  for (Value value : found) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto none = DenseElementsAttr::getFromRawBuffer(cast<ShapedType>(value.getType()), {});
    value.replaceAllUsesWith(stablehlo::ConstantOp::create(builder, value.getLoc(), none));
  }
}

} // namespace torchere::cpu
