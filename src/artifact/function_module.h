// The module of a function, in whichever form it has it.
#pragma once

#include "artifact/bundle.h"
#include "stablehlo/shared_module.h"
#include "vhlo/version.h"

#include <memory>

namespace torchere::artifact {

/// The one in memory; else read, from the bytecode where there is any, else from the text.
TORCHERE_EXPORT Result<std::shared_ptr<const stablehlo::SharedModule>> readModule(const Function &function);

/// Whether the module says where its ops come from. Text without locations is parsed with those of its own
/// lines, which nobody wants to keep.
TORCHERE_EXPORT bool hasLocations(const Function &function);

/// The module's text: the function's own, or printed.
TORCHERE_EXPORT Result<std::string> moduleText(const Function &function);

/// The module as a portable artifact that StableHLO `target` reads: the function's own bytes if they are for
/// that version, or written. Errors name the op that `target` cannot hold.
TORCHERE_EXPORT Result<std::string> moduleBytecode(const Function &function, const vhlo::Version &target);

} // namespace torchere::artifact
