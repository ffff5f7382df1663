// Module::Implementation: the MLIR side of stablehlo::Module. Only for code compiled against MLIR.
#pragma once

#include "stablehlo/module.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace torchere::stablehlo {

/// Adds every dialect that a module may hold: ours, func's functions and quant's types.
void registerDialects(mlir::DialectRegistry &registry);

/// A context with every dialect that a module may hold loaded, single threaded. Cheap to share: modules of
/// one context must not be used from two threads at once.
std::shared_ptr<mlir::MLIRContext> makeContext();

/// Module::parse in a context that may know further dialects.
Result<Module> parseModule(std::shared_ptr<mlir::MLIRContext> context, std::string_view text,
                           std::string_view name);

struct Module::Implementation {
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module; // after the context: destroyed before it
};

} // namespace torchere::stablehlo
