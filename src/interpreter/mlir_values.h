// What MLIR holds, types and constants, as the interpreter's.
#pragma once

#include "interpreter/value.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"

namespace torchere::interpreter {

/// StableHLO's element types, and index, which is an i64 here. A quantized type's is that of what it stores.
std::optional<ElementType> elementTypeOf(mlir::Type type);
mlir::Type mlirTypeOf(ElementType type, mlir::MLIRContext *context);
mlir::RankedTensorType mlirTypeOf(const Tensor &tensor, mlir::MLIRContext *context);

/// A dense constant. Unimplemented for sparse constants.
Result<Tensor> tensorOf(mlir::ElementsAttr attribute);

/// Whether a value of the declared type can be this one: equal element types, and sizes where they are known.
bool isOfType(const Value &value, mlir::Type type);
/// The type of a value as MLIR writes it.
std::string typeText(const Value &value);
std::string typeText(mlir::Type type);

/// "model.mlir:3:8", the first file and line that a location knows; empty when it knows none.
std::string placeText(mlir::Location location);

} // namespace torchere::interpreter
