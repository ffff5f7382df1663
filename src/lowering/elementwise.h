// Rules shared by elementwise rows: promotion, broadcasting and the common forms of a row.
#pragma once

#include "lowering/context.h"
#include "lowering/promotion.h"

namespace torchere::lowering {

/// The dtype in which torch computes for values of `dtype`: float32 for float16 and bfloat16 (its "opmath"
/// type).
DType computeType(DType dtype);

/// torch.result_type of tensors; Python numbers of the program count as numbers.
DType promotedType(Context &cx, mlir::ValueRange values);

/// A number or tensor argument as a tensor of `dtype`.
mlir::Value numberOperand(Context &cx, const Args &args, std::string_view name, DType dtype);

/// The value converted to `dtype` and broadcast to the shape of the op's first result.
mlir::Value toResultShape(Context &cx, mlir::Value value, DType dtype);

/// Floats without their fraction, rounded towards zero.
mlir::Value truncate(Context &cx, mlir::Value value);

/// A row with one operand: converts to the result's dtype, then applies the op.
template <class Op> mlir::Value unary(Context &cx, const Args &args) {
  return cx.elementwise<Op>(cx.convert(args.tensor("self"), cx.resultType().dtype));
}

/// A row with two operands that computes in the result's dtype.
template <class Op> mlir::Value binary(Context &cx, const Args &args) {
  DType dtype = cx.resultType().dtype;
  mlir::Value self = toResultShape(cx, args.tensor("self"), dtype);
  return cx.elementwise<Op>({self, toResultShape(cx, numberOperand(cx, args, "other", dtype), dtype)});
}

} // namespace torchere::lowering
