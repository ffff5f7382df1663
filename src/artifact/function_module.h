// The module of a function, in whichever form is available.
#pragma once

#include "artifact/bundle.h"
#include "stablehlo/shared_module.h"
#include "vhlo/version.h"

#include <memory>

namespace torchere::artifact {

/// The module in memory; otherwise parsed, from the bytecode if there is any, else from the text.
TORCHERE_EXPORT Result<std::shared_ptr<const stablehlo::SharedModule>> readModule(const Function &function);

/// Whether the module says where its ops come from. If not, parsing assigns locations in the text itself,
/// which are useless.
TORCHERE_EXPORT bool hasLocations(const Function &function);

/// The module's text: the stored one, or printed.
TORCHERE_EXPORT Result<std::string> moduleText(const Function &function);

/// The module as a portable artifact that StableHLO `target` can read: the stored bytes if they are of that
/// version, otherwise newly serialized. Errors name the op that `target` cannot express.
TORCHERE_EXPORT Result<std::string> moduleBytecode(const Function &function, const vhlo::Version &target);

/// Sets the precision of the products of a function that was read; its module is in memory then. Errors are
/// those of passes::setProductPrecision.
Status setPrecision(Function &function, std::string_view precision);

} // namespace torchere::artifact
