// Implements simplify: from stablehlo::Module to simplification on MLIR.
#include "passes/simplify/simplify.h"

#include "passes/simplify/patterns.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/module_implementation.h"

namespace torchere::passes {

Status simplify(stablehlo::Module &module, const SimplifyOptions &options) {
  mlir::ModuleOp op = *module.implementation().module;
  stablehlo::DiagnosticText diagnostics(*op.getContext());
  SimplificationSteps steps;
  steps.folding = evaluation::EvaluationLimits{.elements = options.maxFoldedElements, .floats = true};
  for (auto function : op.getOps<mlir::func::FuncOp>())
    if (!function.isExternal() && mlir::failed(simplifyFunction(function, steps)))
      return fail(ErrorCode::Internal, "[{}] could not be simplified: {}", function.getSymName().str(),
                  diagnostics.take());
  return {};
}

} // namespace torchere::passes
