// Products of bytes: a pair's are summed, and added, by one instruction of VNNI.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {

void addExtension(IsaKernels &table) {
  addNarrowTiles<I8Pair>(table, kInt8);
  addNarrowTiles<U8Pair>(table, kUInt8);
}

} // namespace torchere::cpu::TORCHERE_ISA
