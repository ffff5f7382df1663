// Rows in tiles of nearly one size, which are computed in runs of equal ones.
#pragma once

#include <cstdint>

namespace torchere::cpu {

/// run(first row, rows of a tile, tiles): `length` rows in as many tiles, of two sizes at most, which differ
/// by a row. Longer ones come first.
template <class Run> void eachTileRun(int64_t length, int64_t tiles, Run run) {
  if (tiles == 1)
    return run(int64_t(0), length, int64_t(1));
  int64_t shortest = length / tiles, longer = length - shortest * tiles;
  if (longer > 0)
    run(int64_t(0), shortest + 1, longer);
  if (longer < tiles)
    run(longer * (shortest + 1), shortest, tiles - longer);
}

} // namespace torchere::cpu
