// The interpreter's values and MLIR's types; places in the source.
#pragma once

#include "interpreter/value.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

namespace torchere::interpreter {

/// Whether a value is valid for the declared type: equal element types, and equal sizes where they are known.
bool isOfType(const Value &value, mlir::Type type);
/// The type of a value in MLIR's syntax.
std::string typeText(const Value &value);

/// "model.mlir:3:8", the first file and line in a location; empty if there is none.
std::string placeText(mlir::Location location);

} // namespace torchere::interpreter
