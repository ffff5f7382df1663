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

/// Neutral entries for the dimensions that the window leaves alone, then the window's.
static Integers leading(llvm::ArrayRef<int64_t> spatial, int64_t rank, int64_t neutral) {
  Integers result(rank - static_cast<int64_t>(spatial.size()), neutral);
  result.append(spatial.begin(), spatial.end());
  return result;
}

template <class Op>
mlir::Value reduceWindow(Context &cx, mlir::Value value, mlir::Value initial, const Window &window,
                         llvm::ArrayRef<Dim> shape) {
  int64_t rank = Context::rank(value);
  mlir::OpBuilder &builder = cx.builder();
  mlir::OperationState operation(cx.loc(), stablehlo::ReduceWindowOp::getOperationName());
  operation.addOperands({value, initial});
  operation.addTypes(cx.tensorType(shape, Context::elementType(value)));
  operation.addAttributes(
      {cx.integersAttribute("window_dimensions", leading(window.size, rank, 1)),
       cx.integersAttribute("window_strides", leading(window.stride, rank, 1)),
       cx.integersAttribute("window_dilations", leading(window.dilation, rank, 1)),
       paddingAttribute(cx, leading(window.low, rank, 0), leading(window.high, rank, 0))});
  auto *block = new mlir::Block;
  operation.addRegion()->push_back(block);
  mlir::Type scalar = mlir::RankedTensorType::get({}, Context::elementType(value));
  block->addArguments({scalar, scalar}, {cx.loc(), cx.loc()});
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    mlir::Value result = Op::create(builder, cx.loc(), mlir::TypeRange{scalar}, block->getArguments(),
                                    llvm::ArrayRef<mlir::NamedAttribute>{})
                             ->getResult(0);
    stablehlo::ReturnOp::create(builder, cx.loc(), mlir::ValueRange{result});
  }
  return cx.withShape(builder.create(operation)->getResult(0), shape);
}

template mlir::Value reduceWindow<stablehlo::AddOp>(Context &, mlir::Value, mlir::Value, const Window &,
                                                    llvm::ArrayRef<Dim>);
template mlir::Value reduceWindow<stablehlo::MulOp>(Context &, mlir::Value, mlir::Value, const Window &,
                                                    llvm::ArrayRef<Dim>);
template mlir::Value reduceWindow<stablehlo::MaxOp>(Context &, mlir::Value, mlir::Value, const Window &,
                                                    llvm::ArrayRef<Dim>);

} // namespace torchere::lowering
