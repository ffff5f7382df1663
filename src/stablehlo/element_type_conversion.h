// ElementType as MLIR's type, and back.
#pragma once

#include "base/element_type.h"

#include "mlir/IR/Types.h"

namespace torchere::stablehlo {

/// The type of elements that are numbers of StableHLO, or an index, which is an i64; nothing for others,
/// quantized ones among them.
std::optional<ElementType> elementTypeOf(mlir::Type type);
/// The same; of a quantized type that of the integers that it stores.
std::optional<ElementType> storedTypeOf(mlir::Type type);
mlir::Type mlirTypeOf(ElementType type, mlir::MLIRContext *context);

} // namespace torchere::stablehlo
