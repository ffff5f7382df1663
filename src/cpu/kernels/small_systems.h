// LU factors and triangular systems of batches of small matrices, one in each lane of a vector.
#pragma once

#include "cpu/kernels/linear_algebra.h"

namespace torchere::cpu {

/// Whether the batch is one of small matrices of real numbers.
bool areSmall(const LuArgs &args);
bool areSmall(const TriangularSolveArgs &args);

void factorizeSmall(const Context &context, const LuArgs &args);
void solveSmall(const Context &context, const TriangularSolveArgs &args);

} // namespace torchere::cpu
