// The PJRT C ABI under the name by which this folder tells the plugin's half of a client, buffer or
// executable from its own.
#pragma once

#include "pjrt/api.h"

namespace torchere::runtime {

namespace abi = pjrt;

} // namespace torchere::runtime
