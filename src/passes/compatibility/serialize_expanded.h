// Rewriting a module for consumers of an older StableHLO, before it is written as an artifact.
#pragma once

#include "stablehlo/module.h"
#include "vhlo/portable_artifact.h"

namespace torchere::passes {

/// `vhlo::serialize` of the module with what the target lacks expressed in the ops that it has: composites,
/// tan, batching dimensions of gather and scatter, ranges in locations. What has no such form is refused by
/// name. The module itself stays as it is.
TORCHERE_EXPORT Result<std::string> serializeExpanded(const stablehlo::Module &module,
                                                      const vhlo::WriteOptions &options = {});

} // namespace torchere::passes
