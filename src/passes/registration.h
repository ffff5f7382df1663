// Registers the passes with MLIR, for torchere-opt.
#pragma once

namespace torchere::passes {

/// Under upstream's names, with upstream's options.
void registerPasses();

} // namespace torchere::passes
