// Branches on constants, loops that never run, and no-op wrappers of values.
#include "passes/simplify/patterns.h"
#include "stablehlo/dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

/// Replaces `op` by the inlined contents of a single-block region.
LogicalResult replaceByRegion(Operation *op, Region &region, PatternRewriter &rewriter) {
  Block &block = region.front();
  Operation *terminator = block.getTerminator();
  if (block.getNumArguments() != 0 || terminator->getOperandTypes() != op->getResultTypes())
    return failure();
  SmallVector<Value> results(terminator->getOperands());
  rewriter.eraseOp(terminator);
  rewriter.inlineBlockBefore(&block, op);
  rewriter.replaceOp(op, results);
  return success();
}

/// The one value of a scalar constant.
std::optional<int64_t> scalarConstant(Value value) {
  DenseIntElementsAttr constant = constantInteger(value);
  if (!constant || constant.getNumElements() != 1)
    return std::nullopt;
  APInt bits = constant.getSplatValue<APInt>();
  return bits.getBitWidth() == 1 ? bits.getZExtValue() : bits.getSExtValue();
}

bool hasOwnAttributesOnly(Operation *op) {
  return op->getDiscardableAttrDictionary().empty();
}

LogicalResult chooseBranch(IfOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> predicate = scalarConstant(op.getPred());
  if (!predicate || !hasOwnAttributesOnly(op))
    return failure();
  return replaceByRegion(op, *predicate ? op.getTrueBranch() : op.getFalseBranch(), rewriter);
}

/// An out-of-range index selects the last branch.
LogicalResult chooseCase(CaseOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> index = scalarConstant(op.getIndex());
  if (!index || !hasOwnAttributesOnly(op))
    return failure();
  int64_t count = op.getBranches().size();
  return replaceByRegion(op, op.getBranches()[*index < 0 || *index >= count ? count - 1 : *index], rewriter);
}

/// A loop whose condition is initially false and has no side effects is replaced by its operands.
LogicalResult dropLoop(WhileOp op, PatternRewriter &rewriter) {
  Block &condition = op.getCond().front();
  if (scalarConstant(condition.getTerminator()->getOperand(0)) != 0 ||
      !llvm::all_of(condition.without_terminator(),
                    [](Operation &each) { return isMemoryEffectFree(&each); }) ||
      !hasOwnAttributesOnly(op) || op->getOperandTypes() != op->getResultTypes())
    return failure();
  rewriter.replaceOp(op, op->getOperands());
  return success();
}

Value unwrapComplex(ComplexOp op, OpBuilder &) {
  auto real = op.getLhs().getDefiningOp<RealOp>();
  auto imaginary = op.getRhs().getDefiningOp<ImagOp>();
  return real && imaginary && real.getOperand() == imaginary.getOperand() ? Value(real.getOperand())
                                                                          : Value();
}

} // namespace

void addControlSimplifications(RewritePatternSet &patterns) {
  patterns.add(chooseBranch);
  patterns.add(chooseCase);
  patterns.add(dropLoop);
  addSimplifications<ComplexOp>(patterns, unwrapComplex);
}

} // namespace torchere::passes
