// ShapeAssertions: what a program assumes of its inputs' sizes, as calls of @shape_assertion.
#include "exporter/shape_assertions.h"

namespace torchere::exporter {

using program::ExpressionKind;
using program::SymInt;
using Direction = stablehlo::ComparisonDirection;

mlir::Value ShapeAssertions::constant(int64_t value) {
  auto type = mlir::RankedTensorType::get({}, builder.getI64Type());
  return stablehlo::ConstantOp::create(builder, location, mlir::DenseElementsAttr::get(type, value))
      ->getResult(0);
}

mlir::Value ShapeAssertions::compare(Direction direction, mlir::Value lhs, mlir::Value rhs) {
  mlir::MLIRContext *context = builder.getContext();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      builder.getNamedAttr("comparison_direction",
                           stablehlo::ComparisonDirectionAttr::get(context, direction)),
      builder.getNamedAttr("compare_type",
                           stablehlo::ComparisonTypeAttr::get(context, stablehlo::ComparisonType::SIGNED))};
  mlir::Type type = mlir::RankedTensorType::get({}, builder.getI1Type());
  return stablehlo::CompareOp::create(builder, location, mlir::TypeRange{type}, mlir::ValueRange{lhs, rhs},
                                      attributes)
      ->getResult(0);
}

void ShapeAssertions::assertThat(mlir::Value condition, mlir::ValueRange inputs, const std::string &message) {
  llvm::SmallVector<mlir::Value> operands = {condition};
  llvm::append_range(operands, inputs);
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      builder.getNamedAttr("call_target_name", builder.getStringAttr("shape_assertion")),
      builder.getNamedAttr("error_message", builder.getStringAttr(message)),
      builder.getNamedAttr("has_side_effect", builder.getBoolAttr(true))};
  stablehlo::CustomCallOp::create(builder, location, mlir::TypeRange{}, operands, attributes);
}

void ShapeAssertions::addInput(const program::EntryInput &input, mlir::Value argument) {
  for (auto [axis, size] : llvm::enumerate(input.type.shape)) {
    if (size.isConstant())
      continue;
    const program::Expression &expression = program.expressions[size];
    if (expression.kind == ExpressionKind::Symbol && known.insert(expression.symbol).second)
      continue; // the dimension that the symbol is read from
    mlir::Value actual = symbols.sizeOf(argument, static_cast<int64_t>(axis));
    mlir::Value expected = symbols.numberOf(size, program::NumberKind::Int);
    assertThat(compare(Direction::EQ, actual, expected), {actual, expected},
               fmt::format("[{}] dimension {} has the wrong size: got {{0}}, expected {{1}}, which is {}",
                           input.name, axis, printed.print(size)));
    addSymbols(size);
  }
}

void ShapeAssertions::addSymbols(SymInt size) {
  if (size.isConstant())
    return;
  const program::Expression &expression = program.expressions[size];
  if (expression.kind == ExpressionKind::Symbol)
    known.insert(expression.symbol);
  for (SymInt operand : expression.operands)
    addSymbols(operand);
}

bool ShapeAssertions::isOfSizes(SymInt size) const {
  if (size.isConstant())
    return true;
  const program::Expression &expression = program.expressions[size];
  return expression.kind == ExpressionKind::Symbol
             ? known.contains(expression.symbol)
             : llvm::all_of(expression.operands, [&](SymInt operand) { return isOfSizes(operand); });
}

void ShapeAssertions::addRanges() {
  for (const program::RangeConstraint &constraint : program.rangeConstraints)
    if (!constraint.expression.isConstant() && isOfSizes(constraint.expression) &&
        program.expressions.kindOf(constraint.expression) == program::NumberKind::Int)
      addRange(constraint);
}

void ShapeAssertions::addRange(const program::RangeConstraint &constraint) {
  const auto &[min, max] = constraint.range;
  bool isSymbol = program.expressions[constraint.expression].kind == ExpressionKind::Symbol;
  bool hasMin = min > std::numeric_limits<int64_t>::min() && !(isSymbol && min <= 0); // no size is less
  bool hasMax = max < std::numeric_limits<int64_t>::max();
  if (!hasMin && !hasMax)
    return;
  mlir::Value value = symbols.numberOf(constraint.expression, program::NumberKind::Int);
  std::string name = printed.print(constraint.expression);
  if (hasMin)
    assertThat(compare(Direction::GE, value, constant(min)), value,
               fmt::format("[{}] out of range: got {{0}}, expected at least {}", name, min));
  if (hasMax)
    assertThat(compare(Direction::LE, value, constant(max)), value,
               fmt::format("[{}] out of range: got {{0}}, expected at most {}", name, max));
}

} // namespace torchere::exporter
