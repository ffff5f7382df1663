// Products of BF16 by rows of BF16: a pair's are summed, and added, by one instruction.
#include "cpu/kernels/isa/tile.h"

namespace torchere::cpu::TORCHERE_ISA {

void addExtension(IsaKernels &table) {
  addNarrowTiles<BF16Dots>(table, kBF16Dots);
}

} // namespace torchere::cpu::TORCHERE_ISA
