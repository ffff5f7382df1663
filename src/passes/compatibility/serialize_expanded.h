// Rewriting a module for consumers of an older StableHLO, before it is written as an artifact.
#pragma once

#include "stablehlo/module.h"
#include "vhlo/portable_artifact.h"

namespace torchere::passes {

/// `vhlo::serialize` of the module after expanding what the target lacks: composites, tan, batching
/// dimensions of gather and scatter, ranges in locations. What cannot be expanded is rejected by name. The
/// module itself is unchanged.
TORCHERE_EXPORT Result<std::string> serializeExpanded(const stablehlo::Module &module,
                                                      const vhlo::WriteOptions &options = {});

} // namespace torchere::passes
