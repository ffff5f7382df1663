// Attributes and types that an artifact has as MLIR's own, outside the dialect vhlo: those of modules and of
// locations.
#pragma once

#include "mlir/IR/Attributes.h"

namespace torchere::vhlo {

/// Whether MLIR's bytecode has a code for the attribute and for all its parts, as builtin_decoding.cpp
/// requires. MLIR's writer writes any other as text, which readers of artifacts may not be able to parse.
bool hasBuiltinForm(mlir::Attribute attribute);

} // namespace torchere::vhlo
