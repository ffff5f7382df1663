// torchere-opt: reads StableHLO text, runs MLIR passes over it and prints the result.
#include "interpreter/check_dialect.h"
#include "interpreter/instrumentation_dialect.h"
#include "passes/inlining.h"
#include "passes/registration.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  torchere::stablehlo::registerDialects(registry);
  // Programs that test an interpreter contain assertions, which the passes leave alone.
  registry.insert<torchere::interpreter::CheckDialect, torchere::interpreter::InterpreterDialect>();
  mlir::func::registerInlinerExtension(registry);
  torchere::passes::registerInliner(registry);
  mlir::registerTransformsPasses();
  torchere::passes::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "StableHLO optimizer and text checker\n", registry));
}
