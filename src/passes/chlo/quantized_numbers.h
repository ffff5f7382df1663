// Quantized numbers as formulas of the integers that they are stored as (the specification's section
// "Quantization computations").
#pragma once

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"

namespace torchere::passes {

/// The integers that stand for `numbers`, which have the type's expressed type: rounded to the nearest, ties
/// to even, and clamped to the storage type. The type is UniformQuantizedType or UniformQuantizedPerAxisType.
mlir::Value quantizedNumbers(mlir::OpBuilder &builder, mlir::Location location,
                             mlir::quant::QuantizedType type, mlir::Value numbers);
/// The numbers of the expressed type that the integers stand for.
mlir::Value dequantizedNumbers(mlir::OpBuilder &builder, mlir::Location location,
                               mlir::quant::QuantizedType type, mlir::Value stored);

} // namespace torchere::passes
