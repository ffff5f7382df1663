// Complex tensors and their parts.
#pragma once

#include "lowering/context.h"

namespace torchere::lowering {

mlir::Value realPart(Context &cx, mlir::Value value);
mlir::Value imaginaryPart(Context &cx, mlir::Value value);
/// Of real numbers as well.
mlir::Value magnitude(Context &cx, mlir::Value value);
mlir::Value complexOf(Context &cx, mlir::Value real, mlir::Value imaginary);

/// [...] complex to [..., 2] real, and back.
mlir::Value partsOf(Context &cx, mlir::Value value);
mlir::Value fromParts(Context &cx, mlir::Value parts);

} // namespace torchere::lowering
