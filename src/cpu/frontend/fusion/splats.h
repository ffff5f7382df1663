// Constants of one value.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace torchere::cpu {

/// The number that all elements of a float value are, if it is a constant, also one that is repeated.
std::optional<double> splatNumber(mlir::Value value);
/// A constant of the type.
mlir::Value splatOf(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType type,
                    double number);

} // namespace torchere::cpu
