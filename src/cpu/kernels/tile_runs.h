// Pixels in tiles of nearly one size, which are computed in runs of equal ones.
#pragma once

#include <cstdint>

namespace torchere::cpu {

/// `length` rows, at least one, in tiles that differ by a row at most.
struct EvenTiles {
  EvenTiles(int64_t length, int64_t tiles) : shortest(length / tiles), longer(length % tiles) {}
  int64_t shortest; ///< rows of a tile
  int64_t longer;   ///< tiles that have a row more
};

/// run(first row, rows of a tile, tiles): `length` rows in as many tiles, of two sizes at most, which differ
/// by a row. Longer ones come first.
template <class Run> void eachTileRun(int64_t length, int64_t tiles, Run run) {
  if (tiles == 1)
    return run(int64_t(0), length, int64_t(1));
  auto [shortest, longer] = EvenTiles(length, tiles);
  if (longer > 0)
    run(int64_t(0), shortest + 1, longer);
  if (longer < tiles)
    run(longer * (shortest + 1), shortest, tiles - longer);
}

/// The tiles of a plane: along its rows for the first `columns` of them, down each of the columns behind.
struct PlaneTiles {
  int64_t columns = 0;
  int64_t ofRow = 0, ofColumn = 0; ///< tiles of each
};

/// Of tiles of at most `most` pixels. Where the last ones of a row would have less than `enough`, which is
/// what hides the latency of their sums, columns are taken if that gives more whole tiles and no smaller
/// ones.
inline PlaneTiles planeTiles(int64_t rows, int64_t width, int64_t most, int64_t enough) {
  auto tilesOf = [&](int64_t length) { return (length + most - 1) / most; };
  auto inWhole = [&](const EvenTiles &tiles, int64_t length) {
    return tiles.shortest == most ? length : tiles.shortest + 1 == most ? tiles.longer * most : 0;
  };
  const EvenTiles along(width, tilesOf(width)), down(rows, tilesOf(rows));
  int64_t columns = width / most * most;
  if (columns == width || along.shortest >= enough || down.shortest < along.shortest ||
      columns * rows + (width - columns) * inWhole(down, rows) <= inWhole(along, width) * rows)
    return {width, tilesOf(width), 0};
  return {columns, columns / most, tilesOf(rows)};
}

} // namespace torchere::cpu
