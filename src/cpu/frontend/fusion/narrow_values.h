// Values of bf16 and f16 around what is computed in f32: where they are widened, and where results are
// rounded.
#pragma once

#include "stablehlo/dialect.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace torchere::cpu {

class Subgraph;

/// Whether elements are bf16 or f16, which kernels compute in f32 and round once.
bool isNarrow(mlir::Type type);

/// Whether the op converts between f32 and one of these. A kernel that computes what lies around it leaves
/// its rounding out.
bool isRounding(mlir::Operation *op);

/// What the value was widened from, or the value itself.
mlir::Value withoutWidening(mlir::Value value);
mlir::Value withoutWidening(mlir::Value value, Subgraph &subgraph);

/// The value with what it was widened from, where views (reshapes, transposes, broadcasts) may lie between.
struct WidenedValue {
  mlir::Value value;
  llvm::SmallVector<mlir::Operation *, 4> views; ///< the last one first
  mlir::Value source;                            ///< narrow, or null

  explicit WidenedValue(mlir::Value value);
  /// Its narrow element type, or null.
  mlir::Type narrowType() const;
  /// The value in that type: the same views of what was widened.
  mlir::Value narrowed(mlir::OpBuilder &builder) const;
};

/// The one conversion to a narrow type that a value of f32 goes to, maybe through reshapes and transposes.
struct Narrowing {
  llvm::SmallVector<mlir::Operation *, 4> views; ///< the first one first
  stablehlo::ConvertOp conversion;

  static std::optional<Narrowing> of(mlir::Value value);
  mlir::Type type() const;
  /// Puts `made`, which is the value in the narrow type, in place of it.
  void replaceBy(mlir::Value made);
};

} // namespace torchere::cpu
