// What compiled code depends on besides its program: the library that generated it and the machine it is for.
#pragma once

#include "base/export.h"

#include <string>

namespace torchere::runtime {

/// Distinguishes builds of a shared library (or program), given any address in it: its build id if the linker
/// wrote one, otherwise path, size and modification time of its file. Empty if the address is in no library.
TORCHERE_EXPORT std::string libraryIdentity(const void *address);

/// The processor's model and instruction sets, and how many processors this process may use: compilers
/// generate code accordingly.
TORCHERE_EXPORT std::string processorIdentity();

} // namespace torchere::runtime
