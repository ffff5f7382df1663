// The CPU engine as a PJRT plugin.
#pragma once

#include "pjrt/api.h"

namespace torchere::cpu {

/// The plugin's function table. The platform is "torchere_cpu"; docs/engine.md describes the client's
/// options.
const pjrt::Api *api();

} // namespace torchere::cpu
