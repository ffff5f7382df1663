// Formulas of elementwise functions, built as StableHLO ops to replace a CHLO op.
#pragma once

#include "stablehlo/elements.h"

#include "llvm/ADT/DenseMap.h"

namespace torchere::passes {

/// The sizes of a tensor's dimensions as a 1-d i32 tensor.
mlir::Value shapeOf(mlir::OpBuilder &builder, mlir::Location location, mlir::Value tensor);

/// A constant tensor of `type` with `value` in each element, or, if a dimension is unknown, one of the shape
/// that `shape`, a 1-d tensor of integers, holds.
mlir::Value fullOf(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType type,
                   mlir::TypedAttr value, llvm::function_ref<mlir::Value()> shape);

/// The value with the type that an op declares, which may know more or fewer dimensions.
mlir::Value withType(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Type type);

/// Builds the ops of one formula. Every tensor in it has the shape of `root`.
class FormulaBuilder {
public:
  FormulaBuilder(mlir::OpBuilder &builder, mlir::Location location, mlir::Value root)
      : builder(builder), location(location), root(root) {}

  mlir::Value fullLike(double value, mlir::Value like);
  mlir::Value fullLike(const llvm::APInt &value, mlir::Value like);
  template <class Op> mlir::Value elementwise(mlir::ValueRange operands) {
    return create<Op>(operands.front().getType(), operands);
  }
  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse) {
    return create<stablehlo::SelectOp>(onTrue.getType(), {predicate, onTrue, onFalse});
  }
  mlir::Value convert(mlir::Value value, mlir::Type element);
  /// An op of one result, whose type is the operands' shape with elements of type `element`.
  template <class Op> mlir::Value retyped(mlir::ValueRange operands, mlir::Type element) {
    return create<Op>(mlir::cast<mlir::RankedTensorType>(operands.front().getType()).clone(element),
                      operands);
  }

private:
  template <class Op> mlir::Value create(mlir::Type type, mlir::ValueRange operands) {
    return Op::create(builder, location, mlir::TypeRange{type}, operands,
                      llvm::ArrayRef<mlir::NamedAttribute>{})
        ->getResult(0);
  }
  mlir::Value constant(mlir::RankedTensorType type, mlir::TypedAttr value);

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::Value root;
  mlir::Value shape; ///< of root, once it is needed
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::Value> constants;
};

using stablehlo::infinity;
using stablehlo::nan;

using Elements = stablehlo::ElementsOf<FormulaBuilder>;

/// The value of a formula for the operands of `op`, which are real numbers. Half precision and narrower
/// floats are computed in float32. The value has the operands' element type.
mlir::Value buildFormula(mlir::OpBuilder &builder, mlir::Operation *op,
                         llvm::function_ref<Elements(llvm::ArrayRef<Elements>)> formula);

} // namespace torchere::passes
