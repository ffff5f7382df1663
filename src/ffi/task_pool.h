// Threads for the tasks that kernels schedule.
#pragma once

#include "ffi/abi.h"

namespace torchere::ffi {

/// Runs the task in another thread, at the latest when all before it have begun and one of `threads` is free.
void scheduleTask(abi::Task *task, void *data, int64_t threads);

} // namespace torchere::ffi
