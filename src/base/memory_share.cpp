// Implements the accounting of memory.
#include "base/memory_share.h"

#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace torchere {

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

namespace {
struct Everybody {
  std::mutex mutex;
  std::vector<IdleMemory *> idle;
};
} // namespace

static Everybody &everybody() {
  static Everybody &all = *new Everybody; // memory may outlive static objects
  return all;
}

IdleMemory::IdleMemory(std::function<void()> release) : release(std::move(release)) {
  std::lock_guard lock(everybody().mutex);
  everybody().idle.push_back(this);
}

IdleMemory::~IdleMemory() {
  std::lock_guard lock(everybody().mutex);
  std::erase(everybody().idle, this);
}

static bool tryTake(int64_t bytes) {
  int64_t before = taken.load();
  do {
    if (bytes > memoryLimit() - before)
      return false;
  } while (!taken.compare_exchange_weak(before, before + bytes));
  return true;
}

Result<MemoryShare> MemoryShare::take(int64_t bytes) {
  bool isTaken = tryTake(bytes);
  if (!isTaken && bytes <= memoryLimit()) {
    {
      std::lock_guard lock(everybody().mutex);
      for (IdleMemory *idle : everybody().idle)
        idle->release();
    }
    isTaken = tryTake(bytes);
  }
  if (!isTaken)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes: {} of {} are left", bytes,
                memoryLimit() - memoryTaken(), memoryLimit());
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

void MemoryShare::giveBack(int64_t part) {
  taken -= part;
  bytes -= part;
}

} // namespace torchere
