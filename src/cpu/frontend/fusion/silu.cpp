// Finds x * logistic(x).
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"

using namespace mlir;

namespace torchere::cpu {

int64_t fuseSilu(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](stablehlo::MulOp product) {
    for (auto [x, gate] :
         {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
      auto logistic = gate.getDefiningOp<stablehlo::LogisticOp>();
      bool isReal = isa<FloatType>(getElementTypeOrSelf(product.getType()));
      if (!logistic || logistic.getOperand() != x || !logistic->hasOneUse() || !isReal)
        continue;
      OpBuilder builder(product);
      Operation *call = createKernelCall(builder, product.getLoc(), "silu", product->getResultTypes(), x);
      product->replaceAllUsesWith(call);
      ++count;
      return;
    }
  });
  return count;
}

} // namespace torchere::cpu
