// The reference interpreter as a PJRT plugin: any client of PJRT runs programs on it.
#pragma once

#include "base/export.h"
#include "pjrt/api.h"

namespace torchere::interpreter_plugin {

/// The plugin's function table, for runtime::Plugin::wrap; libtorchere_interpreter.so exports it as
/// GetPjrtApi. The platform is "interpreter"; the only client option is device_count (default 1).
/// docs/interpreter.md describes the plugin.
TORCHERE_EXPORT const pjrt::Api *api();

} // namespace torchere::interpreter_plugin
