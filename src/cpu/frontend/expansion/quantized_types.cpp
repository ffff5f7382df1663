// Expands quantized types: ops that compute do so on the numbers, ops that move elements move the integers.
// Products of quantized factors are products of integers.
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/expansion/sum.h"
#include "interpreter/evaluation_table.h"
#include "passes/chlo/formula.h"
#include "passes/chlo/quantized_numbers.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

using passes::FormulaBuilder;

/// Null for types that are not uniformly quantized.
quant::QuantizedType quantizedTypeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(element)
             ? cast<quant::QuantizedType>(element)
             : nullptr;
}

bool hasQuantizedTypes(Operation *op) {
  auto isQuantized = [](Type type) { return quantizedTypeOf(type) != nullptr; };
  return llvm::any_of(op->getOperandTypes(), isQuantized) || llvm::any_of(op->getResultTypes(), isQuantized);
}

Type withElements(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

Value numbersOf(OpBuilder &builder, Location location, Value value) {
  quant::QuantizedType type = quantizedTypeOf(value.getType());
  return type ? passes::dequantizedNumbers(builder, location, type, value) : value;
}

/// A factor of a product of integers: one scale, or one for each index of a dimension of the result.
struct Scales {
  SmallVector<double> values;
  int64_t resultDimension = 0; ///< where there are several
};

/// None if the factor's scale varies along a dimension that is summed over, or of the batch, or if the sums
/// might not fit into 32 bits.
std::optional<Scales> scalesOf(Value factor, ArrayRef<int64_t> batch, ArrayRef<int64_t> summed,
                               int64_t ownBefore) {
  quant::QuantizedType type = quantizedTypeOf(factor.getType());
  if (!type || type.getStorageTypeIntegralWidth() > 8 || !type.getExpressedType().isF32())
    return std::nullopt;
  auto shape = cast<RankedTensorType>(factor.getType()).getShape();
  int64_t depth = 1;
  for (int64_t dimension : summed)
    depth *= shape[static_cast<size_t>(dimension)];
  if (depth > 1 << 14)
    return std::nullopt;
  if (auto single = dyn_cast<quant::UniformQuantizedType>(type))
    return Scales{{single.getScale()}, 0};
  auto perAxis = cast<quant::UniformQuantizedPerAxisType>(type);
  int64_t axis = perAxis.getQuantizedDimension(), own = 0;
  if (llvm::is_contained(batch, axis) || llvm::is_contained(summed, axis))
    return std::nullopt;
  for (int64_t dimension = 0; dimension < axis; ++dimension)
    own += !llvm::is_contained(batch, dimension) && !llvm::is_contained(summed, dimension);
  Scales scales{{}, static_cast<int64_t>(batch.size()) + ownBefore + own};
  llvm::append_range(scales.values, perAxis.getScales());
  return scales;
}

Value broadcast(OpBuilder &builder, Location location, Value value, Type type, ArrayRef<int64_t> dimensions) {
  NamedAttribute mapping =
      builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr(dimensions));
  return stablehlo::BroadcastInDimOp::create(builder, location, TypeRange{type}, ValueRange{value}, {mapping})
      ->getResult(0);
}

/// A factor of the product, and where its dimensions are in the result.
struct QuantizedFactor {
  Value value;
  ArrayRef<int64_t> batch, summed;
  int64_t ownBefore = 0; ///< own dimensions of the other factor in front of its own
  Scales scales;
};

SmallVector<int32_t> zeroPointsOf(const QuantizedFactor &factor) {
  quant::QuantizedType type = quantizedTypeOf(factor.value.getType());
  if (auto single = dyn_cast<quant::UniformQuantizedType>(type))
    return {static_cast<int32_t>(single.getZeroPoint())};
  SmallVector<int32_t> points;
  for (int64_t point : cast<quant::UniformQuantizedPerAxisType>(type).getZeroPoints())
    points.push_back(static_cast<int32_t>(point));
  return points;
}

bool isCentered(const QuantizedFactor &factor) {
  return llvm::all_of(zeroPointsOf(factor), [](int32_t point) { return point == 0; });
}

/// The sums of a factor's integers, as i32 in the shape of the product.
Value sumsOf(OpBuilder &builder, Location location, const QuantizedFactor &factor, RankedTensorType result) {
  Value integers =
      FormulaBuilder(builder, location, factor.value).convert(factor.value, builder.getI32Type());
  Value sums = sumOver(builder, location, integers, factor.summed);
  SmallVector<int64_t> dimensions;
  auto own = static_cast<int64_t>(factor.batch.size()) + factor.ownBefore;
  for (int64_t i = 0; i < cast<RankedTensorType>(factor.value.getType()).getRank(); ++i) {
    if (llvm::is_contained(factor.summed, i))
      continue;
    const auto *batch = llvm::find(factor.batch, i);
    dimensions.push_back(batch == factor.batch.end() ? own++ : batch - factor.batch.begin());
  }
  return broadcast(builder, location, sums, result, dimensions);
}

