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

Value sumOver(OpBuilder &builder, Location location, Value numbers, ArrayRef<int64_t> dimensions) {
  auto type = cast<RankedTensorType>(numbers.getType());
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(i)))
      shape.push_back(size);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero =
      stablehlo::ConstantOp::create(builder, location, cast<ElementsAttr>(zeroOf(type.getElementType())))
          ->getResult(0);
  OperationState state(location, stablehlo::ReduceOp::getOperationName(), {numbers, zero},
                       {RankedTensorType::get(shape, type.getElementType())});
  state.addAttribute("dimensions", builder.getDenseI64ArrayAttr(dimensions));
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

} // namespace torchere::cpu
