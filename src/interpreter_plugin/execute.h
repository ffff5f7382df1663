// The table entry that executes a program.
#pragma once

#include "pjrt/plugin_table.h"

namespace torchere::interpreter_plugin {

void fillExecute(pjrt::Api &api);

} // namespace torchere::interpreter_plugin
