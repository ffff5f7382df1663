// The extensions by which kernels are registered with our plugins.
#pragma once

#include "pjrt/types.h"

namespace torchere::pjrt_server {

/// PJRT's extension, and behind it our own with the FFI's table.
pjrt::Extension *ffiExtension();

} // namespace torchere::pjrt_server
