// Handles: a table in shards, each a list of slots that are used again with another generation.
#include "capi/handles.h"

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

namespace torchere::capi {

namespace {

/// The parts of a handle: 8 bits of kind, 6 of shard, 18 of slot, 32 of generation.
struct HandleParts {
  uint8_t kind;
  uint32_t shard, slot, generation;

  static constexpr unsigned shardShift = 8, slotShift = 14, generationShift = 32;
  static constexpr uint32_t shardCount = 1u << (slotShift - shardShift);
  static constexpr uint32_t slotCount = 1u << (generationShift - slotShift);

  static HandleParts of(const void *handle) {
    auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(handle));
    return {static_cast<uint8_t>(bits), static_cast<uint32_t>(bits >> shardShift) % shardCount,
            static_cast<uint32_t>(bits >> slotShift) % slotCount,
            static_cast<uint32_t>(bits >> generationShift)};
  }
  void *handle() const {
    uint64_t bits = kind | uint64_t{shard} << shardShift | uint64_t{slot} << slotShift |
                    uint64_t{generation} << generationShift;
    return reinterpret_cast<void *>(static_cast<uintptr_t>(bits));
  }
};
static_assert(sizeof(uintptr_t) == sizeof(uint64_t));

struct Slot {
  uint32_t generation = 0; ///< of the present handle, or of the last one; from 1
  HandleKind kind = {};
  std::shared_ptr<void> object; ///< null: free
};

struct alignas(64) Shard {
  std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<uint32_t> free;

  /// With the lock held.
  Slot *find(const HandleParts &parts) {
    if (parts.slot >= slots.size())
      return nullptr;
    Slot &slot = slots[parts.slot];
    bool matches =
        slot.object && slot.generation == parts.generation && static_cast<uint8_t>(slot.kind) == parts.kind;
    return matches ? &slot : nullptr;
  }
  /// The index of a slot for a new handle; none if the shard is full.
  std::optional<uint32_t> take() {
    if (!free.empty()) {
      uint32_t index = free.back();
      free.pop_back();
      return index;
    }
    if (slots.size() == HandleParts::slotCount)
      return std::nullopt;
    if (free.capacity() <= slots.size())
      free.reserve(2 * slots.size() + 16); // so that giving a slot back cannot fail
    slots.emplace_back();
    return static_cast<uint32_t>(slots.size() - 1);
  }
};

/// Leaked on purpose: threads may outlive static destructors.
std::array<Shard, HandleParts::shardCount> &shards() {
  static auto &table = *new std::array<Shard, HandleParts::shardCount>;
  return table;
}

const char *nounOf(uint8_t kind) {
  static constexpr const char *nouns[] = {"plugins", "client", "program", "result", "array", "snapshot"};
  return kind >= 1 && kind <= std::size(nouns) ? nouns[kind - 1] : nullptr;
}

tl::unexpected<Error> wrongHandle(HandleKind kind, const char *noun, const void *handle) {
  if (!handle)
    return invalidArgument("[{}] null handle: expected a live one", noun);
  uint8_t given = HandleParts::of(handle).kind;
  if (given != static_cast<uint8_t>(kind) && nounOf(given))
    return invalidArgument("[{}] wrong handle: got one of kind {}, expected {}", noun, nounOf(given), noun);
  return invalidArgument("[{}] no such handle: it was destroyed, or never made", noun);
}

} // namespace

void *addHandle(HandleKind kind, std::shared_ptr<void> object) {
  static std::atomic<uint32_t> next = 0;
  for (uint32_t attempt = 0; attempt < HandleParts::shardCount; ++attempt) {
    uint32_t number = next.fetch_add(1, std::memory_order_relaxed) % HandleParts::shardCount;
    Shard &shard = shards()[number];
    std::lock_guard lock(shard.mutex);
    std::optional<uint32_t> index = shard.take();
    if (!index)
      continue;
    Slot &slot = shard.slots[*index];
    slot.kind = kind;
    slot.object = std::move(object);
    return HandleParts{static_cast<uint8_t>(kind), number, *index, ++slot.generation}.handle();
  }
  throw std::bad_alloc();
}

Result<std::shared_ptr<void>> findHandle(HandleKind kind, const char *noun, const void *handle) {
  HandleParts parts = HandleParts::of(handle);
  if (handle && parts.kind == static_cast<uint8_t>(kind)) {
    Shard &shard = shards()[parts.shard];
    std::lock_guard lock(shard.mutex);
    if (Slot *slot = shard.find(parts))
      return slot->object;
  }
  return wrongHandle(kind, noun, handle);
}

Status removeHandle(HandleKind kind, const char *noun, const void *handle) {
  std::shared_ptr<void> object; // destroyed outside the lock
  HandleParts parts = HandleParts::of(handle);
  if (handle && parts.kind == static_cast<uint8_t>(kind)) {
    Shard &shard = shards()[parts.shard];
    std::lock_guard lock(shard.mutex);
    if (Slot *slot = shard.find(parts)) {
      object = std::move(slot->object);
      slot->object = nullptr;
      if (slot->generation < std::numeric_limits<uint32_t>::max()) // else its handles would repeat
        shard.free.push_back(parts.slot);
      return {};
    }
  }
  return wrongHandle(kind, noun, handle);
}

} // namespace torchere::capi
