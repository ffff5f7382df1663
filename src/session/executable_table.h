// ExecutableTable: an entry point's executables for the most recently used sets of sizes, found without a
// lock.
#pragma once

#include "runtime/executable.h"
#include "session/call_signature.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace torchere::session {

/// The executable for one set of sizes, and the types of the arguments that the user passes.
struct Specialization {
  std::shared_ptr<const runtime::Executable> executable;
  std::vector<std::shared_ptr<const runtime::ArrayType>> argumentTypes; ///< by argument; null for weights
};

/// An entry point without dynamic sizes has one executable, which is never evicted: finding it is one atomic
/// load.
///
/// Other executables are kept in executableLimit entries. A thread that looks into an entry counts itself
/// among its readers. A writer makes that count negative, which turns new readers away, and waits for the
/// present ones, which only copy a pointer. So lookups never wait, and an evicted executable is freed at once
/// unless a call holds it. Copying the whole table on every change would cost as many atomic operations per
/// lookup, and more to find out when the old table can be freed.
class ExecutableTable {
public:
  ExecutableTable();

  /// Marks the executable as most recently used. Null if there is none, or while it is being written. The
  /// pointer is valid while it is held, but no longer than the table.
  std::shared_ptr<const Specialization> find(const Sizes &sizes);
  /// Adds an executable that is not in the table. Returns the least recently used one if it was evicted to
  /// make room. One thread at a time.
  std::shared_ptr<const Specialization> put(const Sizes &sizes,
                                            std::shared_ptr<const Specialization> specialization);
  /// Those in the table, without those that are being written.
  std::vector<std::shared_ptr<const Specialization>> all();

private:
  struct alignas(64) Entry {
    std::atomic<uint64_t> hash = 0;   ///< of the sizes: shows which entries are worth comparing
    std::atomic<int64_t> readers = 0; ///< of the members below; negative while they are written
    std::atomic<int64_t> usedAt = 0;  ///< when it was last used, as a running number
    Sizes sizes;
    std::shared_ptr<const Specialization> specialization;
  };
  std::shared_ptr<const Specialization> read(Entry &entry, const Sizes &sizes);
  /// The entry for new sizes: the next free one, else the least recently used.
  Entry &entryFor(uint64_t hash);

  std::shared_ptr<const Specialization> onlyOwner; ///< owns what `only` points to, if there are no sizes
  std::atomic<const Specialization *> only = nullptr;
  std::unique_ptr<Entry[]> entries;
  std::atomic<int64_t> uses = 0;
};

} // namespace torchere::session
