// ThreadMark: which thread recorded a node, so that threads that work apart are computed apart.
#pragma once

#include <cstdint>

namespace torchere::lazy {

/// A number of the thread; not used again after its end.
using ThreadMark = uint32_t;

/// Of threads that record on behalf of others: autograd's.
constexpr ThreadMark sharedThread = 0;

/// Of the thread that calls.
ThreadMark currentThread();
/// Whether the thread has not ended.
bool isAlive(ThreadMark thread);

} // namespace torchere::lazy
