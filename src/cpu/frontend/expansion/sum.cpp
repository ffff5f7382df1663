// Builds reductions that add.
#include "cpu/frontend/expansion/sum.h"

#include "passes/chlo/formula.h"
#include "stablehlo/dialect.h"

#include <complex>

using namespace mlir;

namespace torchere::cpu {

static DenseElementsAttr zeroOf(Type element) {
  auto scalar = RankedTensorType::get({}, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat part = APFloat::getZero(cast<mlir::FloatType>(complex.getElementType()).getFloatSemantics());
    return DenseElementsAttr::get(scalar, ArrayRef(std::complex<APFloat>(part, part)));
  }
  return DenseElementsAttr::get(scalar, Attribute(Builder(element.getContext()).getZeroAttr(element)));
}

/// A reduction of numbers, from zero, that adds.
static Value reduceBySum(OpBuilder &builder, Location location, StringRef name, Value numbers,
                         ArrayRef<int64_t> shape, ArrayRef<NamedAttribute> attributes) {
  Type element = cast<RankedTensorType>(numbers.getType()).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value zero =
      stablehlo::ConstantOp::create(builder, location, cast<ElementsAttr>(zeroOf(element)))->getResult(0);
  OperationState state(location, name, {numbers, zero}, {RankedTensorType::get(shape, element)}, attributes);
  Block &body = state.addRegion()->emplaceBlock();
  body.addArguments({scalar, scalar}, {location, location});
  Operation *reduce = builder.create(state);
  OpBuilder inner = OpBuilder::atBlockEnd(&reduce->getRegion(0).front());
  ValueRange arguments = reduce->getRegion(0).front().getArguments();
  Value added =
      passes::FormulaBuilder(inner, location, arguments[0]).elementwise<stablehlo::AddOp>(arguments);
  inner.create(OperationState(location, "stablehlo.return", {added}, {}));
  return reduce->getResult(0);
}

Value sumOver(OpBuilder &builder, Location location, Value numbers, ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(cast<RankedTensorType>(numbers.getType()).getShape()))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(i)))
      shape.push_back(size);
  return reduceBySum(builder, location, stablehlo::ReduceOp::getOperationName(), numbers, shape,
                     builder.getNamedAttr("dimensions", builder.getDenseI64ArrayAttr(dimensions)));
}

Value runningSum(OpBuilder &builder, Location location, Value numbers, int64_t dimension) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(numbers.getType()).getShape();
  auto axis = static_cast<size_t>(dimension), rank = shape.size();
  SmallVector<int64_t> window(rank, 1), padding(2 * rank, 0);
  window[axis] = shape[axis];
  padding[2 * axis] = shape[axis] - 1;
  auto pairs = RankedTensorType::get({static_cast<int64_t>(rank), 2}, builder.getI64Type());
  return reduceBySum(builder, location, stablehlo::ReduceWindowOp::getOperationName(), numbers, shape,
                     {builder.getNamedAttr("window_dimensions", builder.getDenseI64ArrayAttr(window)),
                      builder.getNamedAttr("padding", DenseIntElementsAttr::get(pairs, padding))});
}

} // namespace torchere::cpu
