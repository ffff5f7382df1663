// Implements replaceComposites.
#include "passes/compatibility/composite_calls.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

void replaceByCall(CompositeOp op) {
  OpBuilder builder(op);
  auto call = func::CallOp::create(builder, op.getLoc(), op.getDecompositionAttr(), op.getResultTypes(),
                                   op.getOperands());
  call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(call.getResults());
  op.erase();
}

LogicalResult replaceComposites(func::FuncOp function, const llvm::StringSet<> &kept) {
  WalkResult result = function.walk([&](CompositeOp op) -> WalkResult {
    if (kept.contains(op.getNameAttr().getValue()))
      return WalkResult::advance();
    if (op->getNumRegions() != 0)
      return op.emitOpError() << "has regions, which a call of " << op.getDecompositionAttr()
                              << " cannot pass";
    replaceByCall(op);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace torchere::passes
