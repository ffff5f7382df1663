// Complex tensors and their parts.
#include "lowering/complex.h"

namespace torchere::lowering {

template <class Op> static mlir::Value part(Context &cx, mlir::Value value) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  mlir::Type element = mlir::cast<mlir::ComplexType>(type.getElementType()).getElementType();
  return cx.withShape(cx.create<Op>(type.clone(element), value), cx.shape(value));
}

mlir::Value realPart(Context &cx, mlir::Value value) {
  return part<stablehlo::RealOp>(cx, value);
}

mlir::Value imaginaryPart(Context &cx, mlir::Value value) {
  return part<stablehlo::ImagOp>(cx, value);
}

mlir::Value magnitude(Context &cx, mlir::Value value) {
  return dtypeInfo(Context::dtype(value)).isComplex ? part<stablehlo::AbsOp>(cx, value)
                                                    : cx.elementwise<stablehlo::AbsOp>(value);
}

mlir::Value complexOf(Context &cx, mlir::Value real, mlir::Value imaginary) {
  auto type = mlir::cast<mlir::RankedTensorType>(real.getType());
  type = type.clone(mlir::ComplexType::get(type.getElementType()));
  return cx.withShape(cx.create<stablehlo::ComplexOp>(type, {real, imaginary}), cx.shape(real));
}

mlir::Value partsOf(Context &cx, mlir::Value value) {
  Dims shape = cx.shape(value);
  auto axis = static_cast<int64_t>(shape.size());
  shape.push_back(1);
  return cx.concatenate({cx.reshape(realPart(cx, value), shape), cx.reshape(imaginaryPart(cx, value), shape)},
                        axis);
}

mlir::Value fromParts(Context &cx, mlir::Value parts) {
  Dims shape = cx.shape(parts);
  shape.pop_back();
  auto axis = static_cast<int64_t>(shape.size());
  mlir::Value real = cx.reshape(cx.sliceAxis(parts, axis, 0, 1), shape);
  return complexOf(cx, real, cx.reshape(cx.sliceAxis(parts, axis, 1, 2), shape));
}

} // namespace torchere::lowering
