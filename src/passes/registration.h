// Registers the passes with MLIR, for torchere-opt.
#pragma once

namespace torchere::passes {

/// Under upstream's names, with upstream's options; what plugins need under names that begin with
/// torchere-prepare.
void registerPasses();

} // namespace torchere::passes
