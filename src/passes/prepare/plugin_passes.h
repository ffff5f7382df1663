// Passes that only some plugins need, one for each trait.
#pragma once

#include "traits/plugin_traits.h"

#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// Turns a loop counter that is added to itself into a product with two. XLA's trip-count analysis takes the
/// sum for a step by a constant, and aborts because neither term is constant.
void multiplyDoubledCounters(mlir::ModuleOp module);

/// Replaces atan2 of real numbers by a formula. XLA turns atan2(y, 1) into an arc tangent whose vectorized
/// code computes wrong numbers; for other operands it calls the C library once per element, which takes 20 to
/// 40 times as long as the formula.
void expandArcTangents(mlir::ModuleOp module);

/// Inserts an optimization barrier after each write (a slice update, a scatter or a select) on the way from a
/// donated argument of @main to the result that takes its memory, if anything else reads it. XLA then writes
/// once, in the argument's memory; fused into another reader, the write would be repeated into a copy.
void keepDonatedWrites(mlir::ModuleOp module);

/// Sets the precision of dots and convolutions of float32 to HIGHEST where the program asks for none. XLA's
/// CUDA plugin then multiplies float32 numbers instead of their roundings to TF32, as PyTorch does.
void keepFloat32Products(mlir::ModuleOp module);

/// Replaces quantized tensors by the integers that they store, and conversions to and from them by
/// arithmetic, as StableHLO's specification has it. A module that computes with quantized tensors otherwise
/// stays as it is.
void expandQuantizedTypes(mlir::ModuleOp module);

struct PluginPass {
  llvm::StringLiteral name; ///< as an option of torchere-opt
  llvm::StringLiteral description;
  bool PluginTraits::*trait;
  void (*run)(mlir::ModuleOp module);
};

/// In the order in which prepareFor runs them.
llvm::ArrayRef<PluginPass> pluginPasses();

} // namespace torchere::passes
