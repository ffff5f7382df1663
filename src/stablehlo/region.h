// Checks of the computations that ops hold as regions.
#pragma once

#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// The element types that the terminator of an op's only region returns; empty when there is no body yet.
llvm::SmallVector<mlir::Type> returnedElementTypes(mlir::RegionRange regions);

/// The types that a region's terminator returns; empty when it is no stablehlo.return.
mlir::TypeRange returnedTypes(mlir::Region &region);

/// A region with one block that takes and returns the given types, unknown dimensions aside.
llvm::LogicalResult verifyRegion(const Reporter &reporter, llvm::StringRef constraint, llvm::StringRef name,
                                 mlir::Region &region, mlir::TypeRange arguments, mlir::TypeRange results);

/// The types that all branches return, with the dimensions that all know; branches take no arguments. For
/// `if` and `case`, by the numbers of their constraints.
llvm::LogicalResult inferBranches(const Reporter &reporter, llvm::StringRef noArguments,
                                  llvm::StringRef sameResults, mlir::RegionRange branches,
                                  llvm::SmallVectorImpl<mlir::Type> &types);

/// A region that combines scalars: for N inputs it takes N accumulators and N values of the inputs' element
/// types, or wider ones, and returns N accumulators.
llvm::LogicalResult verifyReducer(const Reporter &reporter, llvm::StringRef constraint, mlir::Region &region,
                                  mlir::ValueRange inputs, llvm::StringRef name = "body");

llvm::LogicalResult verifyScatter(ScatterOp op);

} // namespace torchere::stablehlo
