// What compiled code depends on beside its program: the library that made it and the machine that it is for.
#pragma once

#include "base/export.h"

#include <string>

namespace torchere::runtime {

/// Tells builds of a shared library (or program) apart, by any address in it: its build id where the linker
/// wrote one, else path, size and time of change of its file. Empty when the address is in none.
TORCHERE_EXPORT std::string libraryIdentity(const void *address);

/// The processor's model and its instruction sets, and how many processors this process may use: compilers
/// choose by them.
TORCHERE_EXPORT std::string processorIdentity();

} // namespace torchere::runtime
