// What all parts of a matrix product share: its tiles, and how it is cut.
#pragma once

#include "cpu/kernels/gemm.h"
#include "cpu/kernels/isa_dispatch.h"

namespace torchere::cpu {

/// The slots of scratch memory that a product uses.
enum GemmScratch : int { kPackedRows, kStage, kSharedRows, kPackedColumns, kConvertedPanel };

inline const char *at(const void *p, int64_t elements, int64_t size) {
  return static_cast<const char *>(p) + elements * size;
}
inline char *at(void *p, int64_t elements, int64_t size) {
  return static_cast<char *>(p) + elements * size;
}

/// The stride, in elements, of packed rows of `depth` elements: no multiple of 4 KiB.
int64_t packedRowStride(int64_t depth, int64_t size);

struct Product {
  const GemmArgs &args;
  const IsaKernels &kernels;
  FloatType type; ///< of B, as tiles take it
  FloatType aType;
  TileFunction matrixTile = nullptr; ///< if the tiles are a matrix unit's
  /// Makes of a panel's chunk what tiles take.
  void (*convertPanel)(const void *panel, int64_t steps, int64_t columns, void *to) = nullptr;
  int64_t aSize;   ///< bytes of an element of A
  int64_t bSize;   ///< of B
  int64_t cSize;   ///< of C
  int64_t sumSize; ///< of the type that is computed in
  int64_t panelColumns, panels;
  int64_t stepRows;       ///< rows of B in a step of a packed panel
  int64_t elementRows;    ///< of B, that an element of A is multiplied by, as tiles take it
  int64_t steps;          ///< of K
  int64_t vectorElements; ///< of the type that is computed in
  bool packRows;          ///< A is converted or made contiguous first
  bool stageAll;          ///< C is not of the type that is computed in, or tiles do not finish it
  int64_t chunks;         ///< of K
  int64_t rowParts;
  int64_t columnParts;
  const void *sharedRows = nullptr; ///< all of A, packed, with the batches one behind the other
  int64_t sharedRowStride = 0;

  explicit Product(const GemmArgs &product, const IsaKernels &table);
  /// Whether tiles compute the activation in registers.
  bool isFused() const {
    Activation activation = args.epilogue.activation;
    return type == kF32 ? isTileActivation(activation) : activation <= Activation::Relu;
  }
  const char *rowsAt(int64_t batch, int64_t row, int64_t column) const {
    return at(args.a, batch * args.aBatchStride + row * args.aRowStride + column * args.aColumnStride, aSize);
  }
  void packRowsOf(const char *from, int64_t rows, int64_t depth, void *to, int64_t stride) const {
    kernels.widen[aType]({from, args.aRowStride, args.aColumnStride, rows, depth, to, stride});
  }
  TileFunction tileOf(int64_t rows) const {
    return matrixTile ? matrixTile : kernels.tiles[convertPanel ? kF32 : type][args.layout.vectors][rows];
  }
  /// Of a row of A.
  int64_t elementsOf(int64_t steps) const { return divideUp(steps * stepRows, elementRows); }
  int64_t tileRows() const { return matrixTile ? kMatrixRows : kernels.maxRows[args.layout.vectors]; }
  void shareRows(ThreadPool &pool);

private:
  void chooseTiles();
  bool takesRowsInPlace() const;
  void cut();
};

} // namespace torchere::cpu
