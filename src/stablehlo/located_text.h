// locatedText: a module's text for people who look for an op's origin.
#pragma once

#include "stablehlo/module.h"

#include <string>

namespace torchere::stablehlo {

/// The module's text with the location of each op beside it, not by reference to a list at the end.
TORCHERE_EXPORT std::string locatedText(const Module &module);

} // namespace torchere::stablehlo
