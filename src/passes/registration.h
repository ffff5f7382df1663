// Registers the passes with MLIR, for torchere-opt.
#pragma once

namespace torchere::passes {

/// --stablehlo-refine-arguments=types=..., --stablehlo-refine-shapes.
void registerPasses();

} // namespace torchere::passes
