// Expands replica groups given as axes of a mesh to lists.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// The groups of devices that differ only along the axes, a row each; devices are in row-major order of the
/// mesh's axes, or as its device_ids say. Emits an error for a mesh that cannot be read, and for axes that it
/// does not have or that do not divide it.
llvm::FailureOr<mlir::DenseIntElementsAttr> listGroups(mlir::Operation *op, ReplicaGroupMeshAxesAttr groups,
                                                       mlir::SymbolTableCollection &symbols);

} // namespace torchere::stablehlo
