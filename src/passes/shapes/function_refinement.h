// Shape refinement of MLIR functions; refine_shapes.h is its interface for code without MLIR.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace torchere::passes {

/// The custom call that converts a refined argument to its old type, between the two passes.
constexpr llvm::StringRef operandWrapper = "stablehlo.shape_refinement_operand_wrapper";

/// Whether a type has no unknown dimension.
bool isStaticType(mlir::Type type);
bool isStaticModule(mlir::ModuleOp module);

/// Fails, with a diagnostic at `function`, unless each type refines the argument's own.
llvm::LogicalResult verifyArgumentTypes(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Type> types);

/// Gives the arguments new types and keeps the module valid: uses see the old types through a custom call.
void wrapArguments(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Type> types);

/// Propagates the argument types of `main` through the module. If they are all static, everything becomes so,
/// except for sizes that depend on values: returns the first op with such a result, or null.
llvm::FailureOr<mlir::Operation *> refineFrom(mlir::ModuleOp module, mlir::func::FuncOp main);

} // namespace torchere::passes
