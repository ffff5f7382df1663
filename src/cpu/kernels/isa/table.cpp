// The table of this instruction set.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

const IsaKernels &isaKernels() {
  static const IsaKernels table = [] {
    IsaKernels made;
    made.lanes = kLanes;
    addGemm(made);
    addRows(made);
    addWinograd(made);
    addAttention(made);
    addBlocked(made);
    addReductions(made);
    addTransposes(made);
    addFft(made);
    addRankUpdate(made);
    addWindows(made);
    addContentsSums(made);
    return made;
  }();
  return table;
}

} // namespace torchere::cpu::TORCHERE_ISA
