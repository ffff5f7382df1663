// Implements the run of steps and the layout of the arena.
#include "cpu/plan/plan.h"

#include "cpu/plan/large_pages.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace torchere::cpu {

Status runSteps(const Steps &steps, const Frame &frame) {
  for (const std::unique_ptr<const Step> &step : steps)
    TORCHERE_TRY(frame.recorder ? frame.recorder->run(*step, frame) : step->run(frame));
  return {};
}

Status prepareSteps(const Steps &steps, const Frame &frame) {
  for (const std::unique_ptr<const Step> &step : steps)
    TORCHERE_TRY(step->prepare(frame));
  return {};
}

void addPackingsOf(const Steps &steps, std::vector<Packing> &packings) {
  for (const std::unique_ptr<const Step> &step : steps)
    step->addPackings(packings);
}

bool anyPacks(const Steps &steps, BufferId buffer) {
  return std::any_of(steps.begin(), steps.end(), [&](const auto &step) { return step->packs(buffer); });
}

void MemoryRelease::operator()(std::byte *memory) {
  if (poisonMode() == Poison::Off)
    std::free(memory);
  else
    releaseGuarded(memory);
  share = MemoryShare();
}

/// In large pages where the system has them: fewer faults when it is first written, fewer misses later.
static Result<std::byte *> allocateLarge(size_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, size_t{largePage}, bytes) != 0)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  madvise(memory, bytes / largePage * largePage, MADV_HUGEPAGE); // a wish
  return static_cast<std::byte *>(memory);
}

static Result<std::byte *> allocate(int64_t bytes) {
  if (poisonMode() != Poison::Off)
    return allocateGuarded(bytes);
  auto space = static_cast<size_t>(roundedToAlignment(std::max<int64_t>(bytes, 1)));
  if (space >= size_t{largePage})
    return allocateLarge(space);
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(memoryAlignment, space));
  if (!memory)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes", bytes);
  return memory;
}

Result<Memory> allocateMemory(int64_t bytes) {
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(bytes));
  TORCHERE_ASSIGN(std::byte * memory, allocate(bytes));
  return Memory(memory, MemoryRelease{std::move(share)});
}

static void joinParts(Plan &plan) {
  for (Buffer &part : plan.buffers) {
    if (part.home != Home::Part)
      continue;
    while (plan.buffers[part.index].home == Home::Part) {
      const Buffer &between = plan.buffers[part.index];
      part.offset += between.offset;
      part.index = between.index;
    }
    Buffer &whole = plan.buffers[part.index];
    whole.first = std::min(whole.first, part.first);
    whole.last = std::max(whole.last, part.last);
  }
}

void placeParts(const Plan &plan, std::vector<std::byte *> &memory) {
  for (size_t id = 0; id < plan.buffers.size(); ++id)
    if (const Buffer &buffer = plan.buffers[id]; buffer.home == Home::Part)
      memory[id] = memory[buffer.index] + buffer.offset;
}

/// Greedy: the largest buffers first, each at the lowest place that is free while it is in use.
void layArena(Plan &plan) {
  joinParts(plan);
  std::vector<Buffer *> buffers, laid;
  for (Buffer &buffer : plan.buffers)
    if (buffer.home == Home::Arena)
      buffers.push_back(&buffer);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer *a, const Buffer *b) { return a->bytes > b->bytes; });
  plan.arenaBytes = 0;
  for (Buffer *buffer : buffers) {
    int64_t size = roundedToAlignment(std::max<int64_t>(buffer->bytes, 1));
    buffer->offset = 0;
    for (const Buffer *other : laid) { // in the order of their offsets
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      if (buffer->offset + size <= other->offset)
        break;
      buffer->offset =
          std::max(buffer->offset, other->offset + roundedToAlignment(std::max<int64_t>(other->bytes, 1)));
    }
    laid.insert(std::upper_bound(laid.begin(), laid.end(), buffer,
                                 [](const Buffer *a, const Buffer *b) { return a->offset < b->offset; }),
                buffer);
    plan.arenaBytes = std::max(plan.arenaBytes, buffer->offset + size);
  }
}

} // namespace torchere::cpu
