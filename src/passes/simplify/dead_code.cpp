// Implements eraseDeadOps: one walk, from the last op to the first.
#include "passes/simplify/dead_code.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace torchere::passes {

void eraseDeadOps(mlir::Operation *op) {
  op->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([](mlir::Operation *nested) {
    if (mlir::isOpTriviallyDead(nested))
      nested->erase();
  });
}

} // namespace torchere::passes
