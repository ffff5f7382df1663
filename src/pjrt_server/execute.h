// The table entry that executes a program.
#pragma once

#include "pjrt/plugin_table.h"

namespace torchere::pjrt_server {

void fillExecute(pjrt::Api &api);

} // namespace torchere::pjrt_server
