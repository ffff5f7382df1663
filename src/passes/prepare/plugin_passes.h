// The passes that only some plugins need, each for one trait.
#pragma once

#include "traits/plugin_traits.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Makes a loop's counter that is added to itself a product with two. XLA's search for how often a loop runs
/// takes the sum for a step by a constant, and aborts as neither term is one.
void multiplyDoubledCounters(mlir::ModuleOp module);

/// Replaces atan2 of real numbers by a formula. XLA makes atan2(y, 1) an arc tangent, whose code for vectors
/// gives wrong numbers; for other operands it calls the C library for each element, which takes 20 to 40
/// times as long as the formula.
void expandArcTangents(mlir::ModuleOp module);

/// Puts an optimization barrier behind each write that leads from a donated argument of @main to the result
/// that takes its memory (by a slice update, a scatter or a select), if anything else reads it. XLA then
/// writes once, in the argument's memory, where its fusion would write once more for a reader, into a copy.
void keepDonatedWrites(mlir::ModuleOp module);

struct PluginPass {
  llvm::StringLiteral name; ///< torchere-opt has it by this name
  llvm::StringLiteral description;
  bool PluginTraits::*trait;
  void (*run)(mlir::ModuleOp module);
};

/// In the order in which prepareFor runs them.
llvm::ArrayRef<PluginPass> pluginPasses();

} // namespace torchere::passes
