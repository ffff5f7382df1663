// PackedRegion: memory for what the steps of a program pack in one run.
#pragma once

#include "cpu/execute/shared_packings.h"
#include "cpu/plan/plan.h"

#include <memory>
#include <vector>

namespace torchere::cpu {

/// Copies lie one behind the other, in slabs of large pages where there is enough of them: most weights are
/// smaller than such a page or end within one, and the first write to each small page is a fault. The memory
/// of a slab is freed when all copies in it are, what none has taken at the region's end.
class PackedRegion {
public:
  /// Becomes that of the thread's allocations, until it ends. Regions nest.
  PackedRegion();
  ~PackedRegion();
  PackedRegion(const PackedRegion &) = delete;
  PackedRegion &operator=(const PackedRegion &) = delete;

  /// Memory of the thread's region, aligned as allocateMemory() does; of its own where there is no region.
  static Result<std::shared_ptr<std::byte[]>> allocate(int64_t bytes);

private:
  Result<std::shared_ptr<std::byte[]>> take(int64_t bytes);

  struct Slab {
    std::weak_ptr<Memory> memory; ///< that copies have
    int64_t used;                 ///< bytes at its beginning
    int64_t size;
    void releaseRest() const;
  };
  std::shared_ptr<std::byte[]> takeFrom(Slab &slab, int64_t bytes);

  PackedRegion *outer;
  std::vector<Slab> slabs;
  std::shared_ptr<Memory> latest; ///< the last slab's
};

} // namespace torchere::cpu
