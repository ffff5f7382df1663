// multiplyDoubledCounters: turns sums that double a counter into products.
#include "passes/chlo/formula.h"
#include "passes/prepare/plugin_passes.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

/// The sum that computes a loop's next counter, if it adds the counter, a single integer, to itself.
static AddOp doubling(BlockArgument counter, Value next) {
  auto sum = next.getDefiningOp<AddOp>();
  auto type = dyn_cast<RankedTensorType>(counter.getType());
  if (!sum || !type || type.getRank() != 0 || !type.getElementType().isInteger() ||
      type.getElementTypeBitWidth() < 8)
    return {};
  return sum.getLhs() == counter && sum.getRhs() == counter ? sum : AddOp();
}

static void multiply(AddOp sum) {
  OpBuilder builder(sum);
  FormulaBuilder formula(builder, sum.getLoc(), sum.getLhs());
  APInt two(elementType(sum.getType()).getIntOrFloatBitWidth(), 2);
  sum.replaceAllUsesWith(formula.elementwise<MulOp>({sum.getLhs(), formula.fullLike(two, sum.getLhs())}));
  sum.erase();
}

void multiplyDoubledCounters(ModuleOp module) {
  module.walk([](WhileOp loop) {
    Block &body = loop.getBody().front();
    for (auto [counter, next] : llvm::zip_equal(body.getArguments(), body.getTerminator()->getOperands()))
      if (AddOp sum = doubling(counter, next))
        multiply(sum);
  });
}

} // namespace torchere::passes
