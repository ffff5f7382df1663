// A new use is pushed to the front, and a replaced value's uses are moved one by one, which reverses them.
#include "vhlo/use_orders.h"

#include "mlir/IR/Operation.h"

using namespace mlir;

namespace torchere::vhlo {

static void orderUses(Value value, bool isReplaced, const llvm::DenseSet<Operation *> &older) {
  if (value.use_empty() || value.hasOneUse())
    return;
  SmallVector<unsigned> order, kept; // places in the present list
  for (auto [place, use] : llvm::enumerate(value.getUses()))
    (older.contains(use.getOwner()) ? order : kept).push_back(place);
  order.append(kept);
  if (isReplaced)
    std::reverse(order.begin(), order.end());
  SmallVector<unsigned> places(order.size());
  for (auto [place, use] : llvm::enumerate(order))
    places[use] = place;
  value.shuffleUseList(places);
}

void orderUses(ModuleOp module, const llvm::DenseSet<Operation *> &older) {
  if (older.empty())
    return;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      orderUses(result, older.contains(op), older);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          orderUses(argument, false, older);
  });
}

} // namespace torchere::vhlo
