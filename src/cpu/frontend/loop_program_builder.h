// Makes loop programs of loops with small bodies.
#pragma once

#include "cpu/frontend/planner.h"
#include "stablehlo/dialect.h"

namespace torchere::cpu {

/// Whether what the loop computes is short enough for registers, and no part of it is better computed by
/// several threads.
bool fitsLoopProgram(stablehlo::WhileOp loop);
Status planLoopProgram(Planner &planner, stablehlo::WhileOp loop);

} // namespace torchere::cpu
