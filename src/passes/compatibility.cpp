// Implements serializeExpanded: the edge between stablehlo::Module and the expansion on MLIR.
#include "passes/compatibility.h"

#include "passes/compatibility_expansion.h"
#include "stablehlo/module_implementation.h"

namespace torchere::passes {

void expandForVersion(stablehlo::Module &module, const vhlo::Version &target) {
  expandForVersion(*module.implementation().module, target);
}

Result<std::string> serializeExpanded(const stablehlo::Module &module, const vhlo::WriteOptions &options) {
  if (!mayNeedExpansion(options.target))
    return vhlo::serialize(module, options);
  stablehlo::Module expanded = module.clone();
  expandForVersion(expanded, options.target);
  return vhlo::serialize(expanded, options);
}

} // namespace torchere::passes
