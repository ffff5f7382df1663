// Windows over spatial dimensions: padding attributes and reduce_window.
#include "lowering/window.h"

namespace torchere::lowering {

mlir::NamedAttribute paddingAttribute(Context &cx, llvm::ArrayRef<int64_t> low,
                                      llvm::ArrayRef<int64_t> high) {
  Integers pairs;
  for (size_t i = 0; i < low.size(); ++i) {
    pairs.push_back(low[i]);
    pairs.push_back(high[i]);
  }
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(low.size()), 2}, cx.builder().getI64Type());
  return cx.attribute("padding", mlir::DenseIntElementsAttr::get(type, llvm::ArrayRef<int64_t>(pairs)));
}

/// Neutral entries for the dimensions that the window does not cover, then the window's.
static Integers leading(llvm::ArrayRef<int64_t> spatial, int64_t rank, int64_t neutral) {
  Integers result(rank - static_cast<int64_t>(spatial.size()), neutral);
  result.append(spatial.begin(), spatial.end());
  return result;
}

Values reduceWindows(Context &cx, const Values &values, const Values &initials, const Window &window,
                     llvm::ArrayRef<Dim> shape, RegionFunction body) {
  int64_t rank = Context::rank(values[0]);
  mlir::OperationState operation(cx.loc(), stablehlo::ReduceWindowOp::getOperationName());
  operation.addOperands(values);
  operation.addOperands(initials);
  for (mlir::Value value : values)
    operation.addTypes(cx.tensorType(shape, Context::elementType(value)));
  operation.addAttributes(
      {cx.integersAttribute("window_dimensions", leading(window.size, rank, 1)),
       cx.integersAttribute("window_strides", leading(window.stride, rank, 1)),
       cx.integersAttribute("window_dilations", leading(window.dilation, rank, 1)),
       paddingAttribute(cx, leading(window.low, rank, 0), leading(window.high, rank, 0))});
  llvm::SmallVector<mlir::Type> elements = elementTensors(values);
  elements.append(elementTensors(values));
  addRegion(cx, operation, elements, body);
  Values results;
  for (mlir::Value result : cx.builder().create(operation)->getResults())
    results.push_back(cx.withShape(result, shape));
  return results;
}

} // namespace torchere::lowering
