// Which build of a library is loaded.
#pragma once

#include "base/export.h"

#include <string>

namespace torchere {

/// Distinguishes builds of a shared library (or program), given any address in it: its build id if the linker
/// wrote one, otherwise path, size and modification time of its file. Empty if the address is in no library.
TORCHERE_EXPORT std::string libraryIdentity(const void *address);

} // namespace torchere
