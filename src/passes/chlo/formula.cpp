// Implements FormulaBuilder.
#include "passes/chlo/formula.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

Value shapeOf(OpBuilder &builder, Location location, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto vector = [&](int64_t size) { return RankedTensorType::get({size}, builder.getI32Type()); };
  if (type.hasStaticShape())
    return ConstantOp::create(
        builder, location,
        DenseIntElementsAttr::get(vector(type.getRank()), llvm::to_vector_of<int32_t>(type.getShape())));
  SmallVector<Value> sizes;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    Value size = GetDimensionSizeOp::create(builder, location, tensor, dimension);
    sizes.push_back(ReshapeOp::create(builder, location, vector(1), size));
  }
  return ConcatenateOp::create(builder, location, sizes, 0);
}

Value fullOf(OpBuilder &builder, Location location, RankedTensorType type, TypedAttr value,
             function_ref<Value()> shape) {
  if (type.hasStaticShape())
    return ConstantOp::create(builder, location, DenseElementsAttr::get(type, value));
  Value scalar = ConstantOp::create(
      builder, location, DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()), value));
  return DynamicBroadcastInDimOp::create(builder, location, type, scalar, shape(),
                                         builder.getDenseI64ArrayAttr({}), {}, {});
}

Value withType(OpBuilder &builder, Location location, Value value, Type type) {
  return value.getType() == type ? value : ConvertOp::create(builder, location, type, value);
}

Value FormulaBuilder::constant(RankedTensorType type, TypedAttr value) {
  Value &made = constants[{type, value}];
  if (!made)
    made = fullOf(builder, location, type, value, [&] {
      if (!shape)
        shape = shapeOf(builder, location, root);
      return shape;
    });
  return made;
}

Value FormulaBuilder::fullLike(double value, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (type.getElementType().isInteger(1))
    return constant(type, builder.getBoolAttr(value != 0.0));
  return constant(type, FloatAttr::get(type.getElementType(), value));
}

Value FormulaBuilder::fullLike(const APInt &value, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return constant(type, IntegerAttr::get(type.getElementType(), value));
}

Value FormulaBuilder::compare(ComparisonDirection direction, Value lhs, Value rhs) {
  return CompareOp::create(builder, location, lhs, rhs, direction,
                           naturalComparison(elementType(lhs.getType())));
}

Value FormulaBuilder::convert(Value value, Type element) {
  return elementType(value.getType()) == element ? value : retyped<ConvertOp>(value, element);
}

Value buildFormula(OpBuilder &builder, Operation *op, function_ref<Elements(ArrayRef<Elements>)> formula) {
  Type element = elementType(op->getOperand(0).getType());
  Type computed = element.isF64() ? element : Type(builder.getF32Type());
  FormulaBuilder formulaBuilder(builder, op->getLoc(), op->getOperand(0));
  SmallVector<Elements, 2> operands;
  for (Value operand : op->getOperands())
    operands.emplace_back(formulaBuilder, formulaBuilder.convert(operand, computed));
  return formulaBuilder.convert(formula(operands), element);
}

} // namespace torchere::passes
