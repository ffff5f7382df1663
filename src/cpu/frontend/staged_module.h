// StagedModule: a program whose sizes depend on data, cut where it is known how they are computed.
#pragma once

#include "stablehlo/module.h"

#include <optional>

namespace torchere::cpu {

/// The program's results are those of `rest`, called with the program's arguments and then the results of
/// `first`. Sizes may depend on data of the rest as well: it is then cut again, once the first ones are
/// bound.
struct StagedModule {
  stablehlo::Module first; ///< whose types are static: sizes, and all that depends on none and is read later
  stablehlo::Module rest;  ///< its arguments that are such sizes are marked as OpenModule expects them
};

/// `module` has one function, without calls, and static arguments. Nothing if no size depends on data alone.
std::optional<StagedModule> splitStages(const stablehlo::Module &module);

} // namespace torchere::cpu
