// Implements the accounting of memory.
#include "evaluation/memory.h"

#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <unistd.h>

namespace torchere::evaluation {

static std::atomic<int64_t> taken = 0;

/// Reads the control group's file, which may be missing or say "max".
static int64_t controlGroupMemory() {
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (Result<std::string> text = readFile("/sys/fs/cgroup/memory.max", 64))
    std::from_chars(text->data(), text->data() + text->size(), limit);
  return limit;
}

int64_t memoryLimit() {
  static const int64_t limit =
      std::min<int64_t>(int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE), controlGroupMemory());
  return limit;
}

int64_t memoryTaken() {
  return taken.load();
}

Result<MemoryShare> MemoryShare::take(int64_t bytes) {
  int64_t before = taken.load();
  do {
    if (bytes > memoryLimit() - before)
      return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes: {} of {} are left", bytes,
                  memoryLimit() - before, memoryLimit());
  } while (!taken.compare_exchange_weak(before, before + bytes));
  MemoryShare share;
  share.bytes = bytes;
  return share;
}

Result<MemoryShare> MemoryShare::take(int64_t count, int64_t width) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes))
    bytes = std::numeric_limits<int64_t>::max();
  return take(bytes);
}

MemoryShare::~MemoryShare() {
  taken -= bytes;
}

} // namespace torchere::evaluation
