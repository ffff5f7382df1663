// The checks of a bundle that do not concern its directory, where names are those of files.
#pragma once

#include "artifact/bundle.h"

namespace torchere::artifact {

/// As verify(), but for the names of weights and functions, which may be anything.
Status verifyContents(const Bundle &bundle);

} // namespace torchere::artifact
