// The table of expansions: how each CHLO op is replaced.
#pragma once

#include "stablehlo/chlo_dialect.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace torchere::passes {

using Values = llvm::SmallVector<mlir::Value, 2>;

/// Builds, at the builder's insertion point, values for an op's results; they may have more or fewer static
/// dimensions than the results' types. Fails with a diagnostic on what cannot be expanded.
using Expansion = std::function<llvm::FailureOr<Values>(mlir::Operation *, mlir::OpBuilder &)>;

/// By op name.
using Expansions = llvm::StringMap<Expansion>;

/// Adds the expansion of `Op`, a function (Op, OpBuilder &) -> FailureOr<Values>.
template <class Op, class Function> void addExpansion(Expansions &table, Function function) {
  table[Op::getOperationName()] = [function](mlir::Operation *op, mlir::OpBuilder &builder) {
    return function(mlir::cast<Op>(op), builder);
  };
}

// Each is defined in a file of its family; expansions.cpp calls them.
void addElementwiseExpansions(Expansions &table);
void addBitExpansions(Expansions &table);
void addBroadcastExpansions(Expansions &table);
void addConstantExpansions(Expansions &table);
void addRaggedDotExpansion(Expansions &table);
void addScanExpansion(Expansions &table);
void addTopKExpansion(Expansions &table);

} // namespace torchere::passes
