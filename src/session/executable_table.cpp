// ExecutableTable: lookup, and eviction of the least recently used executable.
#include "session/executable_table.h"

#include "session/session.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <thread>

namespace torchere::session {

/// A writer adds this to the count of readers: the sum is negative whatever the number of readers.
static constexpr int64_t writing = std::numeric_limits<int64_t>::min() / 2;

static uint64_t hashOf(const Sizes &sizes) {
  uint64_t hash = sizes.size();
  for (int64_t size : sizes)
    hash = (std::rotl(hash, 23) ^ static_cast<uint64_t>(size)) * 0x9E3779B97F4A7C15; // 2^64 / golden ratio
  return hash ^ hash >> 32; // the low bits choose the entry
}

ExecutableTable::ExecutableTable() : entries(std::make_unique<Entry[]>(executableLimit)) {}

std::shared_ptr<const Specialization> ExecutableTable::read(Entry &entry, const Sizes &sizes) {
  std::shared_ptr<const Specialization> found;
  if (entry.readers.fetch_add(1, std::memory_order_acquire) >= 0 && entry.sizes == sizes) {
    found = entry.specialization;
    entry.usedAt.store(uses.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  entry.readers.fetch_sub(1, std::memory_order_release);
  return found;
}

std::shared_ptr<const Specialization> ExecutableTable::find(const Sizes &sizes) {
  if (sizes.empty()) {
    const Specialization *found = only.load(std::memory_order_acquire);
    return {std::shared_ptr<const Specialization>(), found}; // the table owns it: no reference count changes
  }
  uint64_t hash = hashOf(sizes);
  for (size_t i = 0; i < executableLimit; ++i) {
    Entry &entry = entries[(hash + i) % executableLimit];
    if (entry.hash.load(std::memory_order_relaxed) != hash)
      continue;
    if (auto found = read(entry, sizes))
      return found;
  }
  return nullptr;
}

std::vector<std::shared_ptr<const Specialization>> ExecutableTable::all() {
  std::vector<std::shared_ptr<const Specialization>> found;
  if (only.load(std::memory_order_acquire)) // set once, and after its owner
    found.push_back(onlyOwner);
  for (size_t i = 0; i < executableLimit; ++i) {
    if (entries[i].readers.fetch_add(1, std::memory_order_acquire) >= 0 && entries[i].specialization)
      found.push_back(entries[i].specialization);
    entries[i].readers.fetch_sub(1, std::memory_order_release);
  }
  return found;
}

ExecutableTable::Entry &ExecutableTable::entryFor(uint64_t hash) {
  for (size_t i = 0; i < executableLimit; ++i) {
    Entry &entry = entries[(hash + i) % executableLimit];
    if (!entry.specialization) // only this thread writes it
      return entry;
  }
  std::span all(entries.get(), executableLimit);
  return *std::min_element(all.begin(), all.end(), [](const Entry &a, const Entry &b) {
    return a.usedAt.load(std::memory_order_relaxed) < b.usedAt.load(std::memory_order_relaxed);
  });
}

std::shared_ptr<const Specialization>
ExecutableTable::put(const Sizes &sizes, std::shared_ptr<const Specialization> specialization) {
  if (sizes.empty()) {
    onlyOwner = std::move(specialization);
    only.store(onlyOwner.get(), std::memory_order_release);
    return nullptr;
  }
  Sizes copy = sizes; // before the entry is locked, because the copy may throw
  uint64_t hash = hashOf(sizes);
  Entry &entry = entryFor(hash);
  entry.readers.fetch_add(writing, std::memory_order_relaxed);
  while (entry.readers.load(std::memory_order_acquire) != writing)
    std::this_thread::yield();
  entry.sizes = std::move(copy);
  entry.specialization.swap(specialization);
  entry.usedAt.store(uses.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  entry.hash.store(hash, std::memory_order_relaxed);
  entry.readers.fetch_sub(writing, std::memory_order_release);
  return specialization;
}

} // namespace torchere::session
