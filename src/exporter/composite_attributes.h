// Attributes of composites that the user has marked: Python's values as MLIR's.
#pragma once

#include "base/error.h"

#include "mlir/IR/Builders.h"

#include <string>

namespace torchere::exporter {

/// `json` is an object: an int becomes i64, a float f32, a list of ints, floats or bools a dense tensor,
/// other lists an array. Floats that JSON lacks are {"float": "inf"}. An error names the composite.
Result<llvm::SmallVector<mlir::NamedAttribute>>
compositeAttributes(mlir::OpBuilder &builder, const std::string &composite, const std::string &json);

} // namespace torchere::exporter
