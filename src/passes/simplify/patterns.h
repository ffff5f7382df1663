// Simplification on MLIR; simplify.h is its interface for code without MLIR.
#pragma once

#include "evaluation/constant_evaluation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

#include <type_traits>

namespace torchere::passes {

/// Which rewrites to apply; both together find more than one after the other.
struct SimplificationSteps {
  bool rewrites = true;                                ///< identities, compositions, cancellations
  std::optional<evaluation::EvaluationLimits> folding; ///< constants, within limits
};

/// Rewrites until nothing changes, and erases unused ops. Results are the same to the last bit (NaN stays
/// NaN, -0 stays -0), types and names of arguments and results stay, and every op keeps its location. Ops
/// with attributes of other dialects (shardings, annotations) are left alone.
llvm::LogicalResult simplifyFunction(mlir::func::FuncOp function, const SimplificationSteps &steps);

/// A rewrite that returns a replacement for the result of an op, existing or built before the op; null if
/// there is none, in which case it must not have built anything.
template <class Op> using Simplification = mlir::Value (*)(Op op, mlir::OpBuilder &builder);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether an op has only the attributes of its definition, and a plain tensor as its result.
bool isSimplifiable(mlir::Operation *op);

template <class Op> struct SimplificationPattern final : mlir::OpRewritePattern<Op> {
  SimplificationPattern(mlir::MLIRContext *context, Simplification<Op> simplify)
      : mlir::OpRewritePattern<Op>(context), simplify(simplify) {}

  llvm::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const final {
    if (!isSimplifiable(op))
      return llvm::failure();
    mlir::Value value = simplify(op, rewriter);
    if (!value || value.getType() != op->getResult(0).getType())
      return llvm::failure();
    rewriter.replaceOp(op, value);
    return llvm::success();
  }

  Simplification<Op> simplify;
};

/// Adds simplifications, functions of one op each.
template <class... Ops>
void addSimplifications(mlir::RewritePatternSet &patterns, Simplification<Ops>... functions) {
  (patterns.add(std::make_unique<SimplificationPattern<Ops>>(patterns.getContext(), functions)), ...);
}

// One file per family.
void addArithmeticSimplifications(mlir::RewritePatternSet &patterns);
void addControlSimplifications(mlir::RewritePatternSet &patterns);
void addReshapingSimplifications(mlir::RewritePatternSet &patterns);
void addSlicingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace torchere::passes
