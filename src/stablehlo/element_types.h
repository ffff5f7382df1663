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
bool isPerTensorQuantized(mlir::Type type); ///< !quant.uniform with one scale
bool isPerAxisQuantized(mlir::Type type);   ///< !quant.uniform with a scale for each index of one dimension
bool isQuantized(mlir::Type type);          ///< either of them

/// The dimension along which the scales of a per-axis quantized type vary; nothing for other types.
std::optional<int64_t> quantizedDimension(mlir::Type type);

/// Whether a tensor has as many scales as its quantized dimension has indices. Holds for tensors without
/// scales.
bool hasScaleOfEachIndex(mlir::Type tensor);

/// Whether a tensor has a static shape, or a single unknown dimension, which has a bound.
bool isStaticOrBounded(mlir::Type tensor);

/// The type of the numbers that a quantized type stands for; any other type stands for itself.
mlir::Type expressedType(mlir::Type type);

/// The element type of a tensor, or the type itself.
mlir::Type elementType(mlir::Type type);

/// Whether a value could have both types: equal but for tensors' unknown dimensions.
bool areCompatible(mlir::Type left, mlir::Type right);
bool areCompatible(mlir::TypeRange left, mlir::TypeRange right);

/// Whether element types differ at most in the scales and zero points of quantized ones: the specification's
/// baseline_element_type.
bool haveSameBaseline(mlir::Type left, mlir::Type right);
/// As areCompatible, for element types of the same baseline.
bool haveCompatibleBaselines(mlir::Type left, mlir::Type right);
bool haveCompatibleBaselines(mlir::TypeRange left, mlir::TypeRange right);

/// Whether tensors of the types `held` are what tensors of `types` store: the same, or the integers of
/// quantized ones.
bool areStoredAs(mlir::TypeRange types, mlir::TypeRange held);

/// The type that knows the most dimensions of all operands', whose baselines must be compatible.
llvm::LogicalResult inferMostPreciseType(llvm::StringRef op, std::optional<mlir::Location> location,
                                         mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types);

/// Marks the ops whose operands and result have compatible types.
template <class ConcreteOp>
class CompatibleOperandsAndResult : public mlir::OpTrait::TraitBase<ConcreteOp, CompatibleOperandsAndResult> {
};

} // namespace torchere::stablehlo
