// Pixels in tiles of nearly one size, which are computed in runs of equal ones.
#pragma once

#include <cstdint>

namespace torchere::cpu {

/// `length` rows, at least one, in tiles that differ by a row at most; or none.
struct EvenTiles {
  EvenTiles() = default;
  EvenTiles(int64_t length, int64_t tiles) : tiles(tiles), shortest(length) {
    if (tiles > 1) { // a division takes as long as many multiply-adds
      shortest = length / tiles;
      longer = length % tiles;
    }
  }
  int64_t tiles = 0;
  int64_t shortest = 0; ///< rows of a tile
  int64_t longer = 0;   ///< tiles that have a row more

  /// run(first row, rows of a tile, tiles): runs of tiles of one size, of which there are two at most. Longer
  /// ones come first.
  template <class Run> void eachRun(Run run) const {
    if (longer > 0)
      run(int64_t(0), shortest + 1, longer);
    if (longer < tiles)
      run(longer * (shortest + 1), shortest, tiles - longer);
  }
};

/// The tiles of a plane: along its rows for the first `columns` of them, down each of the columns behind.
struct PlaneTiles {
  int64_t columns = 0;
  EvenTiles ofRow, ofColumn; ///< of each

  int64_t count(int64_t rows, int64_t width) const {
    return rows * ofRow.tiles + (width - columns) * ofColumn.tiles;
  }
};

/// Of tiles of at most `most` pixels. Where the last ones of a row would have less than `enough`, which is
/// what hides the latency of their sums, columns are taken if that gives more whole tiles and no smaller
/// ones.
inline PlaneTiles planeTiles(int64_t rows, int64_t width, int64_t most, int64_t enough) {
  auto inTiles = [&](int64_t length) { return EvenTiles(length, (length + most - 1) / most); };
  auto inWhole = [&](const EvenTiles &tiles, int64_t length) {
    return tiles.shortest == most ? length : tiles.shortest + 1 == most ? tiles.longer * most : 0;
  };
  const EvenTiles along = inTiles(width), down = inTiles(rows);
  int64_t columns = width / most * most;
  if (columns == width || along.shortest >= enough || down.shortest < along.shortest ||
      columns * rows + (width - columns) * inWhole(down, rows) <= inWhole(along, width) * rows)
    return {width, along, {}};
  return {columns, inTiles(columns), down};
}

} // namespace torchere::cpu
