// Implements legalizeChlo: one walk, with an expansion for each op.
#include "passes/chlo/legalization.h"

#include "passes/chlo/expansions.h"
#include "passes/chlo/formula.h"

using namespace mlir;

namespace torchere::passes {

namespace {

Expansions makeExpansions() {
  Expansions table;
  addElementwiseExpansions(table);
  addBitExpansions(table);
  addBroadcastExpansions(table);
  addConstantExpansions(table);
  addRaggedDotExpansion(table);
  addScanExpansion(table);
  addTopKExpansion(table);
  return table;
}

/// An op may expand to broadcasts around another CHLO op, which is expanded in turn.
LogicalResult expand(Operation *op, const Expansions &table) {
  auto found = table.find(op->getName().getStringRef());
  if (found == table.end())
    return op->emitOpError() << "has no expansion to StableHLO";
  Operation *before = op->getPrevNode();
  OpBuilder builder(op);
  FailureOr<Values> values = found->second(op, builder);
  if (failed(values))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
    result.replaceAllUsesWith(withType(builder, op->getLoc(), value, result.getType()));
  Block *block = op->getBlock();
  Operation *made = before ? before->getNextNode() : &block->front();
  SmallVector<Operation *> inner;
  for (; made != op; made = made->getNextNode())
    if (isa_and_present<chlo::CHLODialect>(made->getDialect()))
      inner.push_back(made);
  op->erase();
  return success(llvm::all_of(inner, [&](Operation *each) { return succeeded(expand(each, table)); }));
}

} // namespace

LogicalResult legalizeChlo(Operation *root) {
  SmallVector<Operation *> ops; // inner ops first: bodies are expanded before the ops that hold them
  root->walk([&](Operation *op) {
    if (isa_and_present<chlo::CHLODialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  Expansions table = makeExpansions();
  return success(llvm::all_of(ops, [&](Operation *op) { return succeeded(expand(op, table)); }));
}

} // namespace torchere::passes
