// What compiled code depends on besides its program and the library that generated it: the machine it is for.
#pragma once

#include "base/export.h"

#include <string>

namespace torchere::runtime {

/// The processor's model and instruction sets, and how many processors this process may use: compilers
/// generate code accordingly.
TORCHERE_EXPORT std::string processorIdentity();

} // namespace torchere::runtime
