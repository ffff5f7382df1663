// The plans of a program as bytes: what a stored executable holds beside the program.
#pragma once

#include "cpu/frontend/compile.h"

namespace torchere::cpu {

/// Empty if a step holds a part of the module.
std::string storeModule(const CompiledModule &compiled, Isa isa);

/// Equal for equal weight programs of one build and instruction set. Empty if a step holds a part of the
/// module.
std::string storeWeightProgram(const WeightProgram &program, Isa isa);

/// None if another build has stored it, or for other instructions. InvalidArgument unless it is a program
/// that touches nothing but its own memory.
Result<std::optional<CompiledModule>> loadModule(std::string_view stored, Isa isa);

} // namespace torchere::cpu
