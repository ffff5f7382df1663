// The table of this instruction set.
#include "cpu/kernels/isa/parts.h"
#include "cpu/kernels/isa/simd.h"

namespace torchere::cpu::TORCHERE_ISA {

#if defined(TORCHERE_WIDE_VECTORS)
static bool hasVnni() {
#if defined(TORCHERE_EMULATED_AVX512)
  return true;
#else
  return __builtin_cpu_supports("avx512vnni");
#endif
}
#endif

const IsaKernels &isaKernels() {
  static const IsaKernels table = [] {
    IsaKernels made;
    made.lanes = kLanes;
    addGemm(made);
    addNarrowGemm(made);
#if defined(TORCHERE_WIDE_VECTORS)
    if (hasVnni())
      avx512vnni::addNarrowGemm(made);
#endif
    addRows(made);
    addWinograd(made);
    addAttention(made);
    addBlocked(made);
    addReductions(made);
    addExtrema(made);
    addTransposes(made);
    addFft(made);
    addRankUpdate(made);
    addWindows(made);
    addContentsSums(made);
    addInterpolation(made);
    return made;
  }();
  return table;
}

} // namespace torchere::cpu::TORCHERE_ISA
