// SymbolTable: numbers of any kind, and the functions of expressions, as ops.
#include "exporter/symbol_table.h"

#include "program/expression_functions.h"
#include "stablehlo/elements.h"

#include "mlir/IR/TypeUtilities.h"

namespace torchere::exporter {

using program::Expression;
using program::ExpressionKind;
using program::NumberKind;
using program::SymInt;
using stablehlo::ComparisonDirection;

mlir::Value SymbolTable::convert(mlir::Value value, mlir::Type element) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return create<stablehlo::ConvertOp>(scalar(element), value);
}

mlir::Type SymbolTable::elementOf(NumberKind kind) {
  return kind == NumberKind::Int     ? mlir::Type(builder.getI64Type())
         : kind == NumberKind::Float ? mlir::Type(builder.getF64Type())
                                     : mlir::Type(builder.getI1Type());
}

mlir::Value SymbolTable::numberOf(SymInt expression, NumberKind kind) {
  return convert(number(expression), elementOf(kind));
}

mlir::Value SymbolTable::numberOf(SymInt expression) {
  return numberOf(expression, expressions.kindOf(expression));
}

mlir::Value SymbolTable::number(SymInt expression) {
  if (expression.isConstant())
    return constant(expression.constant());
  if (auto found = values.find(expression.id()); found != values.end())
    return found->second;
  // Arguments of another function are ints, and numbers that were read from tensors.
  bool isOutside = outer && !isLocal(expression) &&
                   (!isIsolated() || expressions.kindOf(expression) == NumberKind::Int ||
                    expressions[expression].kind == ExpressionKind::Symbol);
  mlir::Value result = isOutside ? valueFromOutside(expression.id()) : calculate(expressions[expression]);
  values[expression.id()] = result;
  return result;
}

lowering::Values SymbolTable::floats(const std::vector<SymInt> &operands) {
  lowering::Values result;
  for (SymInt operand : operands)
    result.push_back(numberOf(operand, NumberKind::Float));
  return result;
}

lowering::Values SymbolTable::alike(const std::vector<SymInt> &operands) {
  auto isFloat = [&](SymInt operand) { return expressions.kindOf(operand) == NumberKind::Float; };
  if (llvm::any_of(operands, isFloat))
    return floats(operands);
  lowering::Values result;
  for (SymInt operand : operands)
    result.push_back(compute(operand));
  return result;
}

/// A division in which one operand is a float.
mlir::Value SymbolTable::divideFloats(ExpressionKind kind, const std::vector<SymInt> &operands) {
  lowering::Values sides = floats(operands);
  mlir::Type type = sides[0].getType();
  mlir::Value quotient = fold<stablehlo::DivOp>(sides);
  if (kind == ExpressionKind::TruncDiv)
    return convert(convert(quotient, builder.getI64Type()), builder.getF64Type());
  if (kind == ExpressionKind::CeilDiv)
    return create<stablehlo::CeilOp>(type, quotient);
  mlir::Value floor = create<stablehlo::FloorOp>(type, quotient);
  if (kind == ExpressionKind::FloorDiv)
    return floor;
  return fold<stablehlo::SubtractOp>({sides[0], fold<stablehlo::MulOp>({sides[1], floor})});
}

mlir::Value SymbolTable::compare(ComparisonDirection direction, const std::vector<SymInt> &operands) {
  lowering::Values sides = alike(operands);
  mlir::Type element = mlir::getElementTypeOrSelf(sides[0].getType());
  return append(stablehlo::CompareOp::create(builder, location, sides[0], sides[1], direction,
                                             stablehlo::naturalComparison(element)));
}

mlir::Value SymbolTable::choose(const std::vector<SymInt> &operands) {
  mlir::Value condition = numberOf(operands[0], NumberKind::Bool);
  lowering::Values choices = alike({operands[1], operands[2]});
  return create<stablehlo::SelectOp>(choices[0].getType(), {condition, choices[0], choices[1]});
}

template <class Op> mlir::Value SymbolTable::rounded(SymInt operand) {
  mlir::Value value = numberOf(operand, NumberKind::Float);
  return convert(create<Op>(value.getType(), value), builder.getI64Type());
}

mlir::Value SymbolTable::calculateCall(const Expression &call) {
  const std::vector<SymInt> &operands = call.operands;
  auto bools = [&] {
    lowering::Values result;
    for (SymInt operand : operands)
      result.push_back(numberOf(operand, NumberKind::Bool));
    return result;
  };
  const std::string &name = call.symbol;
  if (auto direction = stablehlo::symbolizeComparisonDirection(llvm::StringRef(name).upper()))
    return compare(*direction, operands);
  if (name == program::whereFunction)
    return choose(operands);
  if (name == "ToFloat")
    return numberOf(operands[0], NumberKind::Float);
  if (name == "FloatTrueDiv")
    return fold<stablehlo::DivOp>(floats(operands));
  if (name == "FloatPow")
    return fold<stablehlo::PowOp>(floats(operands));
  if (name == "OpaqueUnaryFn_sqrt") {
    mlir::Value value = numberOf(operands[0], NumberKind::Float);
    return create<stablehlo::SqrtOp>(value.getType(), value);
  }
  if (name == "RoundDecimal") {
    lowering::Values sides = floats(operands);
    mlir::Value scale = fold<stablehlo::PowOp>({constant(10.0), sides[1]});
    mlir::Value scaled = fold<stablehlo::MulOp>({sides[0], scale});
    return fold<stablehlo::DivOp>({create<stablehlo::RoundNearestEvenOp>(scaled.getType(), scaled), scale});
  }
  if (name == "FloorToInt")
    return rounded<stablehlo::FloorOp>(operands[0]);
  if (name == "CeilToInt")
    return rounded<stablehlo::CeilOp>(operands[0]);
  if (name == "RoundToInt")
    return rounded<stablehlo::RoundNearestEvenOp>(operands[0]);
  if (name == "TruncToInt") // as a conversion does
    return numberOf(operands[0], NumberKind::Int);
  if (name == "Not")
    return create<stablehlo::NotOp>(scalar(builder.getI1Type()), bools()[0]);
  lowering::Values values = name == "And" || name == "Or" ? bools() : alike(operands);
  bool isAnd = name == "And" || name == "BitwiseFn_bitwise_and";
  return isAnd ? fold<stablehlo::AndOp>(values) : fold<stablehlo::OrOp>(values);
}

} // namespace torchere::exporter