/// What the zero points of the left factor add to the product.
Value offsetsOf(OpBuilder &builder, Location location, const QuantizedFactor &left,
                const QuantizedFactor &right, RankedTensorType result) {
  SmallVector<int32_t> points = zeroPointsOf(left);
  SmallVector<int64_t> shape, axes;
  if (points.size() > 1) {
    shape.push_back(static_cast<int64_t>(points.size()));
    axes.push_back(left.scales.resultDimension);
  }
  auto vector = RankedTensorType::get(shape, builder.getI32Type());
  Value constant = stablehlo::ConstantOp::create(builder, location,
                                                 DenseElementsAttr::get(vector, ArrayRef<int32_t>(points)))
                       ->getResult(0);
  Value spread = broadcast(builder, location, constant, result, axes);
  return FormulaBuilder(builder, location, spread)
      .elementwise<stablehlo::MulOp>({spread, sumsOf(builder, location, right, result)});
}

Value scaled(OpBuilder &builder, Location location, Value numbers, const Scales &scales) {
  auto type = cast<RankedTensorType>(numbers.getType());
  SmallVector<float> values;
  for (double scale : scales.values)
    values.push_back(static_cast<float>(scale));
  SmallVector<int64_t> shape, axes;
  if (values.size() > 1) {
    shape.push_back(static_cast<int64_t>(values.size()));
    axes.push_back(scales.resultDimension);
  }
  auto vector = RankedTensorType::get(shape, builder.getF32Type());
  Value constant = stablehlo::ConstantOp::create(builder, location,
                                                 DenseElementsAttr::get(vector, ArrayRef<float>(values)))
                       ->getResult(0);
  Value spread = broadcast(builder, location, constant, type, axes);
  return FormulaBuilder(builder, location, numbers).elementwise<stablehlo::MulOp>({numbers, spread});
}

/// The numbers of a product of quantized factors, by a product of the integers that they store; null if there
/// is no such. The right factor has no zero points. What those of the left one add is taken off again: sums
/// of weights, which are computed once.
Value integerProduct(OpBuilder &builder, stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  QuantizedFactor left{
      op.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions(), 0, {}};
  QuantizedFactor right{
      op.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions(), 0, {}};
  right.ownBefore = cast<RankedTensorType>(left.value.getType()).getRank() -
                    static_cast<int64_t>(left.batch.size() + left.summed.size());
  for (QuantizedFactor *factor : {&left, &right}) {
    std::optional<Scales> scales = scalesOf(factor->value, factor->batch, factor->summed, factor->ownBefore);
    if (!scales)
      return nullptr;
    factor->scales = *std::move(scales);
  }
  if (!isCentered(right))
    return nullptr;
  Location location = op->getLoc();
  Value sums = builder.clone(*op.getOperation())->getResult(0);
  auto type = cast<RankedTensorType>(withElements(sums.getType(), builder.getI32Type()));
  sums.setType(type);
  FormulaBuilder formula(builder, location, sums);
  if (!isCentered(left))
    sums =
        formula.elementwise<stablehlo::SubtractOp>({sums, offsetsOf(builder, location, left, right, type)});
  Value floats = formula.convert(sums, builder.getF32Type());
  return scaled(builder, location, scaled(builder, location, floats, left.scales), right.scales);
}

/// The op on numbers; a result that is quantized becomes integers.
void replaceComputation(Operation *op) {
  OpBuilder builder(op);
  Location location = op->getLoc();
  Value result;
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    result = integerProduct(builder, dot);
  if (!result) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(numbersOf(builder, location, operand));
    if (isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp>(op)) {
      result = operands[0];
    } else {
      Operation *clone = builder.clone(*op);
      clone->setOperands(operands);
      result = clone->getResult(0);
      if (auto type = quantizedTypeOf(result.getType()))
        result.setType(cast<TensorType>(withElements(result.getType(), type.getExpressedType())));
    }
  }
  if (auto type = quantizedTypeOf(op->getResult(0).getType())) {
    result = passes::quantizedNumbers(builder, location, type, result);
    result.setType(op->getResult(0).getType()); // until all ops know their operands' scales
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void storeIntegers(Value value) {
  if (auto type = quantizedTypeOf(value.getType()))
    value.setType(cast<TensorType>(withElements(
        value.getType(), stablehlo::mlirTypeOf(*stablehlo::storedTypeOf(type), value.getContext()))));
}

} // namespace

void expandQuantizedTypes(func::FuncOp function) {
  SmallVector<Operation *> quantized;
  function.walk([&](Operation *op) {
    if (hasQuantizedTypes(op))
      quantized.push_back(op);
  });
  if (quantized.empty() && llvm::none_of(function.getArgumentTypes(), quantizedTypeOf))
    return;
  interpreter::EvaluationTable evaluations;
  for (Operation *op : quantized)
    if (evaluations.find(op->getName().getStringRef()).computes && op->getNumResults() == 1)
      replaceComputation(op);
  function.walk([&](Operation *op) {
    for (Value value : op->getResults())
      storeIntegers(value);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), storeIntegers);
  });
  Operation *end = function.front().getTerminator();
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.front().getArgumentTypes(), end->getOperandTypes()));
}

} // namespace torchere::cpu
