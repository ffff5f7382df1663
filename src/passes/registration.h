// Registers the passes with MLIR, for torchere-opt.
#pragma once

namespace torchere::passes {

/// Under upstream's names, with upstream's options; workarounds for plugins have names that begin with
/// torchere-prepare.
void registerPasses();

} // namespace torchere::passes
