// Reductions that wait for the vector program that they become a part of.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>

namespace torchere::cpu {

enum class Reduction : uint8_t;

/// The reduction of a body that applies one op to its two arguments.
std::optional<Reduction> reductionOf(mlir::Region &body);
/// Whether inputs, initial values, the body's arguments and results are of the same types.
bool reducesOwnTypes(mlir::Operation *op);
/// Whether the op is a reduction of one tensor that a vector program may compute.
bool joinsReductions(mlir::Operation *op);

/// Whether the op's result costs less to compute again than to store and read, with what of the members it is
/// computed from.
bool isLittle(mlir::Operation *root, llvm::function_ref<bool(mlir::Operation *)> isMember);

} // namespace torchere::cpu
