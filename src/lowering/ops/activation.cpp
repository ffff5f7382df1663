// Activation functions.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

mlir::Value relu(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return cx.elementwise<stablehlo::MaxOp>({self, cx.fullLike(0.0, self)});
}

mlir::Value clampBetween(Context &cx, mlir::Value value, mlir::Value low, mlir::Value high) {
  return cx.elementwise<stablehlo::MinOp>({cx.elementwise<stablehlo::MaxOp>({value, low}), high});
}

mlir::Value hardtanh(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  return clampBetween(cx, self, cx.fullLike(args.scalar("min_val"), self),
                      cx.fullLike(args.scalar("max_val"), self));
}

mlir::Value silu(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  return cx.convert(cx.elementwise<stablehlo::MulOp>({self, cx.elementwise<stablehlo::LogisticOp>(self)}),
                    dtype);
}

mlir::Value leakyRelu(Context &cx, const Args &args) {
  mlir::Value self = args.tensor("self");
  mlir::Value scaled =
      cx.elementwise<stablehlo::MulOp>({self, cx.fullLike(args.scalar("negative_slope"), self)});
  return cx.select(cx.compare(stablehlo::ComparisonDirection::GT, self, cx.fullLike(0.0, self)), self,
                   scaled);
}

/// relu6(x + 3) / 6.
mlir::Value hardSigmoidOf(Context &cx, mlir::Value value) {
  mlir::Value shifted = cx.elementwise<stablehlo::AddOp>({value, cx.fullLike(3.0, value)});
  mlir::Value clamped = clampBetween(cx, shifted, cx.fullLike(0.0, value), cx.fullLike(6.0, value));
  return cx.elementwise<stablehlo::DivOp>({clamped, cx.fullLike(6.0, value)});
}

mlir::Value hardsigmoid(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  return cx.convert(hardSigmoidOf(cx, cx.convert(args.tensor("self"), computeType(dtype))), dtype);
}

mlir::Value hardswish(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = cx.convert(args.tensor("self"), computeType(dtype));
  return cx.convert(cx.elementwise<stablehlo::MulOp>({self, hardSigmoidOf(cx, self)}), dtype);
}

} // namespace

void addActivation(OpTable &table) {
  table.add("aten::relu(Tensor self) -> Tensor", relu);
  table.add("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanh);
  table.add("aten::silu(Tensor self) -> Tensor", silu);
  table.add("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", leakyRelu);
  table.add("aten::hardsigmoid(Tensor self) -> Tensor", hardsigmoid);
  table.add("aten::hardswish(Tensor self) -> Tensor", hardswish);
}

} // namespace torchere::lowering
