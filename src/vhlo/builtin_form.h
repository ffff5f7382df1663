// Attributes and types that an artifact has as MLIR's own, outside the dialect vhlo: those of modules and of
// locations.
#pragma once

#include "mlir/IR/Attributes.h"

namespace torchere::vhlo {

/// Whether MLIR's bytecode has a code for the attribute and for all its parts, which is what
/// builtin_decoding.cpp reads. MLIR's writer writes the text of any other, which no reader of artifacts can
/// be relied upon to parse.
bool hasBuiltinForm(mlir::Attribute attribute);

} // namespace torchere::vhlo
