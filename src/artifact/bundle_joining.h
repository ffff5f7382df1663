// Several programs as one bundle: the names of their weights, and what they share.
#pragma once

#include "artifact/bundle.h"

#include <vector>

namespace torchere::artifact {

/// One bundle with the functions of all programs, in order. A weight keeps its name where no other program
/// has another weight of that name. Where one has, all weights of both are called "FUNCTION.NAME", FUNCTION
/// being the first function of the first such program that has the weight. The same view of the same memory
/// is stored once, whatever its names. Constants of equal elements become one.
///
/// Errors: InvalidArgument for two functions of one name, and for a weight that overlaps what another program
/// writes without being the same view: it would keep its old value.
TORCHERE_EXPORT Result<Bundle> joinBundles(std::vector<Bundle> programs);

} // namespace torchere::artifact
