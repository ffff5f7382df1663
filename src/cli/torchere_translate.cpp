// torchere-translate: translates StableHLO modules, with the options of upstream's stablehlo-translate.
#include "cli/translation.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  torchere::cli::registerInterpretation();
  torchere::cli::registerSerialization();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "StableHLO translator"));
}
