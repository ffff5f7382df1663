// The table of this instruction set.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

/// What the processor has beyond the instruction set.
static void addExtensions([[maybe_unused]] IsaKernels &table) {
#if defined(TORCHERE_WIDE_VECTORS)
  if (hasExtension(IsaExtension::Avx512Vnni))
    avx512vnni::addExtension(table);
  if (hasExtension(IsaExtension::Avx512Bf16))
    avx512bf16::addExtension(table);
  if (hasExtension(IsaExtension::Amx))
    amx::addExtension(table);
#endif
}

const IsaKernels &isaKernels() {
  static const IsaKernels table = [] {
    IsaKernels made;
    made.lanes = kLanes;
    addGemm(made);
    addNarrowGemm(made);
    addRows(made);
    addWinograd(made);
    addAttention(made);
    addMatrixVector(made);
    addBlocked(made);
    addReductions(made);
    addBisections(made);
    addScatteredRows(made);
    addExtrema(made);
    addTapSums(made);
    addTransposes(made);
    addFft(made);
    addChirps(made);
    addRankUpdate(made);
    addComplexProducts(made);
    addRotations(made);
    addSmallSystems(made);
    addWindows(made);
    addWindowExtrema(made);
    addContentsSums(made);
    addInterpolation(made);
    addLstmCells(made);
    addExtensions(made);
    return made;
  }();
  return table;
}

} // namespace torchere::cpu::TORCHERE_ISA
