// Implements serializeExpanded: from stablehlo::Module to the expansion on MLIR.
#include "passes/compatibility/serialize_expanded.h"

#include "passes/compatibility/expansion.h"
#include "stablehlo/module_implementation.h"

namespace torchere::passes {

Result<std::string> serializeExpanded(const stablehlo::Module &module, const vhlo::WriteOptions &options) {
  if (!mayNeedExpansion(options.target))
    return vhlo::serialize(module, options);
  stablehlo::Module expanded = module.clone();
  expandForVersion(*expanded.implementation().module, options.target);
  return vhlo::serialize(expanded, options);
}

} // namespace torchere::passes
