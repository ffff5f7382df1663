// Inverse trigonometric functions, hyperbolic functions and their inverses.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"

namespace torchere::lowering {

namespace {

mlir::Value arcTangentOfTwo(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  DType compute = computeType(dtype);
  mlir::Value y = toResultShape(cx, args.tensor("self"), compute);
  mlir::Value x = toResultShape(cx, args.tensor("other"), compute);
  return cx.convert(cx.elementwise<stablehlo::Atan2Op>({y, x}), dtype);
}

} // namespace

void addTrigonometry(OpTable &table) {
  table.add("aten::tan(Tensor self) -> Tensor", unary<stablehlo::TanOp>);
  table.add("aten::asin(Tensor self) -> Tensor", unary<chlo::AsinOp>);
  table.add("aten::acos(Tensor self) -> Tensor", unary<chlo::AcosOp>);
  table.add("aten::atan(Tensor self) -> Tensor", unary<chlo::AtanOp>);
  table.add("aten::atan2(Tensor self, Tensor other) -> Tensor", arcTangentOfTwo);
  table.add("aten::sinh(Tensor self) -> Tensor", unary<chlo::SinhOp>);
  table.add("aten::cosh(Tensor self) -> Tensor", unary<chlo::CoshOp>);
  table.add("aten::asinh(Tensor self) -> Tensor", unary<chlo::AsinhOp>);
  table.add("aten::acosh(Tensor self) -> Tensor", unary<chlo::AcoshOp>);
  table.add("aten::atanh(Tensor self) -> Tensor", unary<chlo::AtanhOp>);
}

} // namespace torchere::lowering
