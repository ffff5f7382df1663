// Implements the mode: memory of whole pages between protected ones.
#include "cpu/plan/poison.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace torchere::cpu {

Poison poisonMode() {
  static const Poison mode = [] {
    const char *value = std::getenv("TORCHERE_CPU_POISON");
    std::string_view name = value ? value : "";
    return name == "buffers" ? Poison::Buffers : name == "arena" ? Poison::Arena : Poison::Off;
  }();
  return mode;
}

void poison(std::byte *memory, int64_t bytes) {
  if (poisonMode() != Poison::Off && bytes > 0)
    std::memset(memory, 0xFF, static_cast<size_t>(bytes));
}

namespace {

struct Mapping {
  void *start = nullptr;
  size_t size = 0;
};

/// The mappings by the addresses that were handed out.
struct Mappings {
  std::mutex mutex;
  std::map<std::byte *, Mapping> byAddress;
};

Mappings &mappings() {
  static auto &all = *new Mappings; // memory may be released while the process ends
  return all;
}

} // namespace

Result<std::byte *> allocateGuarded(int64_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t used = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 63) / 64 * 64;
  size_t inside = (used + page - 1) / page * page, size = inside + 2 * page;
  void *start = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  auto *first = static_cast<std::byte *>(start) + page;
  if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) {
    munmap(start, size);
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  }
  std::byte *memory = first + (inside - used);
  std::lock_guard lock(mappings().mutex);
  mappings().byAddress[memory] = {start, size};
  return memory;
}

void releaseGuarded(std::byte *memory) {
  Mapping mapping;
  {
    std::lock_guard lock(mappings().mutex);
    auto found = mappings().byAddress.find(memory);
    if (found == mappings().byAddress.end())
      return;
    mapping = found->second;
    mappings().byAddress.erase(found);
  }
  munmap(mapping.start, mapping.size);
}

} // namespace torchere::cpu
