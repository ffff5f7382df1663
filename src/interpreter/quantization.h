// Quantized numbers: the integers that a tensor stores, and the floats that they stand for (the
// specification's sections "Quantized types" and "Quantization computations"). The interpreter's tensors hold
// the integers.
#pragma once

#include "interpreter/mlir_values.h"

#include "mlir/IR/Operation.h"

namespace torchere::interpreter {

/// Whether an operand or result holds quantized numbers.
bool hasQuantizedTypes(mlir::Operation &op);

/// (stored - zero point) * scale, of the tensors whose declared type is quantized; others stay.
Result<Values> dequantize(Values values, mlir::TypeRange declared);
/// The nearest integers to number / scale + zero point, ties to even, limited to what the type stores.
Result<Values> quantize(Values values, mlir::TypeRange declared);

} // namespace torchere::interpreter
