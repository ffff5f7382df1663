// Predicates of element types, and compatibility of tensor types whose dimensions may be unknown.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeRange.h"

#include <optional>

namespace torchere::stablehlo {

bool isBoolean(mlir::Type type);       ///< i1
bool isSignedInteger(mlir::Type type); ///< i2, i4, i8, i16, i32, i64: signless in MLIR, signed in StableHLO
bool isInteger(mlir::Type type);       ///< a signed integer, or ui2, ui4, ui8, ui16, ui32, ui64
bool isFloat(mlir::Type type);   ///< f16, bf16, f32, f64 and the floating-point types of 4, 6 and 8 bits
bool isComplex(mlir::Type type); ///< complex<f32>, complex<f64>

/// The element type of a tensor, or the type itself.
mlir::Type elementType(mlir::Type type);

/// Whether a value could have both types: equal but for tensors' unknown dimensions.
bool areCompatible(mlir::Type left, mlir::Type right);
bool areCompatible(mlir::TypeRange left, mlir::TypeRange right);

/// The type that knows the most dimensions of all operands', which must be compatible.
llvm::LogicalResult inferMostPreciseType(llvm::StringRef op, std::optional<mlir::Location> location,
                                         mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types);

/// Marks the ops whose operands and result have compatible types.
template <class ConcreteOp>
class CompatibleOperandsAndResult : public mlir::OpTrait::TraitBase<ConcreteOp, CompatibleOperandsAndResult> {
};

} // namespace torchere::stablehlo
