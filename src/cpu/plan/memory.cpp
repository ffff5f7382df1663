// Implements the allocation of memory.
#include "cpu/plan/memory.h"

#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace torchere::cpu {

void MemoryRelease::operator()(std::byte *memory) {
  if (mapped > 0)
    munmap(memory, mapped);
  else if (poisonMode() == Poison::Off)
    std::free(memory);
  else
    releaseGuarded(memory);
  share = MemoryShare();
}

/// The least that has a mapping of its own, which goes back to the system when it is released. What is freed
/// to malloc stays in its heap, and makes it keep larger and larger blocks.
constexpr size_t leastMapped = size_t{256} << 10;

/// `bytes` are whole pages. In large pages where the system has them: fewer faults when it is first written,
/// fewer misses later.
static Result<std::byte *> mapMemory(size_t bytes) {
  const size_t alignment = bytes >= size_t{largePage} ? size_t{largePage} : 1, whole = bytes + alignment - 1;
  void *start = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  if (alignment == 1)
    return static_cast<std::byte *>(start);
  auto first = reinterpret_cast<uintptr_t>(start), end = first + whole;
  uintptr_t aligned = (first + alignment - 1) / alignment * alignment;
  if (aligned > first)
    munmap(start, aligned - first);
  if (size_t rest = end - (aligned + bytes); rest > 0)
    munmap(reinterpret_cast<void *>(aligned + bytes), rest);
  auto *memory = reinterpret_cast<std::byte *>(aligned);
  madvise(memory, bytes / largePage * largePage, MADV_HUGEPAGE); // a wish
  return memory;
}

static Result<std::byte *> allocate(int64_t bytes, size_t &mapped) {
  if (poisonMode() != Poison::Off)
    return allocateGuarded(bytes);
  auto space = static_cast<size_t>(roundedToAlignment(std::max<int64_t>(bytes, 1)));
  if (space >= leastMapped) {
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped = (space + page - 1) / page * page;
    return mapMemory(mapped);
  }
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(memoryAlignment, space));
  if (!memory)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  return memory;
}

Result<Memory> allocateMemory(int64_t bytes) {
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(bytes));
  size_t mapped = 0;
  TORCHERE_ASSIGN(std::byte * memory, allocate(bytes, mapped));
  return Memory(memory, MemoryRelease{std::move(share), mapped});
}

} // namespace torchere::cpu
