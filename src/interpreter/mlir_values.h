// The interpreter's values and MLIR's types, and places in the source.
#pragma once

#include "interpreter/value.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

namespace torchere::interpreter {

/// Whether a value of the declared type can be this one: equal element types, and sizes where they are known.
bool isOfType(const Value &value, mlir::Type type);
/// The type of a value as MLIR writes it.
std::string typeText(const Value &value);

/// "model.mlir:3:8", the first file and line that a location knows; empty when it knows none.
std::string placeText(mlir::Location location);

} // namespace torchere::interpreter
