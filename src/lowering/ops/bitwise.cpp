// Bitwise functions of two tensors, and shifts.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

namespace torchere::lowering {

namespace {

/// Bits that are shifted out are lost. Shift counts are torch's: a negative one counts as too large.
template <class Signed, class Unsigned> Result<mlir::Value> shift(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  const DTypeInfo &info = dtypeInfo(dtype);
  if (info.isFloatingPoint)
    return cx.unimplemented("shifts of floating-point numbers are not supported: got {}", info.torchName);
  mlir::Value self = toResultShape(cx, numberOperand(cx, args, "self", dtype), dtype);
  mlir::Value other = toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype);
  return info.isSigned ? cx.elementwise<Signed>({self, other}) : cx.elementwise<Unsigned>({self, other});
}

constexpr auto shiftLeft = shift<stablehlo::ShiftLeftOp, stablehlo::ShiftLeftOp>;
constexpr auto shiftRight = shift<stablehlo::ShiftRightArithmeticOp, stablehlo::ShiftRightLogicalOp>;

/// An op's variants: tensor with tensor, tensor with number, number with tensor.
template <class Function> void addShift(OpTable &table, const std::string &name, Function function) {
  table.add("aten::bitwise_" + name + "_shift.Tensor(Tensor self, Tensor other) -> Tensor", function);
  table.add("aten::bitwise_" + name + "_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", function);
  table.add("aten::bitwise_" + name + "_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", function);
  table.add("aten::__" + name.substr(0, 1) + "shift__.Tensor(Tensor self, Tensor other) -> Tensor", function);
  table.add("aten::__" + name.substr(0, 1) + "shift__.Scalar(Tensor self, Scalar other) -> Tensor", function);
}

/// The named op, and the one by which Python's operator is recorded; of tensors and of a tensor and a number.
template <class Function> void addPair(OpTable &table, const std::string &name, Function function) {
  for (const std::string &op : {"bitwise_" + name, "__" + name + "__"}) {
    table.add("aten::" + op + ".Tensor(Tensor self, Tensor other) -> Tensor", function);
    table.add("aten::" + op + ".Scalar(Tensor self, Scalar other) -> Tensor", function);
  }
}

} // namespace

void addBitwise(OpTable &table) {
  addPair(table, "and", binary<stablehlo::AndOp>);
  addPair(table, "or", binary<stablehlo::OrOp>);
  addPair(table, "xor", binary<stablehlo::XorOp>);
  addShift(table, "left", shiftLeft);
  addShift(table, "right", shiftRight);
}

} // namespace torchere::lowering
