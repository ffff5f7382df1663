// Implements simplification on MLIR's greedy driver, with folding by patterns so that it keeps our rules.
#include "passes/simplify/patterns.h"

#include "stablehlo/element_type_conversion.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

/// The folders of the dialect, where they find a value. MLIR's driver could run them, but would also hoist
/// the constants to the function's start and drop their locations.
struct FoldPattern final : RewritePattern {
  explicit FoldPattern(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (isa<ConstantOp>(op) || op->getNumResults() != 1 ||
        !isa_and_present<StableHLODialect>(op->getDialect()) || !isSimplifiable(op))
      return failure();
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(results)) || results.empty())
      return failure();
    Value value = dyn_cast<Value>(results.front());
    if (value && value.getType() == op->getResult(0).getType()) {
      rewriter.replaceOp(op, value);
      return success();
    }
    auto constant = dyn_cast_if_present<ElementsAttr>(dyn_cast<Attribute>(results.front()));
    if (!constant || constant.getType() != op->getResult(0).getType())
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, constant);
    return success();
  }
};

/// Folds ops on constants.
struct EvaluatePattern final : RewritePattern {
  EvaluatePattern(MLIRContext *context, const EvaluationLimits &limits)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/3, context), limits(limits) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (!isa_and_present<StableHLODialect>(op->getDialect()) || op->getNumResults() != 1 ||
        !isSimplifiable(op))
      return failure();
    DenseElementsAttr constant = evaluate(op, limits);
    if (!constant)
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, constant);
    return success();
  }

  EvaluationLimits limits;
};

} // namespace

bool isSimplifiable(Operation *op) {
  if (!op->getDiscardableAttrs().empty() || op->getNumResults() == 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getEncoding())
    return false;
  return elementTypeOf(type.getElementType()) || isa<ComplexType>(type.getElementType());
}

LogicalResult simplifyFunction(func::FuncOp function, const SimplificationSteps &steps) {
  RewritePatternSet patterns(function.getContext());
  if (steps.folding)
    patterns.add<EvaluatePattern>(patterns.getContext(), *steps.folding);
  if (steps.rewrites) {
    patterns.add<FoldPattern>(patterns.getContext());
    addArithmeticSimplifications(patterns);
    addControlSimplifications(patterns);
    addReshapingSimplifications(patterns);
    addSlicingSimplifications(patterns);
  }
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal()
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setMaxIterations(GreedyRewriteConfig::kNoLimit)
      .enableFolding(false)
      .enableConstantCSE(false);
  return applyPatternsGreedily(function.getBody(), std::move(patterns), config);
}

} // namespace torchere::passes
