// Quantized numbers: the integers that a tensor stores, and the floats that they represent (the
// specification's sections "Quantized types" and "Quantization computations"). The interpreter's tensors hold
// the integers.
#pragma once

#include "interpreter/mlir_values.h"

#include "mlir/IR/Operation.h"

namespace torchere::interpreter {

/// Whether an operand or result is quantized.
bool hasQuantizedTypes(mlir::Operation &op);

/// (stored - zero point) * scale, for the tensors whose declared type is quantized; the others are unchanged.
Result<Values> dequantize(Values values, mlir::TypeRange declared);
/// Rounds number / scale + zero point to the nearest integer, ties to even, and clamps it to the storage
/// type.
Result<Values> quantize(Values values, mlir::TypeRange declared);

} // namespace torchere::interpreter
