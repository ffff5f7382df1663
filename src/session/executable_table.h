// ExecutableTable: the executables of an entry point, one for each of the sets of sizes used last, found
// without a lock.
#pragma once

#include "runtime/executable.h"
#include "session/call_signature.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace torchere::session {

/// The executable for one set of sizes, and the types of its arguments that are the user's.
struct Specialization {
  std::shared_ptr<const runtime::Executable> executable;
  std::vector<std::shared_ptr<const runtime::ArrayType>> argumentTypes; ///< by argument; null for weights
};

/// An entry point without dynamic sizes has one executable, which stays: finding it is one atomic load.
///
/// Those of others are in executableLimit entries. A thread that looks into an entry counts itself among its
/// readers. Whoever writes an entry makes that count negative, which turns newcomers away, and waits for the
/// readers that are there; they only copy a pointer. So finding never waits, and what is replaced is freed at
/// once, unless a call holds it. Had each change a table of its own, it would take as many atomic operations
/// to find something, and more to know when the last table can go.
class ExecutableTable {
public:
  ExecutableTable();

  /// From now on the one used last; null when there is none, or when it is being put there. The pointer is
  /// good for as long as it is held, within the life of the table.
  std::shared_ptr<const Specialization> find(const Sizes &sizes);
  /// Adds one that is not there. Gives back the one that was not used for longest, when it takes its place.
  /// One thread at a time.
  std::shared_ptr<const Specialization> put(const Sizes &sizes,
                                            std::shared_ptr<const Specialization> specialization);

private:
  struct alignas(64) Entry {
    std::atomic<uint64_t> hash = 0;   ///< of the sizes: tells which entries are worth a look
    std::atomic<int64_t> readers = 0; ///< of what follows; negative while it is written
    std::atomic<int64_t> usedAt = 0;  ///< the number of the use that was its last
    Sizes sizes;
    std::shared_ptr<const Specialization> specialization;
  };
  std::shared_ptr<const Specialization> read(Entry &entry, const Sizes &sizes);
  /// Where sizes of this hash go: the next free entry, else the one that was not used for longest.
  Entry &entryFor(uint64_t hash);

  std::shared_ptr<const Specialization> onlyOwner; ///< of what `only` points to, for no sizes
  std::atomic<const Specialization *> only = nullptr;
  std::unique_ptr<Entry[]> entries;
  std::atomic<int64_t> uses = 0;
};

} // namespace torchere::session
