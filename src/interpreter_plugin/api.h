// The reference interpreter as a PJRT plugin: any client of PJRT runs programs on it.
#pragma once

#include "base/export.h"
#include "pjrt/api.h"

namespace torchere::interpreter_plugin {

/// The plugin's table, for runtime::Plugin::wrap; libtorchere_interpreter.so exports it as GetPjrtApi. Its
/// platform is "interpreter"; its one option is device_count (1). docs/interpreter.md says what it does.
TORCHERE_EXPORT const pjrt::Api *api();

} // namespace torchere::interpreter_plugin
