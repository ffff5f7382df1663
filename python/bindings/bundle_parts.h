// Bundles as Python values and from them: to pickle programs, to replace weights, to read their constants.
#pragma once

#include "artifact/bundle.h"
#include "bindings/bindings.h"

namespace torchere::bindings {

void bindBundleParts(nb::module_ &module, nb::class_<program::Weight> &weight,
                     nb::class_<artifact::Bundle> &bundle);

} // namespace torchere::bindings
