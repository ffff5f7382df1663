// The table entry that executes a program, and the extension that measures it.
#pragma once

#include "pjrt/plugin_table.h"

namespace torchere::pjrt_server {

void fillExecute(pjrt::Api &api);
/// The extension of a plugin whose programs can be profiled, in front of others.
pjrt::Extension *profileExtension(pjrt::Extension *next);

} // namespace torchere::pjrt_server
